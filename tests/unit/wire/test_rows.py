"""Rows and columns of layers that are too large for a view to hold are the layer's own."""

import threading
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import numpy as np
import pytest

from attnwidget import AttentionRecord, AttentionWidget
from attnwidget.record import Floats
from attnwidget.wire import Replies, columns
from tests.support import PATIENCE_SECONDS
from tests.unit.records import HEADS, LENGTH, PROGRAMS, layer_of, program, record_of, some_weights


class Reader:
    """Whoever waits for replies."""

    def __init__(self) -> None:
        self.heard: dict[str, tuple[dict[str, Any], list[bytes]]] = {}
        self.replies = Replies(self._hear)

    def _hear(self, content: dict[str, Any], buffers: list[bytes]) -> None:
        assert content["id"] not in self.heard, "one reply to each request"
        self.heard[content["id"]] = content, buffers

    def ask(self, record: AttentionRecord, id_: str, **place: Any) -> None:
        request = {"id": id_, "op": "row", "stack": "self", "layer": 0, **place}
        self.replies.to(record, request)

    def array(self, id_: str, name: str) -> Floats:
        """The reply, once it has arrived."""
        eventually(lambda: id_ in self.heard)
        content, [data] = self.heard[id_]
        [part] = content["parts"]
        assert (part["name"], part["dtype"]) == (name, "f32")
        array: Floats = np.frombuffer(data, "<f4").reshape(part["shape"])
        return array


