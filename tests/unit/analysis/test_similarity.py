"""The similarity of heads: where it arrives."""

import json
from typing import Any

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


def similarity() -> dict[str, Any]:
    return {
        "label": "Jensen-Shannon distance",
        "kept": 0.71,
        "places": {"self": [[[1, 1]] * count for count in HEADS]},
        "nearest": {"self": [[[(1, 0, 0.5), (0, 3, 0.75)]] * n for n in HEADS]},
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
