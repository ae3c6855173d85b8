"""`widget.selection` is what the record has of what is selected."""

from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest

from attnwidget import AttentionRecord, AttentionWidget
from attnwidget.record import Fidelity, Layer, Stack, Tokens
from tests.unit.records import (
    DIM,
    HEADS,
    KEY_HEADS,
    LENGTH,
    PROGRAMS,
    floats,
    hybrid,
    labels,
    layer_of,
    numbered,
    program,
    record_of,
    record_with_every_program,
    some_weights,
)

GIVEN = Fidelity("given", "", "weights", None, None, 1e-4, 0)
LOCKS: list[dict[str, int]] = [{}, {"query": 4}, {"key": 0}, {"query": 0, "key": 6}]


@pytest.fixture(scope="module")
def record() -> AttentionRecord:
    """Grouped keys and a mask; weights alone; weights with queries and keys."""
    queries, keys = floats(HEADS, LENGTH, DIM), floats(KEY_HEADS, LENGTH, DIM)
    return record_of(
        layer_of(PROGRAMS["everything"]),
        Layer(None, None, None, some_weights(2), GIVEN),
        Layer(queries, keys, None, some_weights(), GIVEN),
    )


@pytest.fixture(scope="module")
def stacks() -> AttentionRecord:
    """Attention to a text of another length, beside one to itself."""
    queries, keys = Tokens(tuple("abc")), Tokens(tuple("vwxyz"))
    layer = Layer(floats(4, 3, DIM), floats(2, 5, DIM), program(), None, GIVEN)
    return AttentionRecord({"self": hybrid(), "cross": Stack(queries, keys, numbered(layer))})


def _of(array: np.ndarray, *at: int | None) -> Any:
    """An array at the positions locked, whole where none is."""
    return array[tuple(slice(None) if position is None else position for position in at)]


def _assert_selected(widget: AttentionWidget) -> None:
    record, place = widget.record, (widget.layer, widget.head, widget.stack)
    query, key, selection = widget.query, widget.key, widget.selection
    assert (selection.stack, selection.layer, selection.head) == (widget.stack, *place[:2])
    assert (selection.query, selection.key) == (query, key)
    query_labels, key_labels = record.tokens(widget.stack)
    assert selection.query_token == (None if query is None else query_labels[query])
    assert selection.key_token == (None if key is None else key_labels[key])
    layer = record.layer(widget.layer, widget.stack)
    assert np.array_equal(selection.weights, _of(record.weights(*place), query, key))
    if layer.program is None:
        assert selection.scores is None
    else:
        assert np.array_equal(selection.scores, _of(record.scores(*place), query, key))
    if layer.queries is None:
        assert selection.queries is selection.keys is None
    else:
        assert np.array_equal(selection.queries, _of(record.queries(*place), query))
        assert np.array_equal(selection.keys, _of(record.keys(*place), key))
    for array in (selection.weights, selection.scores, selection.queries, selection.keys):
        assert array is None or array.dtype == np.float32


@pytest.mark.parametrize("locks", LOCKS, ids=str)
@pytest.mark.parametrize(("layer", "head"), [(0, 0), (0, 1), (0, 3), (1, 1), (2, 2)])
def test_it_is_what_the_record_has(
    record: AttentionRecord, layer: int, head: int, locks: dict[str, int]
) -> None:
    _assert_selected(AttentionWidget(record, layer=layer, head=head, **locks))


@pytest.mark.parametrize("locks", LOCKS, ids=str)
def test_of_every_program(locks: dict[str, int]) -> None:
    widget = AttentionWidget(record_with_every_program(), **locks)
    for layer in widget.record.stack().numbers:
        widget.layer = layer
        _assert_selected(widget)


@pytest.mark.parametrize(
    ("locks", "weights", "queries", "keys"),
    [
        ({}, (3, 5), (3, DIM), (5, DIM)),
        ({"query": 2}, (5,), (DIM,), (5, DIM)),
        ({"key": 4}, (3,), (3, DIM), (DIM,)),
        ({"query": 2, "key": 4}, (), (DIM,), (DIM,)),
    ],
    ids=str,
)
def test_its_shapes(
    stacks: AttentionRecord, locks: Any, weights: Any, queries: Any, keys: Any
) -> None:
    widget = AttentionWidget(stacks, head=3, **locks)
    selection = widget.selection
    assert selection.scores is not None
    assert selection.queries is not None
    assert selection.keys is not None
    assert selection.weights.shape == selection.scores.shape == weights
    assert (selection.queries.shape, selection.keys.shape) == (queries, keys)
    tokens = [selection.query_token, selection.key_token]
    assert tokens == ["c" if "query" in locks else None, "z" if "key" in locks else None]
    _assert_selected(widget)


def test_it_follows_the_choices(stacks: AttentionRecord) -> None:
    widget = AttentionWidget(stacks, head=3, key=4)
    for name, value in {"stack": "self", "layer": 7, "head": 1, "query": 6, "key": None}.items():
        setattr(widget, name, value)
        _assert_selected(widget)


def test_muted_neurons_are_part_of_it(stacks: AttentionRecord) -> None:
    """Only the view leaves them out: what was captured stays what it is."""
    widget = AttentionWidget(stacks, view="neuron", query=1)
    before = widget.selection
    widget.muted = [0, 3]
    assert np.array_equal(widget.selection.scores, before.scores)
    assert np.array_equal(widget.selection.queries, before.queries)


def test_it_stays_as_it_is(record: AttentionRecord) -> None:
    widget = AttentionWidget(record, layer=2, query=1)
    before = widget.selection
    expected = before.weights.copy()
    widget.head = 3
    assert (before.head, widget.selection.head) == (0, 3)
    assert np.array_equal(before.weights, expected)
    with pytest.raises(FrozenInstanceError):
        before.query = 2  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        before.weights[0] = 1


def test_labels_are_those_of_the_record() -> None:
    record = AttentionRecord.from_arrays([some_weights()], labels())
    selection = AttentionWidget(record, query=3, key=5).selection
    assert (selection.query_token, selection.key_token) == ("token3", "token5")
