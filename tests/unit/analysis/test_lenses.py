"""Lenses against plain loops, the papers' figures and the model's own output projections."""

import networkx as nx
import numpy as np
import pytest
import torch

from attnwidget import AttentionRecord, capture
from attnwidget.analysis import (
    LENSES,
    flow,
    head_outputs,
    mixing_ratio,
    rollout,
    row_shares,
    value_norms,
    value_weighted,
    value_weighted_layer,
)
from attnwidget.record import Layer
from benchmarks.values import compare
from tests.unit.tiny import Loaded, llama, token_ids

SENTENCE = "The quick brown fox jumped over the lazy dog because it was tired."

# `python -m benchmarks.values` compares all that can be built; here is one of each kind.
EXACT = {
    "bert": "a bias, and a norm behind the residual",
    "gptj": "a softmax that is written out",
    "qwen3": "grouped values, and a norm of queries and keys",
    "falcon": "one key head for all heads, through torch's own function",
    "deepseek_v3": "latent attention",
    "gemma2": "a norm behind the projection",
    "gpt_oss": "sinks",
    "swin": "windows",
    "t5": "cross-attention",
    "bloom": "products in a folded layout",
}
REFUSED = {
    "kosmos-2": "a gate or a norm",
    "qwen3_next": "a gate or a norm",
}


@pytest.fixture(scope="module")
def record(minilm: Loaded) -> AttentionRecord:
    return capture(*minilm, SENTENCE, values=True)


@pytest.mark.parametrize("name", EXACT)
def test_values_equal_the_models_own_projection_of_one_head_at_a_time(name: str) -> None:
    found = compare(name)
    assert found
    assert [each for each in found if not each.exact] == []


@pytest.mark.parametrize(("name", "why"), REFUSED.items())
def test_layers_without_known_values_say_why(name: str, why: str) -> None:
    refusals = [each.refusal for each in compare(name) if each.refusal]
    assert refusals
    assert all(why in refusal or "no softmax" in refusal for refusal in refusals)
    assert any(why in refusal for refusal in refusals)


def test_special_tokens_carry_little(record: AttentionRecord) -> None:
    """Figure 2 of Kobayashi et al. 2020, here for MiniLM."""
    stack = record.stack()
    special = list(stack.keys.special)

    def mean_share(layer: Layer, weighted: bool) -> float:
        heads = range(layer.num_heads)
        read = value_weighted if weighted else Layer.head_weights
        return float(np.mean([row_shares(read(layer, h))[:, special].sum(axis=1) for h in heads]))

    attention = [mean_share(layer, weighted=False) for layer in stack.layers]
    weighted = [mean_share(layer, weighted=True) for layer in stack.layers]
    assert np.round(attention, 2).tolist() == [0.30, 0.59, 0.62, 0.55, 0.68, 0.37]
    assert np.round(weighted, 2).tolist() == [0.13, 0.17, 0.17, 0.14, 0.16, 0.07]


def test_every_lens_has_the_numbers_of_a_head_or_says_why_not(record: AttentionRecord) -> None:
    layer, stack = record.layer(2), record.stack()
    expected = {
        "attention": layer.head_weights(5),
        "scores": layer.head_scores(5),
        "values": row_shares(value_weighted(layer, 5)),
        "rollout": rollout(stack)[2],
    }
    known = {lens.name: lens for lens in LENSES}
    for name, numbers in expected.items():
        lens = known[name]
        assert lens.why_not(record, "self", 2) is None
        np.testing.assert_array_equal(lens.matrix(record, "self", 2, 5), numbers)
    bare = AttentionRecord.from_arrays(np.full((1, 2, 3, 3), 1 / 3), list("abc"))
    reasons = {lens.name: lens.why_not(bare, "self", 0) for lens in LENSES}
    assert {name: (why := reasons[name]) and why.brief for name in expected} == {
        "attention": None,
        "scores": "weights alone",
        "values": "needs capture(values=True)",
        "rollout": None,
    }


