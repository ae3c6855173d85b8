"""Inputs that a record refuses, with its errors."""

import contextlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from attnwidget import AttentionRecord, compare
from attnwidget.analysis import by_segments
from attnwidget.record import Fidelity, Layer, Replay, Stack, Tokens, sample_rows, spans
from tests.unit.records import (
    FIDELITY,
    HEADS,
    LENGTH,
    PROGRAMS,
    floats,
    hybrid,
    labels,
    layer_of,
    program,
    record_of,
    some_weights,
)

READ = ["weights", "scores", "queries", "keys"]


@pytest.fixture
def record() -> AttentionRecord:
    return record_of(layer_of(PROGRAMS["causal"]), layer_of(PROGRAMS["softcap"], seed=1))


@pytest.mark.parametrize("method", READ)
@pytest.mark.parametrize("layer", [2, 99, -1])
def test_a_layer_that_does_not_exist(record: AttentionRecord, method: str, layer: int) -> None:
    with pytest.raises(IndexError, match=f"layer {layer} does not exist.*2 layers, 0 to 1"):
        getattr(record, method)(layer, 0)


@pytest.mark.parametrize("method", READ)
@pytest.mark.parametrize("head", [HEADS, -1])
def test_a_head_that_does_not_exist(record: AttentionRecord, method: str, head: int) -> None:
    with pytest.raises(
        IndexError, match=f"head {head} does not exist: layer 1 has 4 heads, 0 to 3"
    ):
        getattr(record, method)(1, head)


def test_a_stack_that_does_not_exist(record: AttentionRecord) -> None:
    with pytest.raises(KeyError, match="no stack 'decoder'; this record has self"):
        record.weights(0, 0, "decoder")


def test_a_layer_of_weights_alone_has_nothing_else() -> None:
    record = record_of(Layer(None, None, None, some_weights(), FIDELITY))
    assert record.weights(0, 1).shape == (LENGTH, LENGTH)
    assert record.num_kv_heads(0) == HEADS
    for method in ("scores", "queries", "keys"):
        with pytest.raises(ValueError, match="recorded as weights alone"):
            getattr(record, method)(0, 0)


def test_stacks_are_read_by_name_and_the_first_by_default() -> None:
    stacks = {name: record_of(layer_of(PROGRAMS[name])).stack() for name in ("causal", "softcap")}
    record = AttentionRecord(stacks)
    assert record.stacks == ("causal", "softcap")
    assert set(record.fidelity) == {"causal", "softcap"}
    default = record.weights(0, 1)
    assert np.array_equal(default, record.weights(0, 1, "causal"))
    assert not np.array_equal(default, record.weights(0, 1, "softcap"))


def test_its_repr_says_what_it_is(record: AttentionRecord) -> None:
    assert repr(record) == "<AttentionRecord a model (self: 2 layers, 7 x 7 tokens)>"


def test_layers_go_by_their_number() -> None:
    record = AttentionRecord({"self": hybrid()})
    assert record.num_layers() == 3
    assert [record.num_heads(layer) for layer in (3, 7, 11)] == [4, 2, 6]
    assert [layer.number for layer in record.stack().layers] == [3, 7, 11]
    assert np.array_equal(record.weights(7, 1), record.stack().layers[1].head_weights(1))
    for missing in (0, 1, 4, 12):
        with pytest.raises(
            IndexError, match=f"layer {missing} does not exist: this stack has layers 3, 7, 11"
        ):
            record.weights(missing, 0)


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ((0, 1, 2), "3 layers, 0 to 2"),
        ((4, 5), "2 layers, 4 to 5"),
        ((3,), "layer 3 alone"),
        ((3, 7, 11), "layers 3, 7, 11"),
        ((0, 1, 2, 5, 8, 9), "layers 0–2, 5, 8–9"),
    ],
)
def test_the_layers_that_there_are_in_words(numbers: tuple[int, ...], text: str) -> None:
    assert spans(numbers) == text


@pytest.mark.parametrize("numbers", [(0, 0), (1, 0), (0, 2, 1)])
def test_layer_numbers_increase(numbers: tuple[int, ...]) -> None:
    layers = tuple(replace(layer_of(program()), number=number) for number in numbers)
    tokens = Tokens(tuple(labels()))
    with pytest.raises(ValueError, match="layer numbers must increase"):
        Stack(tokens, tokens, layers)


