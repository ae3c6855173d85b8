"""Two widgets that `ipywidgets.link` holds together, one trait at a time."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import permutations
from typing import Any

import pytest
from ipywidgets import link
from traitlets import TraitError

from attnwidget import AttentionRecord, AttentionWidget
from attnwidget.record import Layer
from attnwidget.view_state import ChoiceOptions
from tests.unit.records import (
    DIM,
    FIDELITY,
    PROGRAMS,
    floats,
    hybrid,
    layer_of,
    numbered,
    program,
    record_of,
)

# "compared" has one value without a comparison; test_comparison_widget.py links it.
NAMES = tuple(name for name in ("view", *ChoiceOptions.__annotations__) if name != "compared")

# A choice of every kind, each of which is there where those before it are.
CHOICES: dict[str, Any] = {
    "view": "neuron",
    "stack": "cross",
    "layer": 11,
    "head": 5,
    "heads": [0, 5],
    "off": [(3, 1), (11, 5)],
    "cut": [((2,), (4,), (3,), (1,))],
    "query": 6,
    "key": 0,
    "picture": False,
    "also": [5, 1],
    "named_segments": [(0, 2, "start")],
    "segments": "ab",
    "combine": "layers_mean",
    "lens": "rollout",
    "words": True,
    "arcs_shown": False,
    "orientation": "horizontal",
    "thumbnails": "lines",
    "sort": "entropy",
    "color": "layer",
    "opened": True,
    "ranking": True,
    "include_layers": [3, 7],
    "include_heads": [1, 3],
    "neurons": "sum",
    "muted": [2, 7],
    "expanded": False,
    "parts": "messages",
    "part": None,
    "grid": None,
    "cut_part": None,
    "map_x": "first",
    "map_y": "special",
    "map_size": "entropy",
    "shown_grid": 0,
    "theme": "dark",
}


def _layers(*heads: int) -> tuple[Layer, ...]:
    return numbered(
        *(
            Layer(floats(n, 7, DIM), floats(1, 7, DIM), program(mask="causal"), None, FIDELITY)
            for n in heads
        )
    )


@pytest.fixture(scope="module")
def record() -> AttentionRecord:
    """Layers 0 and 1 with four and two heads, and layers 3, 7 and 11 with four, two and six."""
    return AttentionRecord({"encoder": record_of(*_layers(4, 2)).stack(), "cross": hybrid()})


@contextmanager
def _linked(
    one: AttentionWidget, other: AttentionWidget, names: Sequence[str] = NAMES
) -> Iterator[None]:
    links = [link((one, name), (other, name)) for name in names]
    yield
    for each in links:
        each.unlink()


def _choices(widget: AttentionWidget) -> dict[str, Any]:
    return {name: getattr(widget, name) for name in NAMES}


@pytest.fixture
def pair(record: AttentionRecord) -> Iterator[tuple[AttentionWidget, AttentionWidget]]:
    one, other = (AttentionWidget(record, stack="encoder") for _ in range(2))
    with _linked(one, other):
        yield one, other


@pytest.mark.parametrize("forward", [True, False])
def test_every_choice_follows(pair: tuple[AttentionWidget, ...], forward: bool) -> None:
    one, other = pair if forward else pair[::-1]
    first = _choices(one)
    assert set(CHOICES) == set(NAMES)
    for name, value in CHOICES.items():
        setattr(one, name, value)
        assert getattr(other, name) == value
        assert _choices(other) == _choices(one)
    assert _choices(other) == CHOICES
    for name, value in first.items():
        setattr(one, name, value)
        assert _choices(other) == _choices(one)
    assert _choices(other) == first


@pytest.mark.parametrize("forward", [True, False])
def test_what_follows_in_one_follows_in_the_other(
    pair: tuple[AttentionWidget, ...], forward: bool
) -> None:
    one, other = pair if forward else pair[::-1]
    for choice in (
        {"layer": 0, "head": 3, "heads": [2, 3], "query": 4, "also": [1], "muted": [3]},
        {"layer": 1},
        {"stack": "cross"},
        {"layer": 11, "head": 5, "include_layers": [11], "include_heads": [5], "muted": [3]},
        {"key": 2, "query": None, "also": [6]},
        {"stack": "encoder"},
    ):
        for name, value in choice.items():
            setattr(one, name, value)
            assert _choices(other) == _choices(one)
    assert (one.layer, one.head, one.heads) == (1, 1, None)
    assert (one.include_layers, one.include_heads, one.muted) == (None, None, [])


PLACES: list[dict[str, Any]] = [
    {"stack": "cross", "layer": 11, "head": 0, "query": 4, "also": [2]},
    {"layer": 7, "head": 0, "muted": [1], "query": None, "also": []},
    {"layer": 3, "head": 3, "heads": [1, 3], "key": 5, "also": [6]},
    {"stack": "encoder", "layer": 1, "head": 0, "heads": None, "key": None, "also": []},
]


def test_what_the_view_sends_together_follows_in_any_order(record: AttentionRecord) -> None:
    """A browser sends what changed at once in an order of its own."""
    for order in permutations(range(5)):
        one, other = (AttentionWidget(record, stack="encoder", layer=1) for _ in range(2))
        # The order in which someone linked them does not matter either.
        with _linked(one, other, [NAMES[(n * 11) % len(NAMES)] for n in range(len(NAMES))]):
            for place in PLACES:
                items = [list(place.items())[at] for at in order if at < len(place)]
                one.set_state(dict(items))
                assert {name: getattr(one, name) for name in place} == place
                assert _choices(other) == _choices(one)
                one, other = other, one


def test_three_in_a_row_follow(record: AttentionRecord) -> None:
    one, middle, last = (AttentionWidget(record, stack="encoder") for _ in range(3))
    with _linked(one, middle), _linked(middle, last):
        for place in PLACES:
            last.set_state(place)
            assert _choices(one) == _choices(middle) == _choices(last)
        one.stack, one.layer = "cross", 7
        assert (last.stack, last.layer) == ("cross", 7)


@pytest.fixture
def unequal() -> tuple[AttentionWidget, AttentionWidget]:
    """Two layers of four and two heads, and three layers of three, one and two heads."""
    large = record_of(*_layers(4, 2))
    small = record_of(*_layers(3, 1, 2))
    return AttentionWidget(large), AttentionWidget(small)


def _assert_possible(widget: AttentionWidget) -> None:
    """All that it has chosen could be chosen anew."""
    assert _choices(AttentionWidget(widget.record, **_choices(widget))) == _choices(widget)


def test_a_value_that_the_other_lacks_is_refused_once(
    unequal: tuple[AttentionWidget, AttentionWidget],
) -> None:
    one, other = unequal
    with _linked(one, other):
        with pytest.raises(TraitError, match="head 3 does not exist: this record has 0 to 2"):
            one.head = 3
        assert (one.head, other.head) == (3, 0)
        # And they go on following each other.
        one.head = 1
        assert other.head == 1
        with pytest.raises(TraitError, match="layer 2 does not exist: this stack has 2 layers"):
            other.layer = 2
        assert (one.layer, other.layer) == (0, 2)
        other.layer = 0
        one.query = 3
        assert (one.layer, other.query) == (0, 3)
    _assert_possible(one)
    _assert_possible(other)


def test_a_value_that_follows_only_in_the_other(
    unequal: tuple[AttentionWidget, AttentionWidget],
) -> None:
    """Layer 1 has two heads in the one and a single one in the other."""
    one, other = unequal
    with _linked(one, other):
        one.head = 2
        one.layer = 1
        assert (one.layer, one.head) == (other.layer, other.head) == (1, 0)
    _assert_possible(one)
    _assert_possible(other)


@pytest.mark.parametrize("forward", [True, False])
def test_whatever_happens_both_show_what_they_have(
    unequal: tuple[AttentionWidget, AttentionWidget], forward: bool
) -> None:
    one, other = unequal if forward else unequal[::-1]
    with _linked(one, other):
        for layer in (*one.record.stack().numbers, *reversed(one.record.stack().numbers)):
            for head in range(one.record.num_heads(layer)):
                for state in ({"head": head, "layer": layer}, {"muted": [head]}):
                    with suppress(TraitError):
                        one.set_state(state)
                    _assert_possible(one)
                    _assert_possible(other)


def test_stacks_of_other_names_are_refused() -> None:
    one = AttentionWidget(AttentionRecord({"self": hybrid(), "more": hybrid()}))
    other = AttentionWidget(record_of(layer_of(PROGRAMS["causal"])))
    with _linked(one, other, ["stack", "query", "view"]):
        with pytest.raises(TraitError, match="no stack 'more'; this record has self"):
            one.stack = "more"
        assert (one.stack, other.stack) == ("more", "self")
        one.query = 3
        other.view = "model"
        assert (other.query, one.view) == (3, "model")
