"""Choices of a widget, and the errors for everything else."""

import json
from typing import Any

import numpy as np
import pytest
import torch
from traitlets import TraitError

import attnwidget as aw
from attnwidget import AttentionRecord, AttentionWidget
from attnwidget.record import Layer
from attnwidget.view_state import ChoiceOptions
from attnwidget.widget import StaticView
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

# The initial value of each choice, and another one.
CHOICES: dict[str, tuple[Any, Any]] = {
    "view": ("head", "neuron"),
    "stack": ("self", "self"),
    "compared": ("a", "a"),
    "layer": (0, 1),
    "head": (0, 1),
    "heads": (None, [0, 1]),
    "query": (None, 6),
    "key": (None, 0),
    "also": ([], [5, 1]),
    "named_segments": ([], [(1, 3, "subject")]),
    "segments": ("all", "ab"),
    "combine": ("none", "layers_mean"),
    "lens": ("attention", "rollout"),
    "words": (False, True),
    "arcs_shown": (True, False),
    "orientation": ("vertical", "horizontal"),
    "picture": (True, False),
    "thumbnails": ("matrix", "image"),
    "sort": ("model", "entropy"),
    "color": ("pattern", "layer"),
    "opened": (False, True),
    "ranking": (False, True),
    "include_layers": (None, [0, 2]),
    "include_heads": (None, [1, 3]),
    "neurons": ("model", "sum"),
    "muted": ([], [2, 7]),
    "off": ([], [(0, 3), (1, 1)]),
    "cut": ([], [((0,), (1, 2), (1,), (0,)), ((2,), (0,), None, None)]),
    "expanded": (True, False),
    "parts": ("sentences", "messages"),
    # There is none without a running text, and none without an image.
    "part": (None, None),
    "grid": (None, None),
    "cut_part": (None, None),
    "map_x": ("distance", "first"),
    "map_y": ("entropy", "special"),
    "map_size": ("none", "entropy"),
    # There are no grids.
    "shown_grid": (0, 0),
    "theme": ("auto", "dark"),
}
OTHERS = {name: other for name, (_, other) in CHOICES.items()}


@pytest.fixture(scope="module")
def record() -> AttentionRecord:
    """Layers of four, two and three heads."""
    heads = (4, 2, 3)
    queries, keys = ([floats(n, LENGTH, DIM, seed=seed) for n in heads] for seed in (1, 2))
    weights = [some_weights(n) for n in heads]
    return AttentionRecord.from_arrays(weights, labels(), queries=queries, keys=keys)


@pytest.fixture(scope="module")
def weights_alone() -> AttentionRecord:
    return AttentionRecord.from_arrays([some_weights()], labels())


def _choices(widget: AttentionWidget) -> dict[str, Any]:
    return {name: getattr(widget, name) for name in widget.trait_names(choice=True)}


def test_the_choices_it_starts_with(record: AttentionRecord) -> None:
    widget = AttentionWidget(record)
    assert widget.record is record
    assert _choices(widget) == {name: first for name, (first, _) in CHOICES.items()}


def test_every_choice_can_be_made_from_the_start_and_later(record: AttentionRecord) -> None:
    later = AttentionWidget(record)
    for name, value in OTHERS.items():
        setattr(later, name, value)
    assert _choices(AttentionWidget(record, **OTHERS)) == OTHERS
    assert _choices(aw.show(record, **OTHERS)) == OTHERS
    assert _choices(later) == OTHERS
    assert set(later.get_state()) >= set(OTHERS)


@pytest.mark.parametrize(
    "name", sorted(set(CHOICES) - {"stack", "compared", "part", "cut_part", "grid", "shown_grid"})
)
def test_every_choice_can_be_observed(record: AttentionRecord, name: str) -> None:
    before = {"also": {"query": 2}}.get(name, {})
    widget = AttentionWidget(record, **before)
    heard: list[Any] = []
    widget.observe(lambda change: heard.append((change.old, change.new)), name)
    first, other = CHOICES[name]
    setattr(widget, name, other)
    setattr(widget, name, other)
    setattr(widget, name, first)
    assert heard == [(first, other), (other, first)]


