"""A transformer of two layers whose heads are planted by hand."""

from types import SimpleNamespace

import torch

from tests.unit.tiny import VOCABULARY

# One more than texts may have tokens.
LENGTH = 96
SHARP = 1000.0


class Attention(torch.nn.Module):
    """Causal heads with the queries and keys that they are called with."""

    num_heads = 2

    def forward(self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.scaled_dot_product_attention(
            query, key, value, is_causal=True, scale=SHARP
        )


class Planted(torch.nn.Module):
    """0-0 attends to the token before, 0-1 to the first, 1-1 to the token itself.

    1-0 is an induction head: its keys are the tokens that 0-0 has moved one place on, so that a
    query finds the places behind its earlier copies.
    """

    def __init__(self) -> None:
        super().__init__()
        # No token but the first one is that of the beginning.
        self.config = SimpleNamespace(bos_token_id=1)
        self.embeddings = torch.nn.Embedding(VOCABULARY, VOCABULARY)
        self.embeddings.weight.data = torch.eye(VOCABULARY)
        self.layers = torch.nn.ModuleList([Attention(), Attention()])

    def get_input_embeddings(self) -> torch.nn.Module:
        return self.embeddings

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        texts, count = input_ids.shape
        token = self.embeddings(input_ids)
        position = torch.eye(LENGTH)[:count].expand(texts, -1, -1)
        following = torch.eye(LENGTH)[1 : count + 1].expand(texts, -1, -1)
        beginning = torch.eye(LENGTH)[:1].expand_as(position)
        tokens = torch.stack([token, token], dim=1)
        moved = self.layers[0](
            torch.stack([position, beginning], dim=1),
            torch.stack([following, position], dim=1),
            tokens,
        )[:, 0]
        nothing, no_place = torch.zeros_like(token), torch.zeros_like(position)
        at_place = torch.cat([nothing, position], dim=-1)
        result: torch.Tensor = self.layers[1](
            torch.stack([torch.cat([token, no_place], dim=-1), at_place], dim=1),
            torch.stack([torch.cat([moved, no_place], dim=-1), at_place], dim=1),
            tokens,
        )
        return result
