"""Every request with an id gets exactly one reply that its reader can act on."""

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from attnwidget import AttentionRecord
from attnwidget.analysis import rollout
from attnwidget.record import ScoreProgram, Stack, Tokens
from attnwidget.wire import Replies, encode_block, encode_combined, encode_matrices
from attnwidget.wire.columns import Columns
from tests.unit.records import PROGRAMS, hybrid, layer_of, record_of

GOOD = {"id": "7", "op": "block", "stack": "self", "layer": 1}
COMBINED = {"id": "7", "op": "combined", "stack": "self"}


@pytest.fixture(scope="module")
def record() -> AttentionRecord:
    return record_of(layer_of(PROGRAMS["causal"]), layer_of(PROGRAMS["everything"]))


def reply_to(record: AttentionRecord, request: Any) -> Any:
    """The one reply to a request that is answered at once; None if there is none."""
    sent: list[Any] = []
    Replies(lambda *reply: sent.append(reply)).to(record, request)
    assert len(sent) < 2
    return sent[0] if sent else None


def test_a_block(record: AttentionRecord) -> None:
    block = encode_block(record.layer(1))
    reply = reply_to(record, GOOD)
    assert reply == ({"id": "7", "parts": block.parts, "rounding": block.error}, block.buffers)
    assert json.loads(json.dumps(reply[0])) == reply[0]


def test_layers_go_by_their_number() -> None:
    record = AttentionRecord({"self": hybrid()})
    reply = reply_to(record, GOOD | {"layer": 7})
    assert reply is not None
    assert reply[1] == encode_block(record.stack().layers[1]).buffers
    _assert_error(reply_to(record, GOOD), "layer 1 does not exist: this stack has layers 3, 7, 11")


def test_the_numbers_of_a_lens(record: AttentionRecord) -> None:
    request = GOOD | {"op": "lens", "lens": "rollout"}
    block = encode_matrices(rollout(record.stack())[1][None])
    reply = reply_to(record, request)
    assert reply == ({"id": "7", "parts": block.parts, "rounding": None}, block.buffers)
    gaps = reply_to(AttentionRecord({"self": hybrid()}), request | {"layer": 7})
    _assert_error(gaps, "^layer 7 is one of layers 3, 7, 11: rollout needs the attention of every")
    _assert_error(reply_to(record, request | {"lens": "mine"}), "^there is no lens 'mine'$")
    _assert_error(reply_to(record, request | {"lens": "scores"}), "follow from a layer's block$")
    _assert_error(reply_to(record, request | {"layer": 9}), "layer 9 does not exist")


def test_the_numbers_of_too_many_tokens_are_refused() -> None:
    many = 2**12 + 1
    weights = np.broadcast_to(np.float32(1 / many), (1, many, many))
    record = AttentionRecord.from_arrays([weights], [""] * many)
    request = {"id": "7", "op": "lens", "lens": "rollout", "stack": "self", "layer": 0}
    _assert_error(reply_to(record, request), "^layer 0 has too many tokens to show its rollout")


def test_what_combines_all_layers() -> None:
    record = AttentionRecord(
        {"self": hybrid(), "other": record_of(layer_of(PROGRAMS["sinks"])).stack()}
    )
    for stack in record.stacks:
        block = encode_combined(record.stack(stack))
        reply = reply_to(record, COMBINED | {"stack": stack})
        assert reply == ({"id": "7", "parts": block.parts, "rounding": None}, block.buffers)
        assert [part["name"] for part in block.parts] == ["mean", "max", "head"]
    refused = COMBINED | {"stack": "decoder"}
    _assert_error(reply_to(record, refused), "^no stack 'decoder'; this record has self, other$")


