"""Attention of modules that know nothing of transformers, in the ways people write it."""

from collections.abc import Callable
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
    SCALE,
    TEXT,
    WIDTH,
    Attention,
    Handwritten,
)
from tests.unit.tiny import assert_attention

T = torch.Tensor
Pair = tuple[T, T]


def _mixed(scores: T, v: T) -> Pair:
    weights = scores.softmax(dim=-1)
    return weights @ v, weights


def function_of_torch(q: T, k: T, v: T) -> Pair:
    weights = torch.softmax(torch.matmul(q, k.transpose(2, 3)) / SCALE**-1, dim=-1)
    return torch.matmul(weights, v), weights


def module_of_torch(q: T, k: T, v: T) -> Pair:
    weights = torch.nn.Softmax(dim=-1)(q @ k.mT * SCALE)
    return torch.nn.Dropout(0.5).eval()(weights) @ v, weights


def batches_of_matrices(q: T, k: T, v: T) -> Pair:
    a, b, c = (x.reshape(HEADS, LENGTH, WIDTH) for x in (q, k, v))
    weights = F.softmax(torch.bmm(a, b.transpose(1, 2)).mul(SCALE), dim=2)
    return torch.bmm(weights, c), weights[None]


def one_step_of_baddbmm(q: T, k: T, v: T) -> Pair:
    a, b = q.reshape(HEADS, LENGTH, WIDTH), k.reshape(HEADS, LENGTH, WIDTH)
    scores = torch.baddbmm(BIAS, a, b.mT, beta=1, alpha=SCALE)
    weights = scores.softmax(-1)
    return weights @ v[0], weights[None]


def einsum(q: T, k: T, v: T) -> Pair:
    weights = (torch.einsum("bhid,bhjd->bhij", q, k) * SCALE).softmax(-1)
    return torch.einsum("bhij,bhjd->bhid", weights, v), weights


def einsum_of_tokens_first(q: T, k: T, v: T) -> Pair:
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    weights = (torch.einsum("bihd, bjhd -> bhij", q, k) * SCALE).softmax(-1)
    return torch.einsum("bhij, bjhd -> bihd", weights, v), weights


def einsum_of_keys_first(q: T, k: T, v: T) -> Pair:
    weights = (torch.einsum("bhjd,bhid->bhij", [k, q]) * SCALE).softmax(-1)
    return torch.einsum("bhjd,bhij->bhid", v, weights), weights


def einsum_with_an_ellipsis(q: T, k: T, v: T) -> Pair:
    weights = (torch.einsum("...id,...jd->...ij", q, k) * SCALE).softmax(-1)
    return torch.einsum("...ij,...jd->...id", weights, v), weights


def product_of_keys_first(q: T, k: T, v: T) -> Pair:
    return _mixed((k @ q.mT).transpose(-1, -2) * SCALE + HIDDEN, v)


def masked_in_place(q: T, k: T, v: T) -> Pair:
    scores = q @ k.mT
    scores *= SCALE
    scores.masked_fill_(~CAUSAL, float("-inf"))
    return _mixed(scores, v)


def masked_by_an_index(q: T, k: T, v: T) -> Pair:
    scores = q @ k.mT * SCALE
    scores[..., ~CAUSAL] = -1e9
    return _mixed(scores, v)


def biased_in_place(q: T, k: T, v: T) -> Pair:
    scores = (q @ k.mT).div_(SCALE**-1)
    scores += BIAS
    return _mixed(scores, v)


def masked_by_where(q: T, k: T, v: T) -> Pair:
    return _mixed(torch.where(CAUSAL, q @ k.mT * SCALE, torch.tensor(-1e4)), v)


def softcapped(q: T, k: T, v: T) -> Pair:
    scores = torch.tanh(q @ k.mT * SCALE / 2) * 2
    return _mixed(scores.masked_fill(~CAUSAL, -1e9), v)


def multi_query(q: T, k: T, v: T) -> Pair:
    """One key head; queries of all heads below each other."""
    below = q.reshape(1, HEADS * LENGTH, WIDTH)
    scores = (below @ k[:, 0].transpose(1, 2)).view(1, HEADS, LENGTH, LENGTH) * SCALE
    weights = scores.softmax(-1)
    return weights.view(1, HEADS * LENGTH, LENGTH) @ v[:, 0], weights


def multi_query_of_tokens_first(q: T, k: T, v: T) -> Pair:
    below = q.transpose(1, 2).reshape(1, LENGTH * HEADS, WIDTH)
    scores = (below @ k[:, 0].mT).view(1, LENGTH, HEADS, LENGTH) * SCALE
    weights = scores.softmax(-1)
    return weights.view(1, LENGTH * HEADS, LENGTH) @ v[:, 0], weights.transpose(1, 2)


def a_scale_of_each_head(q: T, k: T, v: T) -> Pair:
    """Attention of cosines, as in Swin v2."""
    cosines = F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).mT
    return _mixed(cosines * torch.tensor([1.0, 5, 10, 20])[:, None, None] + BIAS, v)


def without_a_batch(q: T, k: T, v: T) -> Pair:
    weights = (q[0] @ k[0].mT * SCALE).softmax(-1)
    return weights @ v[0], weights[None]


def higher_precision_in_between(q: T, k: T, v: T) -> Pair:
    weights = F.softmax(q @ k.mT * SCALE, dim=-1, dtype=torch.float64).to(v.dtype)
    return weights @ v, weights


def the_largest_subtracted(q: T, k: T, v: T) -> Pair:
    scores = q @ k.mT * SCALE
    return _mixed(scores - scores.amax(-1, keepdim=True), v)


