"""The kernel's side of the conversation, by the messages that arrive and leave."""

import base64
import json
import re
from typing import Any, get_args

import pytest
from ipywidgets import link
from ipywidgets.embed import embed_data
from traitlets import TraitError

from attnwidget import AttentionRecord, AttentionWidget
from attnwidget.record import Layer
from attnwidget.wire import encode_block, encode_overview
from attnwidget.wire.compression import FINE, LIMITS, Quality, pack_layer
from tests.unit.records import FIDELITY, PROGRAMS, floats, hybrid, layer_of, program, record_of


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


def _embedded(record: AttentionRecord, quality: Quality = "default") -> dict[str, Any]:
    """The state's part that `embed()` adds."""
    found = {}
    for layer in record.stack().layers:
        packed, data = pack_layer(layer, FINE if quality == "default" else LIMITS[quality])
        found[f"self.{layer.number}"] = packed | {"data": data}
    return found


def test_a_request_is_answered(
    widget: AttentionWidget, record: AttentionRecord, sent: list[Any]
) -> None:
    request = {"id": "a", "op": "block", "stack": "self", "layer": 1}
    _receive(widget, {"method": "custom", "content": request})
    block = encode_block(record.layer(1))
    content = {"id": "a", "parts": block.parts, "rounding": block.error}
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
    assert widget._blocks == _embedded(record)


def test_embed_takes_a_quality() -> None:
    """A block of a layer that is long enough to be rounded."""
    queries, keys = floats(2, 90, 8), floats(2, 90, 8, seed=1)
    record = record_of(Layer(queries, keys, program(), None, FIDELITY))
    sizes = []
    for quality in get_args(Quality):
        widget = AttentionWidget(record).embed(quality=quality)
        assert widget._blocks == _embedded(record, quality)
        sizes.append(len(widget._blocks["self.0"]["data"]))
    assert sizes == sorted(set(sizes))
    with pytest.raises(ValueError, match="quality is 'best'"):
        AttentionWidget(record).embed(quality="best")  # type: ignore[arg-type]


def test_embed_takes_layers_of_the_stack_shown(record: AttentionRecord) -> None:
    other = record_of(layer_of(PROGRAMS["softcap"])).stack()
    widget = AttentionWidget(AttentionRecord({"first": record.stack(), "second": other}))
    widget.embed([1])
    widget.stack = "second"
    widget.embed([0])
    assert set(widget._blocks) == {"second.0"}
    widget.embed()
    assert set(widget._blocks) == {"first.0", "first.1", "second.0"}


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
    expected = {("_blocks", key, "data"): block["data"] for key, block in _embedded(record).items()}
    assert buffers == expected


def test_a_page_of_ipywidgets_holds_what_is_as_it_was_at_first(record: AttentionRecord) -> None:
    """The program itself is such a default, and no kernel is there to fill it in."""
    widget = AttentionWidget(record)
    state = embed_data([widget])["manager_state"]["state"][widget.model_id]["state"]
    assert len(state["_esm"]) > 10_000
    assert (state["view"], state["layer"], state["query"], state["_note"]) == ("head", 0, None, "")


def test_a_state_that_the_host_does_not_take_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """It cannot be split, and would be the end of the notebook's connection."""
    monkeypatch.setenv("ATTNWIDGET_LARGEST_MESSAGE", "1_000_000")
    with pytest.raises(ValueError, match=r"state takes .* is 1,000,000: show it with static=True"):
        AttentionWidget(record_of(*[layer_of(PROGRAMS["causal"])] * 1200))
    queries, keys = floats(4, 2000, 64), floats(4, 2000, 64, seed=1)
    large = record_of(Layer(queries, keys, program(), None, FIDELITY))
    widget = AttentionWidget(large)
    with pytest.raises(ValueError, match="embed fewer layers, with layers=… or budget=…"):
        widget.embed(quality="exact")
    assert widget._blocks == {}
    widget.embed(budget=100_000)