def eventually(there: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not there():
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.fixture(params=[1, 20, columns._STEP], ids=["by row", "by a few rows", "at once"])
def step(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "_STEP", request.param)


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_row_and_column(step: None, name: str) -> None:
    record = record_of(layer_of(PROGRAMS[name]))
    layer = record.layer(0)
    scores = np.stack([layer.head_scores(head) for head in range(HEADS)])
    weights = np.stack([layer.head_weights(head) for head in range(HEADS)])
    reader = Reader()
    for at in range(LENGTH):
        reader.ask(record, f"query {at}", side="query", position=at)
        reader.ask(record, f"key {at}", side="key", position=at)
    for at in range(LENGTH):
        row = reader.array(f"query {at}", "scores")
        np.testing.assert_allclose(row, scores[:, at], rtol=1e-5, atol=1e-6)
        column = reader.array(f"key {at}", "weights")
        np.testing.assert_allclose(column, weights[:, :, at], rtol=1e-5, atol=1e-7)


def test_a_layer_of_weights_alone() -> None:
    weights = some_weights()
    record = AttentionRecord.from_arrays([weights], [f"t{n}" for n in range(LENGTH)])
    reader = Reader()
    reader.ask(record, "row", side="query", position=3)
    reader.ask(record, "column", side="key", position=5)
    assert np.array_equal(reader.array("row", "weights"), weights[:, 3])
    assert np.array_equal(reader.array("column", "weights"), weights[:, :, 5])


class Held:
    """Work on normalisers that goes on, step by step, only when the test lets it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.steps = 0
        self.go = threading.Semaphore(0)
        step = columns.Normalizers.step

        def held(normalizers: columns.Normalizers) -> None:
            self.go.acquire()
            step(normalizers)
            self.steps += 1

        monkeypatch.setattr(columns, "_STEP", 1)
        monkeypatch.setattr(columns.Normalizers, "step", held)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Held:
    return Held(monkeypatch)


def test_what_takes_long_is_in_nobodys_way(held: Held) -> None:
    record = record_of(layer_of(PROGRAMS["causal"]))
    reader = Reader()
    reader.ask(record, "column", side="key", position=2)
    reader.ask(record, "row", side="query", position=2)
    assert list(reader.heard) == ["row"]
    held.go.release(1000)
    reader.array("column", "weights")


def test_what_is_called_off_is_not_worked_for(held: Held) -> None:
    record = record_of(layer_of(PROGRAMS["causal"]))
    reader = Reader()
    for at in range(3):
        reader.ask(record, f"{at}", side="key", position=at)
    held.go.release(2)
    eventually(lambda: held.steps == 2)
    reader.replies.to(record, {"op": "abort", "of": ["0", "1", "2", "unknown", None]})
    aborted = {id_: ({"id": id_, "aborted": True}, []) for id_ in "012"}
    assert reader.heard == aborted
    held.go.release()
    eventually(lambda: not reader.replies._columns.replies.working)
    assert held.steps == 3
    # It goes on from there when it is wanted again, and does nothing twice.
    held.go.release(1000)
    reader.ask(record, "again", side="key", position=2)
    weights = np.stack([record.weights(0, head) for head in range(HEADS)])
    np.testing.assert_allclose(reader.array("again", "weights"), weights[:, :, 2], rtol=1e-5)
    assert held.steps == HEADS * LENGTH


def test_a_failure_is_said_and_is_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    record = record_of(layer_of(PROGRAMS["causal"]))
    reader = Reader()
    with monkeypatch.context() as patch:

        def fail(_: Any) -> None:
            raise MemoryError("no room")

        patch.setattr(columns.Normalizers, "step", fail)
        reader.ask(record, "bad", side="key", position=2)
        eventually(lambda: "bad" in reader.heard)
    assert reader.heard["bad"] == ({"id": "bad", "error": "MemoryError: no room"}, [])
    reader.ask(record, "good", side="key", position=2)
    assert reader.array("good", "weights").shape == (HEADS, LENGTH)


def test_large_scores_give_no_weight_beyond_one() -> None:
    """Products with one key alone may be rounded otherwise than beside the others."""
    layer = layer_of(program(scale=1e7, mask="causal"))
    reader = Reader()
    for at in range(LENGTH):
        reader.ask(record_of(layer), f"{at}", side="key", position=at)
        column = reader.array(f"{at}", "weights")
        assert ((column >= 0) & (column <= 1)).all()


class Interrupted(BaseException):
    """An exception that is no `Exception`, like KeyboardInterrupt."""


def test_an_interruption_is_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Any) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    record = record_of(layer_of(PROGRAMS["causal"]))
    reader = Reader()
    with monkeypatch.context() as patch:

        def interrupt(*_: Any) -> None:
            raise Interrupted

        patch.setattr(columns, "_scores", interrupt)
        with pytest.raises(Interrupted):
            reader.ask(record, "first", side="key", position=2)
    assert not reader.heard
    reader.ask(record, "second", side="key", position=3)
    for id_, position in (("first", 2), ("second", 3)):
        weights = np.stack([record.weights(0, head) for head in range(HEADS)])
        column = reader.array(id_, "weights")
        np.testing.assert_allclose(column, weights[:, :, position], rtol=1e-5, atol=1e-7)


def test_replies_are_sent_in_the_context_of_the_request() -> None:
    """Some kernels look there for the message that is replied to, and fail where there is none."""
    message = ContextVar[str]("message")
    seen: list[str] = []
    replies = Replies(lambda content, buffers: seen.append(message.get()))
    message.set("the request")
    request = {"id": "1", "op": "row", "stack": "self", "layer": 0, "side": "key", "position": 2}
    replies.to(record_of(layer_of(PROGRAMS["causal"])), request)
    eventually(lambda: not replies._columns.replies.working)
    assert seen == ["the request"]


def test_without_threads_it_is_done_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Any) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    reader = Reader()
    reader.ask(record_of(layer_of(PROGRAMS["sinks"])), "column", side="key", position=1)
    assert "column" in reader.heard


def test_a_closed_widget_stops_working(held: Held) -> None:
    widget = AttentionWidget(record_of(layer_of(PROGRAMS["causal"])))
    request = {"id": "c", "op": "row", "stack": "self", "layer": 0, "side": "key", "position": 1}
    content = {"method": "custom", "content": request}
    widget._handle_msg({"content": {"data": content}, "buffers": []})
    columns_ = widget._replies._columns
    assert columns_.replies.working
    widget.close()
    held.go.release()
    eventually(lambda: not columns_.replies.working)
    assert held.steps <= 1


def test_the_size_of_a_block_is_known_without_it() -> None:
    for name, own in PROGRAMS.items():
        record = record_of(layer_of(own))
        [layer] = AttentionWidget(record)._manifest["stacks"][0]["layers"]
        reader = Reader()
        reader.replies.to(record, {"id": name, "op": "block", "stack": "self", "layer": 0})
        _, buffers = reader.heard[name]
        assert layer["bytes"] == sum(map(len, buffers)), name
