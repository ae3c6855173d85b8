"""What can be chosen, and what a widget says to everything else."""

from typing import Any

import pytest
from traitlets import TraitError

from attnwidget import AttentionRecord, AttentionWidget
from tests.unit.records import PROGRAMS, hybrid, labels, layer_of, record_of, some_weights

CHOICES: dict[str, Any] = {
    "view": "neuron",
    "stack": "self",
    "layer": 1,
    "head": 1,
    "heads": [0, 1],
    "query": 6,
    "key": 0,
    "segments": "ab",
    "theme": "dark",
}


@pytest.fixture(scope="module")
def record() -> AttentionRecord:
    """Layers of four, two and three heads."""
    weights = [some_weights(heads) for heads in (4, 2, 3)]
    return AttentionRecord.from_arrays(weights, labels())


@pytest.fixture(scope="module")
def stacks() -> AttentionRecord:
    """One stack with many layers, heads and tokens, and one with few."""
    large = AttentionRecord.from_arrays([some_weights(4), some_weights(4)], labels()).stack()
    small = AttentionRecord.from_arrays([some_weights(2, 3, 3)], labels(3)).stack()
    return AttentionRecord({"encoder": large, "decoder": small})


def test_the_choices_it_starts_with(record: AttentionRecord) -> None:
    widget = AttentionWidget(record)
    assert widget.record is record
    assert {name: getattr(widget, name) for name in CHOICES} == {
        "view": "head",
        "stack": "self",
        "layer": 0,
        "head": 0,
        "heads": None,
        "query": None,
        "key": None,
        "segments": "all",
        "theme": "auto",
    }


def test_every_choice_can_be_made_from_the_start_and_later(record: AttentionRecord) -> None:
    first = AttentionWidget(record, **CHOICES)
    later = AttentionWidget(record)
    for name, value in CHOICES.items():
        setattr(later, name, value)
    for name, value in CHOICES.items():
        assert getattr(first, name) == getattr(later, name) == value
        assert first.trait_metadata(name, "sync")


WRONG: list[tuple[str, Any, str]] = [
    ("view", "tree", "'head', 'model', 'neuron'"),
    ("stack", "decoder", "no stack 'decoder'; this record has self"),
    ("layer", 3, "layer 3 does not exist: this stack has 3 layers, 0 to 2"),
    ("layer", 99, "layer 99 does not exist"),
    ("layer", -1, "layer -1 does not exist"),
    ("layer", "1", "expected an int"),
    ("head", 4, "head 4 does not exist: this record has 0 to 3"),
    ("head", -1, "head -1 does not exist"),
    ("heads", [], "heads is empty; give at least one head, or None for all"),
    ("heads", [0, 4], "head 4 does not exist"),
    ("heads", [-1], "head -1 does not exist"),
    ("heads", 1, "expected a list or None"),
    ("heads", ["1"], "int"),
    ("query", 7, "query position 7 does not exist: this record has 0 to 6"),
    ("query", -1, "query position -1 does not exist"),
    ("key", 7, "key position 7 does not exist"),
    ("segments", "AB", "'all', 'aa', 'ab', 'ba', 'bb'"),
    ("theme", "blue", "'auto', 'light', 'dark'"),
]


@pytest.mark.parametrize(("name", "value", "message"), WRONG)
def test_a_choice_that_does_not_exist(
    record: AttentionRecord, name: str, value: Any, message: str
) -> None:
    with pytest.raises(TraitError, match=message):
        AttentionWidget(record, **{name: value})
    widget = AttentionWidget(record, head=1)
    before = getattr(widget, name)
    with pytest.raises(TraitError, match=message):
        setattr(widget, name, value)
    assert getattr(widget, name) == before