def _parts(layer: Layer) -> np.ndarray:
    """w_h[i, j] f_h(x_j): [heads, Tq, Tk, d_model]."""
    assert layer.values is not None
    assert layer.projection is not None
    shared = layer.num_heads // len(layer.values)
    return np.stack(
        [
            layer.head_weights(h)[:, :, None] * (layer.values[h // shared] @ layer.projection[h])
            for h in range(layer.num_heads)
        ]
    ).astype(np.float64)


def test_norms_are_those_of_the_vectors_that_are_added_up() -> None:
    layer = capture(llama(), None, {"input_ids": token_ids(9)}, values=True).layer(1)
    parts = _parts(layer)
    norms = np.linalg.norm(parts, axis=3)
    for head in range(layer.num_heads):
        np.testing.assert_allclose(value_weighted(layer, head), norms[head], rtol=1e-5, atol=1e-7)
    together = np.linalg.norm(parts.sum(axis=0), axis=2)
    np.testing.assert_allclose(value_weighted_layer(layer), together, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(head_outputs(layer), parts.sum(axis=2), rtol=0, atol=1e-6)
    assert value_norms(layer).shape == (layer.num_heads, 9)


def test_mixing_ratio_splits_what_the_block_computes(
    record: AttentionRecord, minilm: Loaded
) -> None:
    model, tokenizer = minilm
    with torch.no_grad():
        hidden = model(**tokenizer(SENTENCE, return_tensors="pt"), output_hidden_states=True)
    residual = hidden.hidden_states[2][0].numpy()
    norm = model.encoder.layer[2].attention.output.LayerNorm
    layer, gain = record.layer(2), norm.weight.detach().numpy()
    parts = _parts(layer).sum(axis=0)

    def expected(residual: np.ndarray, gain: np.ndarray | None) -> np.ndarray:
        ratios = []
        for i in range(len(parts)):
            own = parts[i, i] + residual[i]
            context = sum(parts[i, j] for j in range(len(parts)) if j != i)
            if gain is not None:
                own, context = (gain * (part - part.mean()) for part in (own, context))
            mixed, kept = np.linalg.norm(context), np.linalg.norm(own)
            ratios.append(mixed / (mixed + kept))
        return np.array(ratios)

    np.testing.assert_allclose(mixing_ratio(layer), expected(0 * residual, None), atol=1e-6)
    np.testing.assert_allclose(mixing_ratio(layer, residual), expected(residual, None), atol=1e-6)
    with_norm = mixing_ratio(layer, residual, gain)
    np.testing.assert_allclose(with_norm, expected(residual, gain), atol=1e-6)
    # The paper finds that BERT mixes little: what a token keeps outweighs what it takes.
    assert with_norm.mean() < 0.5 < mixing_ratio(layer).mean()


def _random_record(layers: int, tokens: int) -> AttentionRecord:
    weights = np.random.default_rng(0).random((layers, 3, tokens, tokens), np.float32)
    weights = np.tril(weights)
    weights /= weights.sum(axis=-1, keepdims=True)
    return AttentionRecord.from_arrays(weights, [f"t{n}" for n in range(tokens)])


def test_rollout_multiplies_the_layers(record: AttentionRecord) -> None:
    stack = record.stack()
    rolled = rollout(stack)
    before = np.eye(len(stack.keys))
    for layer, found in zip(stack.layers, rolled, strict=True):
        mean = np.mean([layer.head_weights(h) for h in range(layer.num_heads)], axis=0)
        before = (0.5 * mean + 0.5 * np.eye(len(mean))) @ before
        np.testing.assert_allclose(found, before, atol=1e-6)
    np.testing.assert_allclose(rolled.sum(axis=2), 1, atol=1e-5)


def test_flow_is_the_largest_in_the_graph_of_tokens() -> None:
    stack = _random_record(layers=3, tokens=5).stack()
    graph = nx.DiGraph()
    for layer in stack.layers:
        mean = np.mean([layer.head_weights(h) for h in range(layer.num_heads)], axis=0)
        edges = 0.5 * mean + 0.5 * np.eye(len(mean))
        for i, j in np.argwhere(edges > 0).tolist():
            after, ahead = (layer.number + 1, i), (layer.number, j)
            graph.add_edge(after, ahead, capacity=float(edges[i, j]))
    expected = np.array(
        [
            [nx.maximum_flow_value(graph, (3, i), (0, j)) if j <= i else 0 for j in range(5)]
            for i in range(5)
        ]
    )
    np.testing.assert_allclose(flow(stack), expected, atol=1e-6)
    np.testing.assert_allclose(flow(stack, queries=[3]), expected[[3]], atol=1e-6)
    np.testing.assert_allclose(flow(stack, layer=0), rollout(stack)[0], atol=1e-6)


def test_rows_that_give_less_than_one_are_scaled() -> None:
    weights = np.full((1, 1, 2, 2), 0.25, np.float32)
    with pytest.warns(UserWarning, match="do not sum to 1"):
        stack = AttentionRecord.from_arrays(weights, ["a", "b"]).stack()
    np.testing.assert_allclose(rollout(stack)[0], [[5 / 6, 1 / 6], [1 / 6, 5 / 6]], atol=1e-6)


def test_errors_say_what_to_do() -> None:
    model, text = llama(), {"input_ids": token_ids(5)}
    plain = capture(model, None, text)
    for read in (value_norms, value_weighted_layer, head_outputs, mixing_ratio):
        with pytest.raises(ValueError, match=r"layer 0 has no values.*capture\(…, values=True\)"):
            read(plain.layer(0))
    layer = capture(model, None, text, values=True).layer(0)
    with pytest.raises(ValueError, match=r"residual has the shape \[2\]; expected \[5, "):
        mixing_ratio(layer, [1, 2])
    with pytest.raises(ValueError, match="give both"):
        mixing_ratio(layer, gain=np.ones(32))
    with pytest.raises(ValueError, match="layer 1 alone: rollout needs"):
        rollout(capture(model, None, text, layers=[1]).stack())
    with pytest.raises(IndexError, match="query 5 does not exist: there are 0 to 4"):
        flow(plain.stack(), queries=[5])
