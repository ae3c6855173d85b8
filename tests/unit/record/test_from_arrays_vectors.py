"""Queries and keys that are given beside the weights."""

import numpy as np
import pytest
import torch

from attnwidget import AttentionRecord, capture
from attnwidget.record import Floats, Layer
from tests.unit.records import DIM, HEADS, LENGTH, PROGRAMS, floats, labels, layer_of, some_weights
from tests.unit.tiny import gpt2, token_ids


@pytest.mark.parametrize("batch", [False, True])
def test_tokens_before_heads(batch: bool) -> None:
    layer = layer_of(PROGRAMS["causal"])
    weights = np.stack([layer.head_weights(head) for head in range(HEADS)])
    assert layer.queries is not None
    assert layer.keys is not None
    turned = [a.transpose(1, 0, 2) for a in (layer.queries, layer.keys)]
    queries, keys = ([a[None]] if batch else [a] for a in turned)
    found = AttentionRecord.from_arrays([weights], labels(), queries=queries, keys=keys).layer(0)
    assert found.program == PROGRAMS["causal"]
    assert np.array_equal(found.queries, layer.queries)
    assert np.array_equal(found.keys, layer.keys)


def test_as_many_heads_as_tokens() -> None:
    """The weights tell which axis is which."""
    queries, keys = floats(LENGTH, LENGTH, DIM), floats(LENGTH, LENGTH, DIM, seed=1)
    scores = queries @ keys.transpose(0, 2, 1) / np.sqrt(DIM)
    weights = torch.softmax(torch.from_numpy(scores), -1)
    for order in ((0, 1, 2), (1, 0, 2)):
        given = [queries.transpose(order)], [keys.transpose(order)]
        found = AttentionRecord.from_arrays(
            [weights], labels(), queries=given[0], keys=given[1]
        ).layer(0)
        assert found.fidelity.exact is True
        assert np.array_equal(found.queries, queries)


def test_half_precision_has_a_tolerance_of_its_own() -> None:
    layer = layer_of(PROGRAMS["no mask"])
    weights = np.stack([layer.head_weights(head) for head in range(HEADS)])
    halves = [torch.tensor(a).half() for a in (weights, layer.queries, layer.keys)]
    given = {"queries": [halves[1]], "keys": [halves[2]]}
    [fidelity] = AttentionRecord.from_arrays([halves[0]], labels(), **given).fidelity["self"]
    assert fidelity.exact is True
    assert fidelity.tolerance == 5e-3


def diffuse(scale: float = 64**-0.5) -> tuple[list[torch.Tensor], ...]:
    """Weights, queries and keys in bfloat16: 512 keys, of which each gets little."""
    queries, keys = (torch.from_numpy(floats(1, 512, 64, seed=n, scale=0.7)) for n in (1, 2))
    weights = (queries @ keys.transpose(1, 2) * scale).softmax(-1)
    assert weights.max() < 0.03
    return tuple([array.bfloat16()] for array in (weights, queries, keys))


def test_every_weight_is_small_where_there_are_many_keys() -> None:
    weights, queries, keys = diffuse()
    found = AttentionRecord.from_arrays(weights, labels(512), queries=queries, keys=keys).layer(0)
    assert (found.fidelity.kept, found.fidelity.exact) == ("queries and keys", True)
    others = [queries[0].roll(1, dims=1)]
    found = AttentionRecord.from_arrays(weights, labels(512), queries=others, keys=keys).layer(0)
    assert (found.fidelity.kept, found.fidelity.exact) == ("weights", False)
    assert np.array_equal(found.weights, weights[0].float().numpy())


def test_the_closest_order_is_taken_where_every_weight_is_small() -> None:
    queries, keys = (torch.from_numpy(floats(32, 32, 64, seed=n, scale=0.2)) for n in (1, 2))
    weights = [(queries @ keys.transpose(1, 2) / 8).softmax(-1).bfloat16()]
    turned = {"queries": [queries.transpose(0, 1)], "keys": [keys.transpose(0, 1)]}
    found = AttentionRecord.from_arrays(weights, labels(32), **turned).layer(0)
    assert np.array_equal(found.queries, queries.numpy())