def changed_in_place_afterwards(q: T, k: T, v: T) -> Pair:
    scores = q @ k.mT * SCALE
    weights = scores.softmax(-1)
    own, output = weights.clone(), weights @ v
    weights.zero_()
    return output, own


ATTENTIONS: list[Attention] = [
    function_of_torch, module_of_torch, batches_of_matrices, one_step_of_baddbmm, einsum,
    einsum_of_tokens_first, einsum_of_keys_first, einsum_with_an_ellipsis, product_of_keys_first,
    masked_in_place, masked_by_an_index, biased_in_place, masked_by_where, softcapped, multi_query,
    multi_query_of_tokens_first, a_scale_of_each_head, without_a_batch,
    higher_precision_in_between, the_largest_subtracted, changed_in_place_afterwards,
]  # fmt: skip


@pytest.mark.parametrize("attention", ATTENTIONS, ids=lambda f: f.__name__)
def test_it_is_recorded_with_its_queries_and_keys(attention: Attention) -> None:
    model = Handwritten(attention)
    record = capture(model, None, TEXT)
    assert model.weights is not None
    assert_attention(record, [model.weights[0].detach().numpy()])
    [fidelity] = record.fidelity["self"]
    assert (fidelity.route, fidelity.kept) == ("softmax", "queries and keys")
    query, key, _ = (x[0].detach() for x in model.vectors(TEXT["input_ids"]))
    if attention is a_scale_of_each_head:
        query, key = F.normalize(query, dim=-1), F.normalize(key, dim=-1)
    if "multi_query" in attention.__name__:
        key = key[:1].expand(HEADS, -1, -1)
        assert record.num_kv_heads(0) == 1
    for head in range(HEADS):
        np.testing.assert_allclose(record.queries(0, head), query[head], rtol=0, atol=1e-6)
        np.testing.assert_allclose(record.keys(0, head), key[head], rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("attention", "scale", "softcap", "bias"),
    [
        (function_of_torch, SCALE, None, None),
        (one_step_of_baddbmm, SCALE, None, BIAS),
        (biased_in_place, SCALE, None, BIAS),
        (softcapped, SCALE, 2.0, None),
        (a_scale_of_each_head, (1.0, 5.0, 10.0, 20.0), None, BIAS),
        (the_largest_subtracted, SCALE, None, None),
    ],
)
def test_scale_softcap_and_bias_are_told_apart(
    attention: Attention, scale: Any, softcap: float | None, bias: torch.Tensor | None
) -> None:
    """A bias could stand for all of them."""
    program = capture(Handwritten(attention), None, TEXT).layer(0).program
    assert program is not None
    assert program.scale == pytest.approx(scale)
    assert program.softcap == softcap
    assert program.relative is None
    assert (program.bias is None) == (bias is None)
    if program.bias is not None and bias is not None:
        np.testing.assert_allclose(program.bias, bias, rtol=0, atol=1e-5)


def a_temperature_of_each_row(q: T, k: T, v: T) -> Pair:
    return _mixed(q @ k.mT * torch.linspace(0.1, 1, LENGTH)[:, None], v)


def changed_after_the_softmax(q: T, k: T, v: T) -> Pair:
    weights = (q @ k.mT * SCALE).softmax(-1) * torch.tensor([0.5, 1, 1, 1])[:, None, None]
    return weights @ v, weights


@pytest.mark.parametrize("attention", [a_temperature_of_each_row, changed_after_the_softmax])
def test_what_no_program_expresses_is_kept_as_weights(attention: Attention) -> None:
    model = Handwritten(attention)
    record = capture(model, None, TEXT)
    assert model.weights is not None
    assert_attention(record, [model.weights[0].detach().numpy()])
    assert record.fidelity["self"][0].kept == "weights"
    assert record.layer(0).program is None


def of_a_router(q: T, k: T, v: T) -> tuple[T, None]:
    """A softmax over three experts: no keys, and no weighted values."""
    gates = (q.mean(1) @ k.mean(1)[:, :3].mT).softmax(-1)
    return sum(gates[..., n : n + 1] * v.mean(1) for n in range(3)), None  # type: ignore[return-value]


def of_an_output(q: T, k: T, v: T) -> tuple[T, None]:
    return (q @ k.new_ones(WIDTH, 50)).softmax(-1), None


def over_queries(q: T, k: T, v: T) -> tuple[T, None]:
    return (q @ k.mT).softmax(-2) @ v, None


def transposed(q: T, k: T, v: T) -> tuple[T, None]:
    """Each key spreads its share; the rows of what weighs the values sum to nothing special."""
    return (q @ k.mT).softmax(-1).mT @ v, None


@pytest.mark.parametrize("attention", [of_a_router, of_an_output, over_queries, transposed])
def test_a_softmax_that_is_no_attention_is_not_recorded(
    attention: Callable[..., tuple[T, None]],
) -> None:
    """A product of two tensors may be attention of a kind that is not followed: it is named."""
    said = "Handwritten has no attention|no attention of Handwritten could be captured"
    with pytest.raises(ValueError, match=said):
        capture(Handwritten(attention), None, TEXT)


def test_keys_changed_in_place_are_not_taken_for_those_of_the_product() -> None:
    def attention(q: T, k: T, v: T) -> Pair:
        k = k.clone()
        weights = (q @ k.mT * SCALE).softmax(-1)
        k.zero_()
        return weights @ v, weights

    model = Handwritten(attention)
    record = capture(model, None, TEXT)
    assert model.weights is not None
    assert_attention(record, [model.weights[0].detach().numpy()])
    layer = record.layer(0)
    assert layer.keys is None or np.abs(layer.keys).max() > 0