def test_a_choice_is_told_with_its_options_in_python(record: AttentionRecord) -> None:
    """Names that a type checker takes are those that exist, and the other way round."""
    assert {"view", *ChoiceOptions.__annotations__} == set(CHOICES)


def test_a_token_is_locked_by_its_text() -> None:
    record = aw.AttentionRecord.from_arrays([np.full((2, 4, 4), 0.25)], ["it", "ran", "s", "It"])
    widget = aw.AttentionWidget(record, query="it", key="It")
    assert (widget.query, widget.key) == (0, 3)
    widget.query = "ran"
    assert widget.query == 1
    for text, words in (
        ("IT", "occurs 2 times, at the positions 0, 3: give"),
        ("ot", "no tok"),
    ):
        with pytest.raises(TraitError, match=words):
            widget.query = text
    with pytest.raises(TraitError, match="key: 'rans' is the tokens 1 to 2: give one"):
        widget.key = "rans"
    assert (widget.query, widget.key) == (1, 3)


WRONG: list[tuple[str, Any, str]] = [
    ("view", "tree", "'head', 'model', 'neuron'"),
    ("stack", "decoder", "no stack 'decoder'; this record has self"),
    ("layer", 3, "layer 3 does not exist: this stack has 3 layers, 0 to 2"),
    ("layer", 99, "layer 99 does not exist"),
    ("layer", -1, "layer -1 does not exist"),
    ("layer", "1", "expected an int"),
    ("layer", True, "expected an int, not the bool True"),
    ("layer", 1.0, "expected an int"),
    ("layer", np.True_, "expected an int"),
    ("layer", None, "expected an int"),
    ("head", 4, "head 4 does not exist: this record has 0 to 3"),
    ("head", -1, "head -1 does not exist"),
    ("heads", [], "heads is empty; give at least one, or None for all"),
    ("heads", [0, 4], "head 4 does not exist"),
    ("heads", [-1], "head -1 does not exist"),
    ("heads", 1, r"heads is 1; expected several numbers, as \[0, 5\], or None for all"),
    ("heads", ["1"], r"heads is \['1'\]; expected several numbers"),
    ("heads", "all", r"heads is \['all'\]; expected several .* or None for all"),
    ("heads", [True], r"heads is \[True\]; expected several numbers"),
    ("heads", np.eye(2, dtype=int), "expected several numbers"),
    ("query", 7, "query position 7 does not exist: this record has 0 to 6"),
    ("query", -1, "query position -1 does not exist"),
    ("query", True, "expected an int or None, not the bool True"),
    ("key", 7, "key position 7 does not exist: this record has 0 to 6"),
    ("key", np.float32(1), "expected an int or None"),
    ("off", ["1-5"], r"off is \['1-5'\]; expected \(layer, head\) pairs, as \[\(1, 5\)\]"),
    ("off", (1, 5), r"off is \[1, 5\]; expected \(layer, head\) pairs"),
    ("off", 1, "off is 1; expected .layer, head. pairs"),
    ("also", [1], "set query or key first"),
    ("also", None, r"also is None; expected several numbers, as \[0, 5\]$"),
    ("combine", "median", "'none', 'mean', 'max', 'layers_mean', 'layers_max'"),
    ("words", "no", "expected a boolean"),
    ("orientation", "diagonal", "'vertical', 'horizontal'"),
    ("thumbnails", "dots", "'matrix', 'lines'"),
    ("sort", "size", "'model', 'pair', 'entropy', 'distance', .*'special'"),
    ("color", "head", "'pattern', 'layer', 'pair', 'entropy', .*'special'"),
    ("color", np.eye(4), r"color is ndarray; expected a name.* metrics=\{'my score': array\}"),
    ("sort", None, "sort is NoneType; expected a name, as 'entropy'"),
    ("opened", None, "expected a boolean"),
    ("include_layers", [], "include_layers is empty; give at least one, or None for all"),
    ("include_layers", [0, 3], "layer 3 does not exist: this stack has 3 layers, 0 to 2"),
    ("include_heads", [], "include_heads is empty; give at least one, or None for all"),
    ("include_heads", [4], "head 4 does not exist: this record has 0 to 3"),
    ("neurons", "max", "'model', 'pair', 'sum'"),
    ("muted", [8], "neuron 8 does not exist: this record has 0 to 7"),
    ("muted", [-1], "neuron -1 does not exist"),
    ("muted", None, "muted is None; expected several numbers"),
    ("expanded", "yes", "expected a boolean"),
    ("parts", "words", "'sentences', 'paragraphs', 'messages'"),
    ("part", 1, "stack 'self' has no running text with parts"),
    ("grid", 0, "stack 'self' has no grids of patches"),
    ("segments", "AB", "'all', 'aa', 'ab', 'ba', 'bb'"),
    ("theme", "blue", "'auto', 'light', 'dark'"),
]