def test_another_scale_is_found_where_every_weight_is_small() -> None:
    weights, queries, keys = diffuse(1.03 * 64**-0.5)
    found = AttentionRecord.from_arrays(weights, labels(512), queries=queries, keys=keys).layer(0)
    assert found.program is not None
    assert found.program.scale == pytest.approx(1.03 * 64**-0.5, rel=5e-3)
    stated = {"queries": queries, "keys": keys, "scale": 1.5 * 64**-0.5}
    found = AttentionRecord.from_arrays(weights, labels(512), **stated).layer(0)
    assert (found.program, found.fidelity.exact) == (None, False)


def test_vectors_may_come_one_by_one() -> None:
    layer = layer_of(PROGRAMS["no mask"])
    weights = np.stack([layer.head_weights(head) for head in range(HEADS)])
    given = {"queries": (q for q in [layer.queries]), "keys": iter([layer.keys])}
    assert AttentionRecord.from_arrays([weights], labels(), **given).layer(0).program is not None


def cache_of(layer: Layer, hidden: float) -> dict[str, Floats]:
    """Scores as in TransformerLens, with this number where a query sees no key."""
    scores = np.stack([layer.head_scores(head) for head in range(HEADS)])
    return {
        "blocks.0.attn.hook_pattern": np.stack([layer.head_weights(h) for h in range(HEADS)]),
        "blocks.0.attn.hook_attn_scores": np.where(np.isfinite(scores), scores, np.float32(hidden)),
        "blocks.0.attn.hook_q": layer.queries.transpose(1, 0, 2),
        "blocks.0.attn.hook_k": layer.keys.transpose(1, 0, 2),
    }


# In this program every row sees a key; a row without one has no weights only with -inf.
WINDOW = layer_of(PROGRAMS["window to the left"])


@pytest.mark.parametrize("hidden", [-np.inf, -3.4e38, -1e9, -65504, -1e4])
def test_masks_of_every_type(hidden: float) -> None:
    found = AttentionRecord.from_arrays(cache_of(WINDOW, hidden), labels()).layer(0)
    assert found.program is not None
    expected = [np.isfinite(WINDOW.head_scores(head)) for head in range(HEADS)]
    assert np.array_equal(found.program.visible, expected)


@pytest.mark.filterwarnings("error")
def test_a_row_of_scores_that_sees_nothing() -> None:
    layer = layer_of(PROGRAMS["an explicit mask per head"])
    found = AttentionRecord.from_arrays(cache_of(layer, -np.inf), labels()).layer(0)
    assert found.fidelity.exact is True
    assert found.program is not None
    assert not found.program.visible[:, 2].any()


def test_scores_of_another_shape() -> None:
    cache = cache_of(WINDOW, -np.inf)
    cache["blocks.0.attn.hook_attn_scores"] = floats(HEADS, LENGTH, LENGTH - 1)
    with pytest.raises(ValueError, match=r"scores of layer 0 have shape \[4, 7, 6\], its weights"):
        AttentionRecord.from_arrays(cache, labels())


def test_several_kinds_of_attention_whose_names_have_an_n() -> None:
    cache = {f"Net.0.{name}.hook_pattern": floats(1, 2, 2) for name in ("N", "other")}
    with pytest.raises(ValueError, match=r"re.match\('Net.\[0-9\]\+.N.', k\)"):
        AttentionRecord.from_arrays(cache, ["a", "b"])


def test_a_scale_without_vectors() -> None:
    with pytest.raises(ValueError, match="scale needs queries and keys"):
        AttentionRecord.from_arrays([some_weights()], labels(), scale=0.5)


def test_what_was_captured_comes_back() -> None:
    own = capture(gpt2(), None, {"input_ids": token_ids(6)})
    layers = own.stack().layers
    record = AttentionRecord.from_arrays(
        [[own.weights(n, h) for h in range(4)] for n in own.stack().numbers],
        labels(6),
        queries=[layer.queries for layer in layers],
        keys=[layer.keys for layer in layers],
    )
    assert [layer.program for layer in record.stack().layers] == [layer.program for layer in layers]