@pytest.mark.parametrize(
    "request_", [None, 5, "block", [], {}, {**GOOD, "id": None}, {**GOOD, "id": 7}, {"op": "block"}]
)
def test_what_has_no_id_gets_no_reply(record: AttentionRecord, request_: Any) -> None:
    assert reply_to(record, request_) is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"op": "delete"}, "does not know the request 'delete'.*restart the kernel"),
        ({"op": None}, "does not know the request None"),
        ({"layer": 2}, "layer 2 does not exist: this stack has 2 layers, 0 to 1"),
        ({"layer": -1}, "layer -1 does not exist"),
        ({"layer": 10**30}, "does not exist"),
        ({"layer": 0.5}, "layer"),
        ({"layer": "first"}, "layer"),
        ({"layer": None}, "layer"),
        ({"layer": True}, "layer"),
        ({"layer": {}}, "layer"),
        ({"stack": "decoder"}, "^no stack 'decoder'; this record has self$"),
        ({"stack": None}, "stack"),
        ({"op": "combined", "stack": None}, "^layers are combined of a stack"),
        ({"op": "row"}, "^a row is asked for by side"),
        ({"op": "row", "side": "value", "position": 0}, 'side, "query" or "key", not \'value\''),
        ({"op": "row", "side": "key"}, "^key position None does not exist: there are 0 to 6$"),
        ({"op": "row", "side": "query", "position": 7}, "^query position 7 does not exist"),
        ({"op": "row", "side": "query", "position": -1}, "^query position -1 does not exist"),
        ({"op": "row", "side": "key", "position": True}, "^key position True does not exist"),
        ({"op": "row", "side": "key", "position": 0, "layer": None}, "^a row is asked for"),
    ],
)
def test_what_cannot_be_done_is_said(
    record: AttentionRecord, change: dict[str, Any], message: str
) -> None:
    _assert_error(reply_to(record, GOOD | change), message)


def test_too_many_tokens_to_combine_are_refused_before_it_is_tried() -> None:
    tokens = Tokens(tuple("x" * 9000))
    vectors = np.zeros((1, 9000, 1), np.float32)
    layer = layer_of(ScoreProgram(1.0))
    layer = replace(layer, queries=vectors, keys=vectors, program=ScoreProgram(1.0))
    record = AttentionRecord({"self": Stack(tokens, tokens, (layer,))})
    _assert_error(reply_to(record, COMBINED), "^9000 x 9000 tokens are too many")


@pytest.mark.parametrize("name", ["layer", "stack"])
def test_a_request_without_all_it_needs(record: AttentionRecord, name: str) -> None:
    request = {key: value for key, value in GOOD.items() if key != name}
    _assert_error(reply_to(record, request), rf"\w+ .*{name}|{name}.* \w+")


def _assert_error(reply: Any, message: str) -> None:
    content, buffers = reply
    assert set(content) == {"id", "error"}
    assert content["id"] == "7"
    assert re.search(message, content["error"])
    assert buffers == []


DEEP: list[Any] = []
for _ in range(100_000):
    DEEP = [DEEP]
CYCLIC: dict[str, Any] = {}
CYCLIC["of"] = CYCLIC

STRANGE: list[Any] = [
    *(None, True, 0, -1, 1.5, 10**5000, float("nan"), float("inf"), "", "self", "\ud800"),
    *("\x1b[2J", "x" * 10**6, b"self", [], {}, [[]], {"a": 1}, DEEP, CYCLIC, object()),
    *("__class__", "combined"),
]


@pytest.mark.parametrize("field", ["id", "op", "stack", "layer", "side", "position", "of"])
def test_a_request_of_anything_is_answered_or_ignored(record: AttentionRecord, field: str) -> None:
    requests = [
        GOOD,
        {"id": "8", "op": "row", "stack": "self", "layer": 0, "side": "query", "position": 1},
        {"op": "abort", "of": ["7"]},
    ]
    for value in STRANGE:
        for request in requests:
            reply = reply_to(record, request | {field: value})
            # The reply fits a notebook's messages and holds nothing else.
            text = json.dumps(reply and reply[0], ensure_ascii=False, allow_nan=False)
            assert len(text.encode()) < 3000
            if field != "id" and "id" in request:
                assert reply is not None


def test_what_is_no_request_is_ignored(record: AttentionRecord) -> None:
    for request in STRANGE:
        assert reply_to(record, request) is None


def test_columns_that_nobody_takes_back_are_not_all_computed(record: AttentionRecord) -> None:
    sent: list[Any] = []
    columns = Columns(lambda *reply: sent.append(reply))
    # Held, so that nothing is answered in between.
    columns.replies._working = True
    for n in range(256):
        columns.request(f"{n}", ("self", 0), record.layer(0), 0)
    with pytest.raises(ValueError, match="256 columns are being computed"):
        columns.request("more", ("self", 0), record.layer(0), 0)