@pytest.mark.parametrize("others", [{"head": 1}, {"heads": [0]}, {"query": 2, "key": 3}])
@pytest.mark.parametrize(
    ("wrong", "message"),
    [({"layer": 99}, "layer 99 does not exist"), ({"stack": "decoder"}, "no stack 'decoder'")],
)
def test_what_is_wrong_is_named_whatever_else_is_chosen(
    record: AttentionRecord, wrong: dict[str, Any], message: str, others: dict[str, Any]
) -> None:
    """Traits are validated in no particular order, and those of heads depend on these."""
    with pytest.raises(TraitError, match=message):
        AttentionWidget(record, **wrong, **others)


def test_a_choice_that_is_misspelt(record: AttentionRecord) -> None:
    with pytest.raises((TypeError, TraitError), match="layr"):
        AttentionWidget(record, layr=1)


def test_a_head_must_exist_in_the_chosen_layer(record: AttentionRecord) -> None:
    with pytest.raises(TraitError, match="head 3 does not exist: this record has 0 to 1"):
        AttentionWidget(record, layer=1, head=3)


@pytest.fixture(scope="module")
def cross() -> AttentionRecord:
    """Layers 0 and 1 of seven tokens, and layers 3, 7 and 11 of as many."""
    return AttentionRecord(
        {"encoder": record_of(*map(layer_of, (PROGRAMS["causal"],) * 2)).stack(), "cross": hybrid()}
    )


def test_without_a_layer_it_is_the_first_of_the_stack(cross: AttentionRecord) -> None:
    assert AttentionWidget(cross).layer == 0
    assert AttentionWidget(cross, layer=None, stack="cross").layer == 3
    with pytest.raises(TraitError, match="expected an int"):
        AttentionWidget(cross).layer = None


def test_layers_go_by_their_number(cross: AttentionRecord) -> None:
    widget = AttentionWidget(cross, stack="cross", layer=11, head=5)
    assert (widget.layer, widget.head) == (11, 5)
    for wrong in (0, 2, 4):
        with pytest.raises(
            TraitError, match=f"layer {wrong} does not exist: this stack has layers 3, 7, 11"
        ):
            widget.layer = wrong
    assert widget.layer == 11


def test_a_layer_that_the_other_stack_lacks_becomes_the_one_before(cross: AttentionRecord) -> None:
    widget = AttentionWidget(cross, layer=1, head=3)
    widget.stack = "cross"
    assert (widget.layer, widget.head) == (3, 3)
    widget.layer = 7
    assert widget.head == 1
    widget.stack = "encoder"
    assert widget.layer == 1


def test_heads_are_in_order_and_once(record: AttentionRecord) -> None:
    assert AttentionWidget(record, heads=[3, 1, 3]).heads == [1, 3]


@pytest.mark.parametrize(
    ("head", "heads", "head_after", "heads_after"),
    [(3, [1, 3], 1, [1]), (3, [2, 3], 1, None), (0, [0, 1], 0, [0, 1]), (2, None, 1, None)],
)
def test_heads_stay_in_range_when_the_layer_changes(
    record: AttentionRecord, head: int, heads: Any, head_after: int, heads_after: Any
) -> None:
    widget = AttentionWidget(record, head=head, heads=heads)
    widget.layer = 1
    assert (widget.head, widget.heads) == (head_after, heads_after)


def test_choices_stay_in_range_when_the_stack_changes(stacks: AttentionRecord) -> None:
    widget = AttentionWidget(stacks, layer=1, head=3, heads=[1, 2], query=6, key=1)
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


@pytest.mark.parametrize("record", [None, [some_weights()], "record.safetensors"])
def test_a_widget_needs_a_record(record: Any) -> None:
    with pytest.raises(TypeError, match=r"expected an AttentionRecord.*from_arrays"):
        AttentionWidget(record)


def test_widgets_do_not_share_their_choices() -> None:
    record = record_of(layer_of(PROGRAMS["causal"]), layer_of(PROGRAMS["sinks"]))
    one, other = AttentionWidget(record), AttentionWidget(record)
    one.layer, one.heads = 1, [0]
    one.embed([0])
    assert (other.layer, other.heads, other._blocks) == (0, None, {})
