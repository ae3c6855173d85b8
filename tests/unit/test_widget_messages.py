"""The kernel's side of the conversation, by the messages that arrive and leave."""

import base64
import json
from typing import Any

import pytest
from ipywidgets.embed import embed_data

from attnwidget import AttentionRecord, AttentionWidget
from attnwidget.wire import encode_block, encode_overview
from tests.unit.records import PROGRAMS, hybrid, layer_of, record_of


@pytest.fixture
def record() -> AttentionRecord:
    return record_of(layer_of(PROGRAMS["causal"]), layer_of(PROGRAMS["everything"]))


@pytest.fixture
def widget(record: AttentionRecord) -> AttentionWidget:
    return AttentionWidget(record)


@pytest.fixture
def sent(widget: AttentionWidget, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, Any]]:
    """(message, buffers) of everything that leaves on the widget's comm."""
    messages: list[tuple[Any, Any]] = []
    monkeypatch.setattr(
        widget.comm, "send", lambda data, buffers=None, **_: messages.append((data, buffers))
    )
    return messages


def _receive(widget: AttentionWidget, data: dict[str, Any]) -> None:
    widget._handle_msg({"content": {"data": data}, "buffers": []})


def test_a_request_is_answered(
    widget: AttentionWidget, record: AttentionRecord, sent: list[Any]
) -> None:
    request = {"id": "a", "op": "block", "stack": "self", "layer": 1}
    _receive(widget, {"method": "custom", "content": request})
    block = encode_block(record.layer(1))
    content = {"id": "a", "parts": block.parts}
    assert sent == [({"method": "custom", "content": content}, block.buffers)]


def test_an_impossible_request_is_answered_too(widget: AttentionWidget, sent: list[Any]) -> None:
    request = {"id": "b", "op": "block", "stack": "self", "layer": 7}
    _receive(widget, {"method": "custom", "content": request})
    [(message, buffers)] = sent
    assert message["content"]["id"] == "b"
    assert "layer 7 does not exist" in message["content"]["error"]
    assert buffers == []


@pytest.mark.parametrize("content", [None, "hello", {}, {"id": None, "op": "block"}])
def test_other_messages_are_passed_over(
    widget: AttentionWidget, sent: list[Any], content: Any
) -> None:
    _receive(widget, {"method": "custom", "content": content})
    assert sent == []


def test_a_choice_made_in_the_view_arrives(widget: AttentionWidget) -> None:
    seen: list[Any] = []
    widget.observe(lambda change: seen.append((change.name, change.new)), ["layer", "query"])
    _receive(widget, {"method": "update", "state": {"layer": 1, "head": 3, "query": 5}})
    assert (widget.layer, widget.head, widget.query) == (1, 3, 5)
    assert sorted(seen) == [("layer", 1), ("query", 5)]


def test_another_stack_and_its_layer_arrive_together(record: AttentionRecord) -> None:
    """Neither of them could come first."""
    widget = AttentionWidget(AttentionRecord({"self": record.stack(), "other": hybrid()}), layer=1)
    state = {"stack": "other", "layer": 11, "head": 5, "query": None}
    _receive(widget, {"method": "update", "state": state})
    assert (widget.stack, widget.layer, widget.head) == ("other", 11, 5)
    _receive(widget, {"method": "update", "state": {"head": 3, "layer": 0, "stack": "self"}})
    assert (widget.stack, widget.layer, widget.head) == ("self", 0, 3)


def test_a_choice_made_in_python_leaves(widget: AttentionWidget, sent: list[Any]) -> None:
    widget.layer = 1
    assert [message for message, _ in sent] == [
        {"method": "update", "state": {"layer": 1}, "buffer_paths": []}
    ]


def test_the_first_state_is_the_overview_and_no_block(
    widget: AttentionWidget, record: AttentionRecord
) -> None:
    manifest, overview = encode_overview(record)
    state = widget.get_state()
    assert state["_manifest"] == manifest
    assert state["_overview"] == overview
    assert state["_blocks"] == {}


def test_embed_puts_layers_into_the_state(record: AttentionRecord) -> None:
    widget = AttentionWidget(record)
    assert widget.embed([1]) is widget
    assert set(widget._blocks) == {"self.1"}
    assert widget.embed() is widget
    assert set(widget._blocks) == {"self.0", "self.1"}
    for layer in range(2):
        block = encode_block(record.layer(layer))
        assert widget._blocks[f"self.{layer}"] == {"parts": block.parts, "buffers": block.buffers}


def test_embed_takes_the_layers_of_the_stack_shown(record: AttentionRecord) -> None:
    other = record_of(layer_of(PROGRAMS["softcap"])).stack()
    widget = AttentionWidget(AttentionRecord({"first": record.stack(), "second": other}))
    widget.embed([0])
    widget.stack = "second"
    widget.embed()
    assert set(widget._blocks) == {"first.0", "second.0"}


def test_embedded_layers_go_by_their_number() -> None:
    widget = AttentionWidget(AttentionRecord({"self": hybrid()})).embed()
    assert set(widget._blocks) == {"self.3", "self.7", "self.11"}


def test_embed_refuses_a_layer_that_does_not_exist(widget: AttentionWidget) -> None:
    with pytest.raises(IndexError, match="layer 2 does not exist"):
        widget.embed([0, 2])
    assert widget._blocks == {}


def test_a_saved_notebook_holds_what_was_embedded(record: AttentionRecord) -> None:
    """Its state is JSON, with the bytes in base64 and the places that they belong to."""
    widget = AttentionWidget(record).embed()
    saved = json.loads(json.dumps(embed_data([widget])["manager_state"]))
    state = saved["state"][widget.model_id]
    buffers = {tuple(b["path"]): base64.b64decode(b["data"]) for b in state["buffers"]}
    assert buffers.pop(("_overview",)) == encode_overview(record)[1]
    expected = {
        ("_blocks", f"self.{layer}", "buffers", index): data
        for layer in range(2)
        for index, data in enumerate(encode_block(record.layer(layer)).buffers)
    }
    assert buffers == expected