@pytest.mark.parametrize("number", [-1, 1.0, "1", True, None])
def test_a_layer_number_counts_from_zero(number: Any) -> None:
    with pytest.raises(ValueError, match=r"layer number .*; expected 0, 1"):
        replace(layer_of(program()), number=number)


@pytest.mark.parametrize("missing", ["layers.4: text", [4], [None]])
def test_what_is_missing_is_a_list_of_texts(missing: Any) -> None:
    with pytest.raises(ValueError, match="missing must be a list of strings"):
        AttentionRecord({"self": hybrid()}, missing=missing)


def test_a_record_needs_layers() -> None:
    empty = Stack(Tokens(("a",)), Tokens(("a",)), ())
    for stacks in ({}, {"self": empty}):
        with pytest.raises(ValueError, match="at least one stack, and every stack a layer"):
            AttentionRecord(stacks)


def test_tokens_and_layers_must_fit() -> None:
    tokens = Tokens(tuple(labels(LENGTH - 1)))
    with pytest.raises(ValueError, match="from 7 to 7 tokens, but there are 6 query and 6 key"):
        Stack(tokens, tokens, (layer_of(program()),))


def test_tokens_and_segments_must_fit() -> None:
    with pytest.raises(ValueError, match="2 tokens but 3 segment numbers"):
        Tokens(("a", "b"), segments=(0, 0, 1))


@pytest.mark.parametrize(
    "parts",
    [
        {"labels": "ab"},
        {"labels": ("a", 2)},
        {"special": (2,)},
        {"special": (-1,)},
        {"special": (1.0,)},
        {"segments": (0, 2)},
        {"segments": (0,)},
        {"generated": 3},
        {"generated": -1},
        {"words": (0,)},
        {"words": (0, -1)},
        {"words": (0, "1")},
        {"words": (0, True)},
        {"offsets": ((0, 1),)},
        {"offsets": ((0, 1), (1,))},
        {"offsets": ((0, 1), (2, 1))},
        {"offsets": ((0, 1), (-1, 1))},
        {"offsets": ((0, 1), [1, 2])},
        {"offsets": (0, 1)},
    ],
)
def test_tokens_make_sense(parts: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"label|special|segment|word|offset|generated"):
        Tokens(**{"labels": ("a", "b"), **parts})


@pytest.mark.parametrize("layer", [0, 1])
@pytest.mark.parametrize("method", ["queries", "keys", "weights"])
def test_what_was_recorded_cannot_be_overwritten(method: str, layer: int) -> None:
    """The record stays the same if a returned array is changed, computed or not."""
    vectors = floats(HEADS, LENGTH, 8), floats(2, LENGTH, 8)
    record = record_of(
        layer_of(PROGRAMS["causal"]), Layer(*vectors, None, some_weights(), FIDELITY)
    )
    read = getattr(record, method)
    before = read(layer, 1).copy()
    with contextlib.suppress(ValueError):
        read(layer, 1)[:] = 0
    assert np.array_equal(read(layer, 1), before)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"queries": floats(4, 7, 8)}, "both queries and keys"),
        ({}, "needs its weights"),
        ({"program": program(), "weights": some_weights()}, "needs queries and keys"),
        (
            {"queries": floats(7, 8), "keys": floats(7, 8)},
            "three axes heads, tokens and dimensions",
        ),
        ({"queries": floats(4, 7, 8), "keys": floats(4, 7, 6)}, "8 dimensions.*6"),
        ({"queries": floats(4, 7, 8), "keys": floats(3, 7, 8)}, "4 query heads cannot share 3"),
        ({"weights": some_weights(), "values": floats(4, 6, 5)}, "values of shape"),
        ({"weights": some_weights(), "values": floats(3, 7, 5)}, "values of shape"),
        ({"weights": some_weights(), "values": floats(7, 5)}, "three axes"),
        ({"weights": some_weights(), "values": floats(4, 7, 5) * np.float32("nan")}, "NaN"),
        ({"weights": some_weights(), "projection": floats(4, 5, 6)}, "projection of shape"),
        (
            {
                "weights": some_weights(),
                "values": floats(4, 7, 5),
                "projection": floats(4, 4, 6),
            },
            "projection of shape",
        ),
        (
            {
                "weights": some_weights(),
                "values": floats(2, 7, 5),
                "projection": floats(2, 5, 6),
            },
            "projection of shape",
        ),
    ],
)
def test_a_layers_arrays_must_fit(arrays: dict[str, Any], message: str) -> None:
    weights = some_weights() if "queries" in arrays and "keys" in arrays else None
    given = {"queries": None, "keys": None, "program": None, "weights": weights, **arrays}
    with pytest.raises(ValueError, match=message):
        Layer(**given, fidelity=FIDELITY)


