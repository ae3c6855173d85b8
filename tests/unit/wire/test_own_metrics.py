"""Numbers of heads that a user computed: what is taken, what is refused, and where they arrive."""

import json
from typing import Any

import numpy as np
import pytest
import torch
from traitlets import TraitError

import attnwidget as aw
from attnwidget import AttentionRecord, AttentionWidget
from attnwidget.analysis import HeadScores
from attnwidget.wire import encode_own_metrics
from tests.unit.elements import Elements
from tests.unit.records import hybrid, labels, record_of, some_weights

HEADS = (4, 2, 3)


@pytest.fixture(scope="module")
def record() -> AttentionRecord:
    """Layers of four, two and three heads."""
    return AttentionRecord.from_arrays([some_weights(n) for n in HEADS], labels())


@pytest.fixture(scope="module")
def stacks() -> AttentionRecord:
    return AttentionRecord({"encoder": record_of(*hybrid().layers).stack(), "cross": hybrid()})


PADDED = np.arange(12.0).reshape(3, 4)
PADDED[1, 2:] = PADDED[2, 3] = np.nan
VALUES = [[0, 1, 2, 3], [4, 5], [8, 9, 10]]


@pytest.mark.parametrize(
    "given",
    [PADDED, VALUES, [np.array(row) for row in VALUES], torch.tensor(PADDED), PADDED.tolist()],
    ids=["padded", "lists", "arrays", "tensor", "padded lists"],
)
def test_numbers_of_every_head(record: AttentionRecord, given: Any) -> None:
    [metric] = encode_own_metrics(record, {"my score": given})
    assert metric["values"] == {"self": VALUES}
    assert (metric["name"], metric["label"], metric["unit"]) == ("my score", "my score", "")
    assert (metric["signed"], metric["digits"]) == (False, 0)


def test_scores_of_heads_bring_their_words_and_go_to_the_layers_of_the_record(
    record: AttentionRecord,
) -> None:
    rows = {"self": {layer: np.array(VALUES[layer], float) for layer in (2, 0)}}
    null = {"self": {layer: row / 2 for layer, row in rows["self"].items()}}
    scores = HeadScores(
        "effect", "The effect", rows, "nats", True, "2 texts", null, "random heads", rows, rows
    )
    [metric] = encode_own_metrics(record, {"mine": scores})
    expected = [VALUES[0], [None, None], VALUES[2]]
    assert metric["values"] == {"self": expected} == metric["interval"]["low"]
    assert metric["null"]["label"] == "random heads"
    assert metric["null"]["values"]["self"][2] == [4, 4.5, 5]
    assert (metric["unit"], metric["signed"]) == ("nats", True)
    assert metric["description"] == "The effect; of 2 texts"
    other = HeadScores("effect", "The effect", {"cross": rows["self"]})
    with pytest.raises(ValueError, match="'mine' has the stack 'cross'; this record has self"):
        encode_own_metrics(record, {"mine": other})
    other = HeadScores("effect", "The effect", {"self": dict.fromkeys(range(6), np.ones(12))})
    said = "of another model, with 6 layers of 12 heads; the record has 3 layers of 2 to 4 heads"
    with pytest.raises(ValueError, match=said):
        encode_own_metrics(record, {"mine": other})


def test_nan_is_no_value_and_a_negative_number_makes_it_signed(record: AttentionRecord) -> None:
    scores = [[0.5, np.nan, -0.25, 0.125], [np.nan, np.nan], [0.1, 0.2, 0.3]]
    [metric] = encode_own_metrics(record, {"s": scores})
    assert metric["values"]["self"][:2] == [[0.5, None, -0.25, 0.125], [None, None]]
    assert metric["signed"]
    json.dumps(metric, allow_nan=False)


