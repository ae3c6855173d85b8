"""Choices that follow others, so that all of them are always there."""

from itertools import permutations
from typing import Any

import pytest
from traitlets import TraitError

from attnwidget import AttentionRecord, AttentionWidget
from attnwidget.record import Layer
from tests.unit.records import (
    DIM,
    FIDELITY,
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


@pytest.fixture(scope="module")
def record() -> AttentionRecord:
    """Layers of four, two and three heads."""
    heads = (4, 2, 3)
    queries, keys = ([floats(n, LENGTH, DIM, seed=seed) for n in heads] for seed in (1, 2))
    weights = [some_weights(n) for n in heads]
    return AttentionRecord.from_arrays(weights, labels(), queries=queries, keys=keys)


@pytest.fixture(scope="module")
def stacks() -> AttentionRecord:
    """One stack with many layers, heads and tokens, and one with few."""
    large = AttentionRecord.from_arrays([some_weights(4), some_weights(4)], labels()).stack()
    small = AttentionRecord.from_arrays([some_weights(2, 3, 3)], labels(3)).stack()
    return AttentionRecord({"encoder": large, "decoder": small})


@pytest.fixture(scope="module")
def cross() -> AttentionRecord:
    """Layers 0 and 1 of seven tokens, and layers 3, 7 and 11 of as many."""
    return AttentionRecord(
        {"encoder": record_of(*map(layer_of, (PROGRAMS["causal"],) * 2)).stack(), "cross": hybrid()}
    )


def test_a_layer_that_the_other_stack_lacks_becomes_the_one_before(cross: AttentionRecord) -> None:
    widget = AttentionWidget(cross, stack="encoder", layer=1, head=3)
    widget.stack = "cross"
    assert (widget.layer, widget.head) == (3, 3)
    widget.layer = 7
    assert widget.head == 1
    widget.stack = "encoder"
    assert widget.layer == 1


@pytest.mark.parametrize(
    ("head", "heads", "head_after", "heads_after"),
    [(3, [0, 3], 0, [0]), (3, [2, 3], 1, None), (0, [0, 1], 0, [0, 1]), (2, None, 1, None)],
)
def test_heads_stay_in_range_when_the_layer_changes(
    record: AttentionRecord, head: int, heads: Any, head_after: int, heads_after: Any
) -> None:
    widget = AttentionWidget(record, head=head, heads=heads)
    widget.layer = 1
    assert (widget.head, widget.heads) == (head_after, heads_after)


def test_the_current_head_is_always_drawn(record: AttentionRecord) -> None:
    widget = AttentionWidget(record, heads=[3], muted=[1])
    assert (widget.head, widget.muted) == (3, [1])
    widget.head = 1
    assert (widget.head, widget.heads, widget.muted) == (1, [1], [])
    widget.heads = [0, 3]
    assert widget.head == 0
    widget.head = 2
    assert widget.heads == [2, 3], "in place of the one before"
    widget.heads = None
    widget.head = 1
    assert widget.heads is None
    assert AttentionWidget(record, head=1, heads=[3]).head == 3


def test_choices_stay_in_range_when_the_stack_changes(stacks: AttentionRecord) -> None:
    widget = AttentionWidget(stacks, layer=1, head=2, heads=[1, 2], query=6, key=1)
    assert widget.stack == "encoder"
    widget.stack = "decoder"
    assert widget.stack == "decoder"
    assert (widget.layer, widget.head, widget.heads) == (0, 1, [1])
    assert widget.query in (None, 2)
    assert widget.key in (None, 1)
    widget.query = 2
    with pytest.raises(TraitError, match="query position 3 does not exist: this record has 0 to 2"):
        widget.query = 3


def test_choices_are_judged_by_the_chosen_stack(stacks: AttentionRecord) -> None:
    widget = AttentionWidget(stacks, stack="decoder", head=1, query=2)
    assert (widget.stack, widget.head, widget.query) == ("decoder", 1, 2)
    for choice in ({"layer": 1}, {"head": 2}, {"query": 3}):
        with pytest.raises(TraitError, match="does not exist"):
            AttentionWidget(stacks, stack="decoder", **choice)


def test_layers_and_heads_of_the_model_view_stay_in_range(cross: AttentionRecord) -> None:
    widget = AttentionWidget(cross, include_layers=[3, 11], include_heads=[1, 5])
    widget.layer = 7
    assert (widget.include_layers, widget.include_heads) == ([3, 11], [1, 5]), "of every layer"
    widget.stack = "encoder"
    assert (widget.include_layers, widget.include_heads) == (None, [1])


@pytest.mark.parametrize("choice", [{"head": 1}, {"layer": 1}, {"stack": "encoder", "layer": 0}])
def test_another_head_has_all_its_neurons(cross: AttentionRecord, choice: dict[str, Any]) -> None:
    stacks = AttentionRecord({"encoder": cross.stack("encoder"), "decoder": cross.stack("encoder")})
    widget = AttentionWidget(stacks, stack="decoder", muted=[3])
    for name in ("query", "key"):
        setattr(widget, name, 1)
    widget.view, widget.head = "neuron", 0
    assert widget.muted == [3], "the same head"
    for name, value in choice.items():
        setattr(widget, name, value)
    assert widget.muted == []
    assert AttentionWidget(stacks, muted=[3], **choice).muted == [3], "chosen together with it"


ALSO: list[tuple[dict[str, Any], dict[str, Any], list[int]]] = [
    ({"query": 2}, {"query": 3}, [4, 0]),
    ({"query": 2}, {"query": 4}, [0]),
    ({"query": 2}, {"query": None}, []),
    ({"query": 2}, {"key": 4}, [4, 0]),
    ({"key": 2}, {"key": 0}, [4]),
    ({"key": 2}, {"key": None}, []),
    # Queries do not become keys, nor keys queries.
    ({"query": 2, "key": 3}, {"query": None}, []),
    ({"key": 2}, {"query": 3}, []),
    ({"query": 2, "key": 3}, {"key": None}, [4, 0]),
    ({"query": 2}, {"head": 1, "view": "neuron"}, [4, 0]),
]


@pytest.mark.parametrize(("locked", "then", "left"), ALSO)
def test_what_is_locked_together(
    record: AttentionRecord, locked: Any, then: Any, left: list[int]
) -> None:
    widget = AttentionWidget(record, **locked, also=[4, 0])
    assert widget.also == [4, 0]
    for name, value in then.items():
        setattr(widget, name, value)
    assert widget.also == left


def test_what_is_locked_together_stays_in_range() -> None:
    """From 7 keys to 5; and from 7 queries to 3, which leaves the key alone locked."""
    large = record_of(layer_of(program())).stack()
    wide = Layer(floats(2, 3, DIM), floats(2, 5, DIM), program(), None, FIDELITY)
    stacks = AttentionRecord({"self": large, "other": record_of(wide).stack()})
    widget = AttentionWidget(stacks, key=1, also=[6, 4])
    widget.stack = "other"
    assert (widget.query, widget.key, widget.also) == (None, 1, [4])
    widget = AttentionWidget(stacks, query=6, key=1, also=[2])
    widget.stack = "other"
    assert (widget.query, widget.key, widget.also) == (None, 1, [])


@pytest.mark.parametrize("name", ["stack", "layer", "head", "heads", "muted"])
def test_whoever_hears_of_one_finds_the_others_there(cross: AttentionRecord, name: str) -> None:
    """A callback never reads a mixture of two places."""
    widget = AttentionWidget(cross, stack="encoder", layer=1, head=3, heads=[0, 3], muted=[5])
    seen: list[Any] = []

    def look(_change: Any) -> None:
        selection = widget.selection
        place = selection.stack, selection.layer, selection.head
        seen.append((*place, widget.heads, widget.muted))

    widget.observe(look, name)
    widget.stack = "cross"
    widget.layer = 7
    assert seen
    assert all(here in [("cross", 3, 3, [0, 3], []), ("cross", 7, 0, [0], [])] for here in seen)


def test_a_choice_is_told_before_those_that_follow_it(cross: AttentionRecord) -> None:
    widget = AttentionWidget(cross, stack="encoder", layer=1, head=3, heads=[0, 3], muted=[5])
    heard: list[tuple[str, Any, Any]] = []
    widget.observe(lambda change: heard.append((change.name, change.old, change.new)))
    widget.stack = "cross"
    assert heard == [("stack", "encoder", "cross"), ("layer", 1, 3), ("muted", [5], [])]
    heard.clear()
    widget.layer = 7
    assert heard == [("layer", 3, 7), ("heads", [0, 3], [0]), ("head", 3, 0)]


def test_all_are_told_even_if_someone_who_hears_of_one_fails(cross: AttentionRecord) -> None:
    widget = AttentionWidget(cross, layer=3, head=3)
    heard: list[Any] = []

    def fail(_change: Any) -> None:
        raise RuntimeError("the disk is on fire")

    widget.observe(fail, "layer")
    widget.observe(lambda change: heard.append(change.new), "head")
    with pytest.raises(RuntimeError, match="the disk is on fire"):
        widget.layer = 7
    assert (widget.layer, widget.head, heard) == (7, 1, [1])


def test_someone_who_hears_of_one_may_choose_anew(cross: AttentionRecord) -> None:
    widget = AttentionWidget(cross, layer=3, head=3)
    heard: list[Any] = []
    widget.observe(lambda _change: setattr(widget, "head", 0), "layer")
    widget.observe(lambda change: heard.append(change.new), "head")
    widget.layer = 7
    assert widget.head == 0
    assert set(heard) == {0}, "no one is told what does not hold any more"


PLACE: dict[str, Any] = {"stack": "cross", "layer": 11, "head": 5, "query": 2, "also": [4]}


def test_choices_of_the_view_come_in_any_order(cross: AttentionRecord) -> None:
    start = {"layer": 1, "head": 3, "key": 1, "also": [0], "muted": [2]}
    for names in permutations(PLACE):
        state = {name: PLACE[name] for name in names}
        chosen = AttentionWidget(cross, **state)
        widget = AttentionWidget(cross, stack="encoder", **start)
        widget.set_state(state)
        for made in (chosen, widget):
            assert {name: getattr(made, name) for name in names} == state
        assert widget.muted == []


def test_neurons_are_muted_together_with_the_head(cross: AttentionRecord) -> None:
    widget = AttentionWidget(cross, head=1, muted=[7])
    widget.set_state({"muted": [2, 1], "head": 3})
    assert (widget.head, widget.muted) == (3, [1, 2])


def test_tokens_are_locked_together_in_one_step(cross: AttentionRecord) -> None:
    widget = AttentionWidget(cross)
    with widget.hold_trait_notifications():
        widget.also = [4]
        widget.query = 2
    assert (widget.query, widget.also) == (2, [4])


def test_choices_that_are_sent_together(
    cross: AttentionRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    widget = AttentionWidget(cross, stack="encoder", layer=1, head=3, query=4)
    sent: list[Any] = []
    monkeypatch.setattr(widget.comm, "send", lambda data, **_: sent.append(data["state"]))
    with widget.hold_sync():
        for name in ("stack", "layer", "head", "query", "also"):
            setattr(widget, name, PLACE[name])
    assert sent == [PLACE]
