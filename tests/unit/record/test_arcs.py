"""Annotated links over the lines: what is taken, what is refused, and which a head finds."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from traitlets import TraitError

import attnwidget as aw
from attnwidget import Arc, AttentionRecord, AttentionWidget
from attnwidget.plot.attention import Attention
from attnwidget.plot.head_plot import draw_head, finds
from attnwidget.wire import encode_arcs

TOKENS = ["[CLS]", "dogs", "chase", "cats", "[SEP]"]


@pytest.fixture(scope="module")
def record() -> AttentionRecord:
    """Head 0: mostly to [CLS] and to itself, then from "dogs" and "cats" to "chase"."""
    weights = np.full((2, 5, 5), 0.01)
    weights[0, :, 0] = 0.5
    weights[0, range(5), range(5)] = 0.3
    weights[0, [1, 3], 2] = 0.1
    weights[0, 2, 3] = 0.02
    record = AttentionRecord.from_arrays([weights / weights.sum(-1, keepdims=True)], TOKENS)
    stack = record.stack()
    tokens = replace(stack.queries, special=(0, 4))
    return AttentionRecord({"self": replace(stack, queries=tokens, keys=tokens)})


def found(record: AttentionRecord, arcs: list[Arc], head: int = 0) -> list[bool]:
    attention = Attention(record, "self", 0)
    return [finds(attention, record.weights(0, head), arc) for arc in encode_arcs(record, arcs)]


def test_special_tokens_and_the_token_itself_do_not_count(record: AttentionRecord) -> None:
    arcs = [Arc(1, 2), Arc(3, 2), Arc(2, 1), Arc(1, (2, 4)), Arc(1, (3, 4))]
    assert found(record, arcs) == [True, True, False, True, False]


def test_the_key_may_decide(record: AttentionRecord) -> None:
    # "chase" is attended to by "dogs" as much as by "cats", and the first counts.
    assert found(record, [Arc(1, 2, by="key"), Arc(3, 2, by="key")]) == [True, False]


def test_arcs_are_sent_saved_and_drawn(record: AttentionRecord) -> None:
    widget = AttentionWidget(record, arcs=iter([Arc(1, 2, "nsubj"), Arc((1, 2), 3)]))
    [first, second] = widget.get_state()["_arcs"]
    assert first == {
        "stack": "self", "query": [1, 2], "key": [2, 3], "label": "nsubj", "by": "query",
    }  # fmt: skip
    assert second["label"] == ""
    assert '"label":"nsubj"' in widget.to_html()
    figure = Figure(figsize=(5, 5))
    axes = figure.add_subplot()
    shown = widget._plotted()
    draw_head(axes, shown.attention, shown.stack_arcs)
    texts = [text.get_text() for text in figure.findobj(Text)]
    assert {"nsubj", "1 of 2 links found", "1 of 2 links"} <= set(texts)
    widget.arcs = None
    assert widget._arcs == []


@pytest.mark.parametrize(
    ("arcs", "message"),
    [
        ("obj", "expected a list of attnwidget.Arc"),
        (Arc(1, 2), "expected a list of attnwidget.Arc"),
        ([(1, 2)], r"expected attnwidget.Arc\(query, key, label\)"),
        ([Arc(1, 5)], "outside of the text: there are 5 tokens"),
        ([Arc((2, 2), 1)], "outside of the text"),
        ([Arc("dogs", 1)], "expected a token position"),
        ([Arc(1, 2, "x" * 61)], "up to 60 characters"),
        ([Arc(1, 2, stack="cross")], "this record has self"),
        ([Arc(1, 2, by="head")], "expected 'query' or 'key'"),
    ],
)
def test_what_is_no_arc_is_refused(record: AttentionRecord, arcs: Any, message: str) -> None:
    with pytest.raises(TraitError, match=message):
        aw.show(record, arcs=arcs)
    widget = AttentionWidget(record)
    with pytest.raises(TraitError, match=message):
        widget.arcs = arcs
    assert widget._arcs == []


def test_a_figure_leaves_out_what_the_view_does(record: AttentionRecord, tmp_path: Path) -> None:
    widget = AttentionWidget(record, arcs=[Arc(1, 2, "nsubj")], arcs_shown=False)
    widget.save_figure(tmp_path / "figure.svg")
    assert "nsubj" not in (tmp_path / "figure.svg").read_text()