@pytest.mark.parametrize(
    ("largest", "digits"),
    [(0.5, 3), (1.5, 2), (25.5, 1), (999.5, 0), (0.00123, 5), (1e-6, 8), (1e8 + 0.5, 0)],
)
def test_three_significant_digits_are_shown(
    record: AttentionRecord, largest: float, digits: int
) -> None:
    [metric] = encode_own_metrics(record, {"s": [[largest / 3] * 4, [0, 0], [-largest, 0, 0]]})
    assert metric["digits"] == digits


def test_whole_numbers_are_sent_as_they_are(record: AttentionRecord) -> None:
    [metric] = encode_own_metrics(record, {"s": [[1234567, 1234571, 0, 0], [0, 0], [0, 0, 0]]})
    assert metric["values"]["self"][0] == [1234567, 1234571, 0, 0]


def test_masked_numbers_are_no_values(record: AttentionRecord) -> None:
    row = np.ma.array([1, 2, 3, 4], mask=[0, 1, 0, 0])
    [metric] = encode_own_metrics(record, {"s": [row, [0, 0], [0, 0, 0]]})
    assert metric["values"]["self"][0] == [1, None, 3, 4]


def test_an_array_changed_in_place_shows_when_it_is_set_again(record: AttentionRecord) -> None:
    scores = [[1, 2, 3, 4], [1, 2], [1, 2, 3]]
    widget = aw.show(record, metrics={"s": scores})
    scores[0][0] = 9
    widget.metrics = {"s": scores}
    assert widget._metrics[0]["values"]["self"][0] == [9, 2, 3, 4]


def test_metrics_and_a_choice_of_them_are_set_together(record: AttentionRecord) -> None:
    widget = aw.show(record)
    with widget.hold_trait_notifications():
        widget.metrics = {"t": VALUES}
        widget.sort = "t"
    assert (widget.sort, widget._metrics[0]["name"]) == ("t", "t")


def test_metrics_of_several_stacks(stacks: AttentionRecord) -> None:
    shape = [layer.num_heads for layer in stacks.stack("cross").layers]
    scores = [np.ones(count) for count in shape]
    [metric] = encode_own_metrics(stacks, {"s": {"cross": scores}})
    assert list(metric["values"]) == ["cross"]
    with pytest.raises(
        ValueError, match=r"'s' does not say of which stack it is.*'encoder': \.\.\."
    ):
        encode_own_metrics(stacks, {"s": scores})
    with pytest.raises(ValueError, match="'s' has the stack 'decoder'; this record has encoder"):
        encode_own_metrics(stacks, {"s": {"decoder": scores}})


def test_a_null_and_an_interval_come_with_the_values(stacks: AttentionRecord) -> None:
    shape = [layer.num_heads for layer in stacks.stack("cross").layers]
    own = {
        field: {"cross": [np.full(count, number) for count in shape]}
        for field, number in {"values": 0.5, "null": 0.25, "low": 0.4, "high": 0.6}.items()
    }
    [metric] = encode_own_metrics(stacks, {"s": own | {"null_label": "random weights"}})
    sent = {count: [[count] * heads for heads in shape] for count in (0.25, 0.4, 0.6)}
    assert metric["null"] == {"label": "random weights", "values": {"cross": sent[0.25]}}
    assert metric["interval"] == {"low": {"cross": sent[0.4]}, "high": {"cross": sent[0.6]}}
    [plain] = encode_own_metrics(stacks, {"s": {"cross": own["values"]["cross"]}})
    assert plain == {key: metric[key] for key in metric.keys() - {"null", "interval"}}