def test_a_wrong_limit_of_messages_is_refused_at_once(
    record: AttentionRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTNWIDGET_LARGEST_MESSAGE", "5 MB")
    with pytest.raises(ValueError, match="ATTNWIDGET_LARGEST_MESSAGE is '5 MB'"):
        AttentionWidget(record)


def _updates(sent: list[tuple[Any, Any]]) -> dict[str, Any]:
    """The state that the view ends with, of what was sent to it."""
    states = [message["state"] for message, _ in sent if message["method"] == "update"]
    return {name: value for state in states for name, value in state.items()}


def _errors(sent: list[tuple[Any, Any]]) -> list[str]:
    contents = [message["content"] for message, _ in sent if message["method"] == "custom"]
    assert all(set(content) == {"error"} for content in contents)
    return [content["error"] for content in contents]


def _choose(widget: AttentionWidget, **state: Any) -> None:
    """Send a message as the view does; the kernel logs failures and goes on."""
    _receive(widget, {"method": "update", "state": state})


@pytest.mark.parametrize(
    ("state", "error"),
    [
        ({"layer": 2}, "TraitError: layer 2 does not exist: this stack has 2 layers, 0 to 1"),
        ({"stack": "decoder", "layer": 1}, "TraitError: no stack 'decoder'; this record has self"),
        ({"query": 7}, "TraitError: query position 7 does not exist: this record has 0 to 6"),
        ({"also": [1]}, "TraitError: also names more tokens beside a locked one"),
        ({"view": "tree"}, "TraitError: .*'head', 'model', 'neuron'"),
        ({"heads": []}, "TraitError: heads is empty"),
        ({"head": True}, "TraitError: .*expected an int"),
    ],
)
def test_what_the_record_lacks_is_said_and_taken_back(
    widget: AttentionWidget, sent: list[Any], state: dict[str, Any], error: str
) -> None:
    before = {name: getattr(widget, name) for name in state}
    with pytest.raises(TraitError):
        widget.set_state(state)
    [said] = _errors(sent)
    assert re.match(error, said)
    refused = next(iter(state))
    assert getattr(widget, refused) == _updates(sent)[refused] == before[refused]
    for name, value in _updates(sent).items():
        assert getattr(widget, name) == value


def test_the_rest_of_what_came_together_is_taken_over(
    widget: AttentionWidget, sent: list[Any]
) -> None:
    _choose(widget, head=9, layer=1, query=5)
    assert (widget.layer, widget.head, widget.query) == (1, 0, 5)
    assert _errors(sent) == ["TraitError: head 9 does not exist: this record has 0 to 3"]
    assert _updates(sent) == {"layer": 1, "head": 0, "query": 5}


def test_an_observer_that_fails_is_said_and_the_choice_holds(
    widget: AttentionWidget, sent: list[Any]
) -> None:
    heard: list[Any] = []

    def fail(change: Any) -> None:
        raise ValueError(f"no picture of {change.new}")

    widget.observe(fail, "query")
    widget.observe(lambda change: heard.append((change.name, change.new)), ["layer", "also"])
    _choose(widget, also=[4], query=2, layer=1)
    assert (widget.layer, widget.query, widget.also) == (1, 2, [4])
    assert heard == [("layer", 1), ("also", [4])]
    assert _errors(sent) == ["ValueError: no picture of 2"]
    assert _updates(sent) == {"layer": 1, "query": 2, "also": [4]}


def test_an_observer_may_correct_the_view(widget: AttentionWidget, sent: list[Any]) -> None:
    widget.observe(lambda _change: setattr(widget, "head", 3), "layer")
    _choose(widget, layer=1)
    assert _updates(sent) == {"head": 3}
    assert _errors(sent) == []


def test_what_the_view_chose_is_not_sent_back(widget: AttentionWidget, sent: list[Any]) -> None:
    _choose(widget, muted=[1], query=3, head=2)
    assert widget.muted == [1]
    assert _updates(sent) == {}


def test_nor_is_what_it_was_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Head 3 of layer 3 would become head 1 of layer 7, had the view not chosen head 0."""
    widget = AttentionWidget(AttentionRecord({"self": hybrid()}), head=3)
    sent: list[tuple[Any, Any]] = []
    monkeypatch.setattr(widget.comm, "send", lambda data, **_: sent.append((data, None)))
    _choose(widget, head=0, layer=7)
    assert (widget.layer, widget.head) == (7, 0)
    # ipywidgets 7 repeats to the view what the view chose.
    assert _updates(sent) in ({}, {"head": 0})


def test_what_another_version_of_the_view_sends_is_passed_over(
    widget: AttentionWidget, sent: list[Any]
) -> None:
    _choose(widget, zoom=2, head=1)
    assert widget.head == 1
    _choose(widget, zoom=2, head=9)
    assert _updates(sent) == {"head": 1}
    assert len(_errors(sent)) == 1


def test_a_widget_linked_to_one_that_lacks_a_value_says_so(
    widget: AttentionWidget, sent: list[Any]
) -> None:
    other = AttentionWidget(AttentionRecord({"self": hybrid()}))
    link((widget, "head"), (other, "head"))
    link((widget, "layer"), (other, "layer"), transform=(lambda n: n + 7, lambda n: n - 7))
    assert (other.layer, other.head) == (7, 0)
    _choose(widget, head=3)
    assert (widget.head, other.head) == (3, 0)
    assert _errors(sent) == ["TraitError: head 3 does not exist: this record has 0 to 1"]
