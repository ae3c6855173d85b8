"""Attention weights from anywhere become a record."""

from typing import Any

import numpy as np
import pytest
import torch

from attnwidget import AttentionRecord
from attnwidget.record import ScoreProgram
from attnwidget.wire import encode_overview
from tests.unit.records import (
    HEADS,
    KEY_HEADS,
    LENGTH,
    PROGRAMS,
    floats,
    labels,
    layer_of,
    record_of,
    some_weights,
)

WEIGHTS = [some_weights(HEADS), some_weights(HEADS - 1)]

FORMS: dict[str, Any] = {
    "numpy": WEIGHTS,
    "float64": [w.astype(float) for w in WEIGHTS],
    "lists": [w.tolist() for w in WEIGHTS],
    "tuple": tuple(WEIGHTS),
    "generator": None,
    "torch": [torch.from_numpy(w) for w in WEIGHTS],
    "torch with gradients": [torch.from_numpy(w).requires_grad_() for w in WEIGHTS],
    "a batch of one": [w[None] for w in WEIGHTS],
    "as transformers returns them": tuple(torch.from_numpy(w)[None] for w in WEIGHTS),
    "in another memory order": [np.asfortranarray(w) for w in WEIGHTS],
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_record(form: str) -> None:
    attentions = (w for w in WEIGHTS) if form == "generator" else FORMS[form]
    record = AttentionRecord.from_arrays(attentions, labels(), model="mine")
    assert record.stacks == ("self",)
    assert record.model == "mine"
    assert record.tokens() == (labels(), labels())
    assert [record.num_heads(layer) for layer in range(2)] == [HEADS, HEADS - 1]
    for layer, weights in enumerate(WEIGHTS):
        for head, own in enumerate(weights):
            assert record.weights(layer, head).dtype == np.float32
            assert np.array_equal(record.weights(layer, head), own)


def test_lower_precision_is_taken_as_it_is() -> None:
    weights = torch.from_numpy(WEIGHTS[0]).bfloat16()
    record = AttentionRecord.from_arrays([weights], labels())
    assert np.array_equal(record.weights(0, 1), weights[1].float().numpy())


@pytest.mark.filterwarnings("ignore:rows of layer")
def test_one_array_for_all_layers() -> None:
    every = np.stack([some_weights(3), 1 - some_weights(3)])
    record = AttentionRecord.from_arrays(every, labels())
    assert record.num_layers() == 2
    for layer in range(2):
        for head in range(3):
            assert np.array_equal(record.weights(layer, head), every[layer, head])


def test_keys_may_have_tokens_of_their_own() -> None:
    record = AttentionRecord.from_arrays(
        [some_weights(2, 3, 5)], labels(3), key_tokens=list("abcde")
    )
    assert record.tokens() == (labels(3), list("abcde"))
    assert record.weights(0, 0).shape == (3, 5)


def test_nothing_is_claimed_about_what_was_given() -> None:
    [fidelity] = AttentionRecord.from_arrays(WEIGHTS[:1], labels()).fidelity["self"]
    assert (fidelity.route, fidelity.kept, fidelity.exact) == ("given", "weights", None)


@pytest.mark.parametrize("mask", ["no mask", "causal"])
def test_queries_and_keys_that_give_the_weights_replace_them(mask: str) -> None:
    layer = layer_of(PROGRAMS[mask])
    source = record_of(layer)
    weights = np.stack([source.weights(0, head) for head in range(HEADS)])
    record = AttentionRecord.from_arrays(
        [weights], labels(), queries=[layer.queries], keys=[torch.tensor(layer.keys)]
    )
    assert record.layer(0).program == PROGRAMS[mask]
    assert record.layer(0).weights is None
    assert record.num_kv_heads(0) == KEY_HEADS
    [fidelity] = record.fidelity["self"]
    assert (fidelity.kept, fidelity.exact, fidelity.rows) == ("queries and keys", True, LENGTH)
    for head in range(HEADS):
        assert np.array_equal(record.scores(0, head), source.scores(0, head))
        np.testing.assert_allclose(record.weights(0, head), weights[head], rtol=0, atol=1e-5)


@pytest.mark.parametrize("scale", [1.0, 0.2, 3.7])
def test_another_scale_is_found_in_the_weights(scale: float) -> None:
    layer = layer_of(ScoreProgram(scale, "causal"))
    weights = np.stack([layer.head_weights(head) for head in range(HEADS)])
    given = {"queries": [layer.queries], "keys": [layer.keys]}
    found = AttentionRecord.from_arrays([weights], labels(), **given).layer(0)
    assert found.program is not None
    assert found.program.scale == pytest.approx(scale, rel=1e-4)
    assert (found.program.mask, found.fidelity.exact) == ("causal", True)
    stated = AttentionRecord.from_arrays([weights], labels(), **given, scale=scale).layer(0)
    assert stated.program == layer.program


def test_a_stated_scale_that_is_wrong_is_reported() -> None:
    layer = layer_of(PROGRAMS["no mask"])
    weights = np.stack([layer.head_weights(head) for head in range(HEADS)])
    record = AttentionRecord.from_arrays(
        [weights], labels(), queries=[layer.queries], keys=[layer.keys], scale=1.0
    )
    other = layer_of(ScoreProgram(1.0))
    [fidelity] = record.fidelity["self"]
    assert (fidelity.kept, fidelity.exact) == ("weights", False)
    moved = [
        np.abs(other.head_weights(head) - weights[head]).sum(axis=1) / 2 for head in range(HEADS)
    ]
    assert fidelity.weights_error == pytest.approx(float(np.max(moved)), abs=1e-6)


def test_queries_and_keys_that_do_not_give_the_weights_stay_beside_them() -> None:
    """Here they would with a bias, which cannot be known."""
    layer = layer_of(PROGRAMS["a bias per head"])
    weights = np.stack([layer.head_weights(head) for head in range(HEADS)])
    record = AttentionRecord.from_arrays(
        [weights], labels(), queries=[layer.queries], keys=[layer.keys]
    )
    assert record.layer(0).program is None
    [fidelity] = record.fidelity["self"]
    assert (fidelity.kept, fidelity.exact) == ("weights", False)
    assert fidelity.weights_error is not None
    assert fidelity.weights_error > 0.1
    assert np.array_equal(record.weights(0, 3), weights[3])
    assert np.array_equal(record.queries(0, 3), layer.head_queries(3))
    assert np.array_equal(record.keys(0, 3), layer.head_keys(3))
    with pytest.raises(ValueError, match="weights alone"):
        record.scores(0, 0)


def test_one_wrong_row_is_enough_to_keep_the_weights() -> None:
    layer = layer_of(PROGRAMS["no mask"])
    weights = np.stack([layer.head_weights(head) for head in range(HEADS)])
    weights[2, 5] = 1 / LENGTH
    record = AttentionRecord.from_arrays(
        [weights], labels(), queries=[layer.queries], keys=[layer.keys]
    )
    assert record.layer(0).program is None
    assert np.array_equal(record.weights(0, 2)[5], weights[2, 5])


def test_changing_an_array_later_does_not_change_the_record() -> None:
    weights, queries, keys = some_weights(), floats(HEADS, LENGTH, 8), floats(HEADS, LENGTH, 8)
    record = AttentionRecord.from_arrays([weights], labels(), queries=[queries], keys=[keys])
    before = [record.weights(0, 0).copy(), record.queries(0, 0).copy(), record.keys(0, 0).copy()]
    for array in (weights, queries, keys):
        array[:] = 0
    after = [record.weights(0, 0), record.queries(0, 0), record.keys(0, 0)]
    assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))


def test_rows_that_do_not_sum_to_one_are_taken_with_a_warning(recwarn: Any) -> None:
    whole = some_weights(HEADS)
    whole[0, 0] = 0  # a query that sees no key
    record = AttentionRecord.from_arrays([whole, whole], labels())
    assert not recwarn.list
    assert record.layer(1).row_sums is None
    part = whole.copy()
    part[1, 3] /= 4
    message = r"^rows of layer 1 do not sum to 1: the farthest, in layer 1, sums to 0\.25\. "
    with pytest.warns(UserWarning, match=message) as warned:
        record = AttentionRecord.from_arrays([whole, part], labels())
    assert warned[0].filename == __file__
    assert np.array_equal(record.weights(1, 1), part[1])
    assert record.layer(1).row_sums == pytest.approx((0.25, 1), abs=1e-5)
    manifest, _ = encode_overview(record)
    assert [layer["sums"] for layer in manifest["stacks"][0]["layers"]] == [
        None,
        record.layer(1).row_sums,
    ]