@pytest.mark.parametrize(("name", "value", "message"), WRONG)
def test_a_choice_that_does_not_exist(
    record: AttentionRecord, name: str, value: Any, message: str
) -> None:
    if not (name == "layer" and value is None):  # from the start, this is the first layer
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


@pytest.mark.parametrize("layer", [0, 11, 99])
@pytest.mark.parametrize("head", [0, 99])
def test_a_stack_that_does_not_exist_is_named_first(
    cross: AttentionRecord, layer: int, head: int
) -> None:
    with pytest.raises(TraitError, match="no stack 'x'; this record has encoder, cross"):
        AttentionWidget(cross, stack="x", layer=layer, head=head)


def test_a_choice_that_is_misspelt(record: AttentionRecord) -> None:
    message = r"no choice hed; did you mean head\?"
    with pytest.raises(TypeError, match=message):
        AttentionWidget(record, layr=1, hed=2)
    with pytest.raises(TypeError, match=message):
        aw.show(record, layr=1, hed=2)


@pytest.mark.parametrize(
    "number",
    [np.int64(2), np.uint8(2), np.array(2), torch.tensor(2), some_weights()[0, 0].argmax()],
)
def test_a_number_may_come_from_an_array(record: AttentionRecord, number: Any) -> None:
    widget = AttentionWidget(record, query=number, heads=[number])
    widget.layer = widget.head = widget.key = number
    widget.include_heads = (number,)
    for chosen in (widget.layer, widget.head, widget.query, widget.key):
        assert chosen == int(number)
        assert type(chosen) is int
    assert widget.include_heads == [int(number)]
    json.dumps(_choices(widget))


@pytest.mark.parametrize(
    "heads", [range(1, 3), (2, 1), {1, 2}, np.array([2, 1, 1]), torch.tensor([1, 2])]
)
def test_several_numbers_may_come_from_anything_that_holds_them(
    record: AttentionRecord, heads: Any
) -> None:
    widget = AttentionWidget(record, heads=heads)
    widget.include_heads = heads
    assert widget.heads == widget.include_heads == [1, 2]
    assert {type(head) for head in widget.heads} == {int}


def test_a_head_must_exist_in_the_chosen_layer(record: AttentionRecord) -> None:
    with pytest.raises(TraitError, match="head 3 does not exist: this record has 0 to 1"):
        AttentionWidget(record, layer=1, head=3)


@pytest.fixture(scope="module")
def cross() -> AttentionRecord:
    """Layers 0 and 1 of seven tokens, and layers 3, 7 and 11 of as many."""
    return AttentionRecord(
        {"encoder": record_of(*map(layer_of, (PROGRAMS["causal"],) * 2)).stack(), "cross": hybrid()}
    )


