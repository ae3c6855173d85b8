"""A reply that is larger than a message may be comes in pieces, and is the same when joined."""

import json
from typing import Any

import pytest

from attnwidget.wire import in_pieces

# What is left of the least limit beside a host's headers.
ROOM = 1_000_000 - 4096
CONTENT = {"id": "a.1", "parts": [{"name": "é"}]}


@pytest.fixture(autouse=True)
def _limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTNWIDGET_LARGEST_MESSAGE", "1_000_000")


def _sent(buffers: list[bytes], content: dict[str, Any] = CONTENT) -> list[Any]:
    sent: list[Any] = []
    in_pieces(lambda *message: sent.append(message))(content, buffers)
    return sent


def _joined(pieces: list[Any]) -> tuple[Any, list[bytes]]:
    """What `docs/protocol.md` says."""
    whole = bytearray(sum(pieces[0][0]["sizes"]))
    for content, [data] in reversed(pieces):
        assert set(content) == {"id", "at", "sizes"}
        assert content["sizes"] == pieces[0][0]["sizes"]
        assert len(json.dumps(content)) + len(data) < 1_000_000
        whole[content["at"] : content["at"] + len(data)] = data
    buffers, end = [], 0
    for size in pieces[0][0]["sizes"]:
        buffers.append(bytes(whole[end : end + size]))
        end += size
    return json.loads(buffers[0]), buffers[1:]


@pytest.mark.parametrize("less", [0, 1])
def test_what_has_room_in_one_message_is_sent_as_it_is(less: int) -> None:
    buffers = [b"", bytes(ROOM - len(json.dumps(CONTENT)) - less)]
    assert _sent(buffers) == [(CONTENT, buffers)]


@pytest.mark.parametrize(
    ("more", "count"), [(1, 2), (ROOM, 2), (ROOM + 1, 3), (9 * ROOM, 10), (9 * ROOM + 7, 11)]
)
def test_the_pieces_are_the_reply(more: int, count: int) -> None:
    size = ROOM - len(json.dumps(CONTENT)) + more
    data = (b"attention" * (size // 9 + 1))[:size]
    buffers = [b"", data[: size // 3], b"", data[size // 3 :], b""]
    sent = _sent(buffers)
    assert len(sent) == count
    assert {content["id"] for content, _ in sent} == {"a.1"}
    assert _joined(sent) == (CONTENT, buffers)


def test_so_does_a_reply_of_text_alone() -> None:
    manifest = {"id": "b", "manifest": ["token"] * 200_000}
    sent = _sent([], manifest)
    assert len(sent) == 2
    assert _joined(sent) == (manifest, [])


@pytest.mark.parametrize("value", ["5 MB", "5e6", "0", "-1", "999_999"])
def test_a_wrong_limit_is_refused(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("ATTNWIDGET_LARGEST_MESSAGE", value)
    expected = (
        f"^ATTNWIDGET_LARGEST_MESSAGE is '{value}'; expected a number of bytes from 1_000_000"
    )
    with pytest.raises(ValueError, match=expected):
        in_pieces(lambda *message: None)


@pytest.mark.parametrize("value", [None, ""])
def test_without_a_limit_it_is_32_mb(monkeypatch: pytest.MonkeyPatch, value: str | None) -> None:
    if value is None:
        monkeypatch.delenv("ATTNWIDGET_LARGEST_MESSAGE")
    else:
        monkeypatch.setenv("ATTNWIDGET_LARGEST_MESSAGE", value)
    sent: list[Any] = []
    reply = in_pieces(lambda *message: sent.append(message))
    reply({"id": "a"}, [bytes(33_000_000)])
    reply({"id": "b"}, [bytes(34_000_000)])
    assert [content["id"] for content, _ in sent] == ["a", "b", "b"]
