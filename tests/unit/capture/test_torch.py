"""Torch's own attention, whichever way it is asked for."""

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from attnwidget import capture
from tests.unit.handwritten import (
    BIAS,
    CAUSAL,
    HEADS,
    HIDDEN,
    LENGTH,
    TEXT,
    Attention,
    Handwritten,
)
from tests.unit.tiny import VOCABULARY, assert_attention, token_ids

MASKS = {"none": None, "bool": ~CAUSAL, "float": HIDDEN}


class OneBlock(torch.nn.Module):
    """Embeddings and one nn.MultiheadAttention; `weights` are those that it returns."""

    def __init__(self, *, batch_first: bool, need_weights: bool, mask: str) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.embeddings = torch.nn.Embedding(VOCABULARY, 32)
        self.attention = torch.nn.MultiheadAttention(32, HEADS, batch_first=batch_first)
        self.need_weights, self.mask, self.weights = need_weights, MASKS[mask], None

    def forward(self, input_ids: torch.Tensor, attention_mask: Any = None) -> torch.Tensor:
        x = 3 * self.embeddings(input_ids)
        x = x if self.attention.batch_first else x.transpose(0, 1)
        output, self.weights = self.attention(
            x, x, x, attn_mask=self.mask, average_attn_weights=False,
            key_padding_mask=None if attention_mask is None else self._padding(attention_mask),
            need_weights=self.need_weights,
        )  # fmt: skip
        return output

    def _padding(self, attention_mask: torch.Tensor) -> torch.Tensor:
        hidden = attention_mask == 0
        if self.mask is not None and self.mask.is_floating_point():
            return torch.zeros(hidden.shape).masked_fill(hidden, float("-inf"))
        return hidden


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("batch_first", [True, False])
def test_multi_head_attention(
    batch_first: bool, need_weights: bool, mask: str, padded: bool
) -> None:
    inputs = {"input_ids": torch.cat([token_ids(LENGTH, seed=n) for n in range(3)])}
    kept = slice(0, LENGTH)
    if padded:
        inputs["attention_mask"] = torch.ones(3, LENGTH, dtype=torch.long)
        inputs["attention_mask"][1, 5:] = 0
        kept = slice(0, 5)
    model = OneBlock(batch_first=batch_first, need_weights=need_weights, mask=mask).eval()
    record = capture(model, None, inputs, batch_index=1)
    told = OneBlock(batch_first=batch_first, need_weights=True, mask=mask).eval()
    told(**inputs)
    assert told.weights is not None
    assert_attention(record, [told.weights[1, :, kept, kept].detach().numpy()])
    [fidelity] = record.fidelity["self"]
    assert fidelity.module == "attention"
    assert fidelity.kept == "queries and keys"
    program = record.layer(0).program
    assert program is not None
    assert program.mask == ("none" if mask == "none" else "causal")


def _encoder(**options: Any) -> torch.nn.Module:
    layer = torch.nn.TransformerEncoderLayer(32, HEADS, 48, batch_first=True, **options)
    return torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)


class Encoder(torch.nn.Module):
    def __init__(self, **options: Any) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.embeddings = torch.nn.Embedding(VOCABULARY, 32)
        self.encoder = _encoder(**options)

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        return self.encoder(3 * self.embeddings(input_ids))


def _by_hand(attention: torch.nn.MultiheadAttention, x: torch.Tensor, y: torch.Tensor) -> Any:
    """softmax(q.k/sqrt(d)) of the module's own projections."""
    weight, bias = attention.in_proj_weight, attention.in_proj_bias
    q, k = x @ weight[:32].T + bias[:32], y @ weight[32:64].T + bias[32:64]
    q, k = (t.unflatten(-1, (HEADS, 8)).transpose(1, 2) for t in (q, k))
    return (q @ k.mT * 8**-0.5)[0]


@pytest.mark.parametrize("options", [{}, {"norm_first": True}], ids=str)
def test_layers_of_a_transformer_encoder(options: dict[str, Any]) -> None:
    model = Encoder(**options).eval()
    record = capture(model, None, TEXT)
    hidden = 3 * model.embeddings(TEXT["input_ids"])
    reference = []
    for layer in model.encoder.layers:
        seen = layer.norm1(hidden) if options else hidden
        reference.append(_by_hand(layer.self_attn, seen, seen).softmax(-1).detach().numpy())
        hidden = layer(hidden)
    assert_attention(record, reference)
    modules = [fidelity.module for fidelity in record.fidelity["self"]]
    assert modules == [f"encoder.layers.{n}.self_attn" for n in range(2)]