def test_a_record_of_a_translation_opens_on_its_attention_to_the_source(
    cross: AttentionRecord,
) -> None:
    assert AttentionWidget(cross).stack == AttentionWidget(cross, stack=None).stack == "cross"
    assert AttentionWidget(cross, stack="encoder").stack == "encoder"


def test_without_a_layer_it_is_the_first_of_the_stack(cross: AttentionRecord) -> None:
    assert AttentionWidget(cross).layer == 3
    assert AttentionWidget(cross, stack="encoder").layer == 0
    assert AttentionWidget(cross, layer=None, stack="cross").layer == 3


def test_layers_go_by_their_number(cross: AttentionRecord) -> None:
    widget = AttentionWidget(cross, stack="cross", layer=11, head=5)
    assert (widget.layer, widget.head) == (11, 5)
    for wrong in (0, 2, 4):
        with pytest.raises(
            TraitError, match=f"layer {wrong} does not exist: this stack has layers 3, 7, 11"
        ):
            widget.layer = wrong
    assert widget.layer == 11


def test_numbers_are_in_order_and_once(record: AttentionRecord) -> None:
    widget = AttentionWidget(record, heads=[3, 1, 3], muted=[7, 0, 7], include_layers=[2, 0, 2])
    assert (widget.heads, widget.muted, widget.include_layers) == ([1, 3], [0, 7], [0, 2])
    # The first of those locked together is the one that others are compared with.
    assert AttentionWidget(record, query=0, also=[5, 2, 5]).also == [5, 2]


def test_layers_and_heads_of_the_model_view(cross: AttentionRecord) -> None:
    """Any head that some layer of the stack has, and layers by their numbers."""
    widget = AttentionWidget(cross, include_layers=[11, 3], include_heads=[5, 0])
    assert (widget.layer, widget.include_layers, widget.include_heads) == (3, [3, 11], [0, 5])
    with pytest.raises(TraitError, match="layer 4 does not exist: this stack has layers 3, 7, 11"):
        widget.include_layers = [3, 4]
    with pytest.raises(TraitError, match="head 6 does not exist: this record has 0 to 5"):
        widget.include_heads = [6]


def test_weights_alone_have_no_neurons(weights_alone: AttentionRecord) -> None:
    widget = AttentionWidget(weights_alone, muted=[])
    with pytest.raises(TraitError, match="weights alone: it has no neurons to mute"):
        widget.muted = [0]
    assert widget.muted == []


def test_tokens_of_one_side_are_locked_together(record: AttentionRecord) -> None:
    widget = AttentionWidget(record, key=6, also=[0, 6, 1])
    assert widget.also == [0, 1], "a token is locked once"
    with pytest.raises(TraitError, match="key position 7 does not exist: this record has 0 to 6"):
        widget.also = [7]
    assert widget.also == [0, 1]


def test_which_side_is_locked_together_follows_from_the_query() -> None:
    wide = Layer(floats(1, 3, DIM), floats(1, 5, DIM), program(), None, FIDELITY)
    widget = AttentionWidget(record_of(wide), key=0, also=[4])
    assert widget.also == [4]
    with pytest.raises(TraitError, match="query position 4 does not exist: this record has 0 to 2"):
        AttentionWidget(record_of(wide), query=0, key=0, also=[4])


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


@pytest.mark.parametrize("display", [AttentionWidget, StaticView])
def test_a_misspelt_choice_is_refused(record: AttentionRecord, display: Any) -> None:
    widget = display(record)
    with pytest.raises(AttributeError, match=r"has no choice qurey; did you mean query\?"):
        widget.qurey = 3
    with pytest.raises(
        AttributeError, match="has no choice zoom; it has view, stack, compared, layer, "
    ):
        widget.zoom = 2
    widget.query, widget.metrics = 3, {}
    assert widget.query == 3