def test_arrays_that_were_checked_before_are_checked_where_they_may_be_wrong() -> None:
    negative = floats(4, 7, 7) - 9
    Layer(negative, negative, program(), None, FIDELITY)
    with pytest.raises(ValueError, match="weights hold negative numbers"):
        Layer(None, None, None, negative, FIDELITY)
    layer = Layer(None, None, None, some_weights(), FIDELITY)
    assert layer.weights is not None
    layer.weights.flags.writeable = True
    layer.weights[0, 0, 0] = np.nan
    with pytest.raises(ValueError, match="weights hold NaN"):
        replace(layer, number=1)


@pytest.mark.parametrize(
    ("weights_error", "output_error", "exact"),
    [
        (None, None, None),
        (1e-6, None, True),
        (None, 1e-6, True),
        (1e-6, 1e-6, True),
        (1e-6, 1e-4, False),
        (1e-4, 1e-6, False),
        (float("nan"), 1e-6, False),
        (None, float("nan"), False),
    ],
)
def test_exact_means_that_every_known_error_is_small(
    weights_error: float | None, output_error: float | None, exact: bool | None
) -> None:
    fidelity = Fidelity("given", "", "weights", weights_error, output_error, 1e-5, 3)
    assert fidelity.exact is exact


@pytest.mark.parametrize("order", [sorted, max, min])
def test_a_fidelity_has_no_order_but_that_of_its_numbers(
    record: AttentionRecord, order: Any
) -> None:
    layers = record.fidelity["self"]
    with pytest.raises(TypeError, match=r"no order of its own; .* key=lambda each: each.weights_e"):
        order(layers)
    order(layers, key=lambda each: each.weights_error or 0)


@pytest.mark.parametrize("name", ["weights_error", "output_error", "tolerance", "rows", "labels"])
def test_a_fidelity_is_made_of_numbers(name: str) -> None:
    said = r"must be numbers|expected a number from 0|expected 'checked'"
    with pytest.raises(ValueError, match=said):
        replace(FIDELITY, **{name: "small"})


@pytest.mark.parametrize("count", [1, 2, 64])
def test_of_a_short_text_all_rows_are_checked(count: int) -> None:
    assert sample_rows(count).tolist() == list(range(count))


@pytest.mark.parametrize("count", [65, 100, 1000])
def test_sampled_rows_are_spread_over_all(count: int) -> None:
    rows = sample_rows(count)
    assert len(rows) == 16
    assert rows[0] == 0
    assert rows[-1] == count - 1
    assert (np.diff(rows) > 0).all()
    assert np.diff(rows).max(initial=1) <= -(-count // 15)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_weights_of_all_heads_are_those_of_each(name: str) -> None:
    layer, rows = layer_of(PROGRAMS[name]), np.array([0, 2, 5])
    each = [layer.head_weights(head, rows) for head in range(layer.num_heads)]
    np.testing.assert_allclose(layer.all_weights(rows), np.stack(each), atol=1e-6)


def test_derived_records_say_of_the_pass_what_theirs_does(record: AttentionRecord) -> None:
    replay = Replay(1e-3, 3e-2, "it computes in bfloat16")
    stacks = {"self": record.stack()}
    said = AttentionRecord(stacks, model="m", missing=["a: b"], replay=replay)
    segments = by_segments(said, [(0, 2, "both")])
    for derived in (said.without_images(), segments, *compare(said, said).records):
        assert (derived.model, derived.missing, derived.replay) == ("m", ("a: b",), replay)