class Both(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.embeddings = torch.nn.Embedding(VOCABULARY, 32)
        self.both = torch.nn.Transformer(32, HEADS, 1, 2, 48, batch_first=True)

    def forward(self, input_ids: torch.Tensor, decoder_input_ids: torch.Tensor) -> torch.Tensor:
        length = decoder_input_ids.shape[1]
        mask = self.both.generate_square_subsequent_mask(length)
        source, target = (3 * self.embeddings(ids) for ids in (input_ids, decoder_input_ids))
        return self.both(source, target, tgt_mask=mask, tgt_is_causal=True)


@pytest.mark.parametrize("target", [5, LENGTH])
def test_a_transformer_has_three_stacks(target: int) -> None:
    """Also where source and target are equally long."""
    model = Both().eval()
    ids = {**TEXT, "decoder_input_ids": token_ids(target, seed=1)}
    record = capture(model, None, ids)
    assert record.stacks == ("encoder", "decoder", "cross")
    assert [record.num_layers(stack) for stack in record.stacks] == [1, 2, 2]
    memory = model.both.encoder(3 * model.embeddings(ids["input_ids"]))
    hidden = 3 * model.embeddings(ids["decoder_input_ids"])
    first = model.both.decoder.layers[0]
    own = _by_hand(first.self_attn, hidden, hidden) + HIDDEN[:target, :target]
    hidden = first.norm1(hidden + first._sa_block(hidden, HIDDEN[:target, :target], None))
    cross = _by_hand(first.multihead_attn, hidden, memory)
    for stack, scores in (("decoder", own), ("cross", cross)):
        for head, weights in enumerate(scores.softmax(-1).detach().numpy()):
            np.testing.assert_allclose(record.weights(0, head, stack), weights, rtol=0, atol=1e-5)


def _sdpa(**options: Any) -> Attention:
    def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, None]:
        return F.scaled_dot_product_attention(q, k, v, **options), None

    return attention


def _grouped(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, None]:
    k, v = k[:, :2], v[:, :2]
    return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True), None


def _three_dimensions(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor
) -> tuple[torch.Tensor, None]:
    return F.scaled_dot_product_attention(q[0], k[0], v[0], CAUSAL), None


@pytest.mark.parametrize(
    ("attention", "scale", "added", "key_heads"),
    [
        (_sdpa(), 8**-0.5, 0, 4),
        (_sdpa(scale=0.5), 0.5, 0, 4),
        (_sdpa(is_causal=True), 8**-0.5, HIDDEN, 4),
        (_sdpa(attn_mask=CAUSAL), 8**-0.5, HIDDEN, 4),
        (_sdpa(attn_mask=CAUSAL[None]), 8**-0.5, HIDDEN, 4),
        (_sdpa(attn_mask=BIAS), 8**-0.5, BIAS, 4),
        (_sdpa(attn_mask=BIAS[None] + HIDDEN), 8**-0.5, BIAS + HIDDEN, 4),
        (_grouped, 8**-0.5, HIDDEN, 2),
        (_three_dimensions, 8**-0.5, HIDDEN, 4),
    ],
)
def test_scaled_dot_product_attention(
    attention: Attention, scale: float, added: Any, key_heads: int
) -> None:
    model = Handwritten(attention)
    record = capture(model, None, TEXT)
    query, key, _ = model.vectors(TEXT["input_ids"])
    key = key[:, :key_heads].repeat_interleave(HEADS // key_heads, dim=1)
    scores = (query @ key.mT * scale + added)[0].detach()
    assert_attention(record, [scores.softmax(-1).numpy()])
    [fidelity] = record.fidelity["self"]
    assert fidelity.route == "scaled_dot_product_attention"
    assert fidelity.output_error is not None
    assert record.num_kv_heads(0) == key_heads
    for head in range(HEADS):
        np.testing.assert_allclose(record.scores(0, head), scores[head], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("shared", ["queries", "keys"])
@pytest.mark.parametrize("item", [0, 1])
def test_queries_or_keys_that_all_items_share(shared: str, item: int) -> None:
    """Latents, or a memory, of which there is one for the whole batch."""

    class Shared(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.embeddings = torch.nn.Embedding(VOCABULARY, 32)
            self.own = torch.nn.Parameter(torch.randn(1, HEADS, 5, 8))

        def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
            x = self.embeddings(input_ids).unflatten(-1, (HEADS, 8)).transpose(1, 2)
            q, k = (self.own, x) if shared == "queries" else (x, self.own)
            self.weights = (q @ k.mT).softmax(-1)
            return F.scaled_dot_product_attention(q, k, k, scale=1.0)

    model = Shared().eval()
    inputs = {"input_ids": torch.cat([token_ids(6, seed=n) for n in range(2)])}
    record = capture(model, None, inputs, batch_index=item)
    own = model.weights[item].detach().numpy()
    stack = record.stack("cross")
    for head in range(HEADS):
        np.testing.assert_allclose(stack.layers[0].head_weights(head), own[head], atol=1e-6)
