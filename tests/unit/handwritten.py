"""A module whose forward is one function of queries, keys and values."""

from collections.abc import Callable

import torch

from tests.unit.tiny import VOCABULARY, token_ids

HEADS, LENGTH, WIDTH = 4, 7, 8
SCALE = WIDTH**-0.5

# (queries, keys, values), each [1, heads, tokens, d] -> (output, weights [1, heads, Tq, Tk]).
Attention = Callable[
    [torch.Tensor, torch.Tensor, torch.Tensor], tuple[torch.Tensor, torch.Tensor | None]
]


class Handwritten(torch.nn.Module):
    """A model of embeddings and an attention function; `weights` are those that it used."""

    def __init__(self, attention: Attention) -> None:
        super().__init__()
        self.attention = attention
        self.num_heads = HEADS
        torch.manual_seed(0)
        self.embeddings = torch.nn.Embedding(VOCABULARY, 3 * HEADS * WIDTH)
        self.weights: torch.Tensor | None = None

    def vectors(self, input_ids: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Queries, keys and values."""
        split = self.embeddings(input_ids).unflatten(-1, (3, HEADS, WIDTH))
        return split.permute(2, 0, 3, 1, 4).unbind()

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        output, self.weights = self.attention(*self.vectors(input_ids))
        return output


TEXT = {"input_ids": token_ids(LENGTH)}
CAUSAL = torch.ones(LENGTH, LENGTH, dtype=torch.bool).tril()
HIDDEN = torch.zeros(LENGTH, LENGTH).masked_fill(~CAUSAL, float("-inf"))
BIAS = torch.randn(HEADS, LENGTH, LENGTH, generator=torch.Generator().manual_seed(0))