WRONG: list[tuple[Any, str]] = [
    ({"s": np.ones((2, 4))}, r"'s' has the shape \[2, 4\]; expected rows of 4, 2, 3 numbers"),
    ({"s": np.ones((3, 4))}, r"'s' has the shape \[3, 4\]; expected rows of 4, 2, 3 numbers"),
    ({"s": [[1, 2, 3, 4], [1], [1, 2, 3]]}, "'s' has rows of 4, 1, 3 numbers; expected rows of 4"),
    ({"s": np.ones(3)}, r"'s' has the shape \[3\]"),
    ({"s": np.ones((3, 4, 2))}, r"'s' has the shape \[3, 4, 2\]"),
    ({"s": 3}, r"'s' is int; expected an array \[layers, heads\]"),
    ({"s": "high"}, "'s' is str"),
    ({"s": [["a"] * 4, [1, 2], [1, 2, 3]]}, "'s' has a row of <U1 .*; expected real numbers"),
    ({"s": [[1j] * 4, [1, 2], [1, 2, 3]]}, "'s' has a row of complex128"),
    ({"s": [[np.inf] * 4, [1, 2], [1, 2, 3]]}, "'s' has an infinite number"),
    ({"entropy": VALUES}, "'entropy': this name is taken"),
    ({"pattern": VALUES}, "'pattern': this name is taken"),
    ({"": VALUES}, "the name ''; expected 1 to 200 printable characters"),
    ({"a\nb": VALUES}, "expected 1 to 200 printable characters"),
    ({7: VALUES}, "the name 7; expected a string"),
    ({f"s{n}": VALUES for n in range(257)}, "metrics has 257 metrics; at most 256"),
    ({"s": {"values": VALUES, "zero": VALUES}}, "'s' has 'zero'; there are values, null, null_lab"),
    ({"s": {"values": VALUES, "null": [[1], [2], [3]]}}, r"'s: null' has the shape \[3, 1\]"),
    (
        {"s": {"values": VALUES, "null": VALUES, "null_label": ""}},
        "the null_label ''; expected 1 to",
    ),
    (
        {"s": {"values": VALUES, "low": VALUES}},
        "'s' has one end of its interval; give low and high",
    ),
    (
        {"s": {"values": VALUES, "low": PADDED + 1, "high": PADDED}},
        "'s' has a low .* above its high",
    ),
    ([VALUES], "metrics is list; expected a dict of names and arrays"),
]


@pytest.mark.parametrize(("metrics", "message"), WRONG)
def test_what_is_no_metric_is_named(record: AttentionRecord, metrics: Any, message: str) -> None:
    with pytest.raises(TraitError, match=message):
        aw.show(record, metrics=metrics)
    widget = AttentionWidget(record, metrics={"t": VALUES})
    with pytest.raises(TraitError, match=message):
        widget.metrics = metrics
    assert list(widget.metrics) == ["t"]
    assert [metric["name"] for metric in widget._metrics] == ["t"]


def test_heads_are_sorted_and_coloured_by_a_metric_that_is_there(record: AttentionRecord) -> None:
    widget = aw.show(record, view="model", metrics={"s": VALUES}, sort="s", color="s")
    assert (widget.sort, widget.color) == ("s", "s")
    with pytest.raises(TraitError, match=r"sort 't' does not exist: there are 'model', .*, 's'"):
        widget.sort = "t"
    widget.metrics = {"t": VALUES, "u": VALUES}
    assert (widget.sort, widget.color) == ("model", "pattern")
    widget.sort, widget.color = "t", "u"
    widget.metrics = {"u": VALUES}
    assert (widget.sort, widget.color) == ("model", "u")
    widget.map_x, widget.map_y, widget.map_size = "u", "first", "u"
    assert widget.get_state()["_metrics"] == encode_own_metrics(record, {"u": VALUES})
    widget.metrics = None
    assert (widget._metrics, widget.color) == ([], "pattern")
    assert (widget.map_x, widget.map_y, widget.map_size) == ("distance", "first", "none")


def test_a_page_carries_each_widgets_own(record: AttentionRecord) -> None:
    one = aw.show(record, view="model", metrics={"s": VALUES}, sort="s", color="s")
    page = aw.to_html(one, aw.show(record))
    [(_, text)] = Elements(page).all("script", "data-content")
    content = json.loads(text)
    first, second = content["widgets"]
    assert len(content["records"]) == 1
    assert (first["choices"]["sort"], first["choices"]["color"]) == ("s", "s")
    assert first["metrics"] == one._metrics
    assert second["metrics"] == []
