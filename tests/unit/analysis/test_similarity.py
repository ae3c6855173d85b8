"""The similarity of heads: what is refused, and where it arrives."""

import json
from typing import Any

import numpy as np
import pytest
from traitlets import TraitError

from attnwidget import AttentionRecord, AttentionWidget
from tests.unit.elements import Elements
from tests.unit.records import labels, some_weights

HEADS = (4, 2)


@pytest.fixture(scope="module")
def record() -> AttentionRecord:
    """Layers of four and two heads."""
    return AttentionRecord.from_arrays([some_weights(n) for n in HEADS], labels())


def similarity(**changes: Any) -> dict[str, Any]:
    return {
        "label": "Jensen-Shannon distance",
        "kept": 0.71,
        "places": {"self": [np.ones((count, 2)) for count in HEADS]},
        "nearest": {"self": [[[(1, 0, 0.5), (0, 3, np.float32(0.75))]] * n for n in HEADS]},
        **changes,
    }


def test_it_is_offered_to_the_map_while_it_is_known(record: AttentionRecord) -> None:
    widget = AttentionWidget(record)
    with pytest.raises(TraitError, match="map_x 'similarity' does not exist: there are 'entropy'"):
        widget.map_x = "similarity"
    widget._similarity = similarity()
    widget.map_x = "similarity"
    with pytest.raises(TraitError, match="map_y 'similarity' does not exist"):
        widget.map_y = "similarity"
    widget._similarity = None
    assert widget.map_x == "distance"


def test_a_page_carries_it(record: AttentionRecord) -> None:
    widget = AttentionWidget(record, view="map")
    widget._similarity = similarity()
    widget.map_x = "similarity"
    [(_, text)] = Elements(widget.to_html()).all("script", "data-content")
    [sent] = json.loads(text)["widgets"]
    assert sent["choices"]["map_x"] == "similarity"
    assert sent["similarity"]["places"]["self"][0] == [[1, 1]] * 4
    assert sent["similarity"]["nearest"]["self"][1][1] == [[1, 0, 0.5], [0, 3, 0.75]]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ([], "similarity is list; expected a dict"),
        ({"label": ""}, "similarity has no kept, nearest, places"),
        (similarity(kept=71), "keeps 71 of the variance; expected a share"),
        (similarity(places={"other": []}), "has the stack 'other'; this record has self"),
        (similarity(places={"self": [np.ones((4, 2))]}), "has 4 heads by layer"),
        (
            similarity(places={"self": [np.full((n, 2), np.nan) for n in HEADS]}),
            r"place \(nan",
        ),
        (similarity(nearest={"self": [[[(7, 0, 1)]] * n for n in HEADS]}), "layer 7, head 0"),
        (similarity(nearest={"self": [[[(1, 2, 1)]] * n for n in HEADS]}), "layer 1, head 2"),
        (similarity(nearest={"self": [[[(1, 1, -1)]] * n for n in HEADS]}), "the distance -1.0"),
    ],
)
def test_what_is_none_is_refused(record: AttentionRecord, wrong: Any, message: str) -> None:
    widget = AttentionWidget(record)
    with pytest.raises(TraitError, match=message):
        widget._similarity = wrong
    assert widget._similarity is None
