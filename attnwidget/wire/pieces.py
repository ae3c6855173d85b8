"""Messages to the browser: the largest that a host takes, and larger replies in pieces."""

from __future__ import annotations

import json
import os
from typing import Any

from .later import Reply

MESSAGE_VARIABLE = "ATTNWIDGET_LARGEST_MESSAGE"

# In bytes. This is about messages alone: which layers the browser's memory has room for is said by
# LARGEST_BLOCK of js/src/data/record-stack.ts.
_USUAL = 32 * 2**20
# The program of a view takes a third of it.
_LEAST = 1_000_000
# What a host puts around a message, at most.
_HEADERS = 4096


def largest_message() -> int | None:
    """The most bytes of a message in this host; None if the environment does not say it.

    Raises:
        ValueError: the environment variable ATTNWIDGET_LARGEST_MESSAGE is no such number.
    """
    value = os.environ.get(MESSAGE_VARIABLE, "")
    if not value:
        return None
    try:
        number = int(value)
    except ValueError:
        number = 0
    if number < _LEAST:
        raise ValueError(
            f"{MESSAGE_VARIABLE} is {value!r}; expected a number of bytes from {_LEAST:_}, as "
            "5_000_000"
        )
    return number


def message_size(message: Any) -> int:
    """The size in bytes of a message: of its JSON, and of the buffers in it."""
    sizes: list[int] = []
    text = json.dumps(message, default=lambda buffer: sizes.append(len(buffer)))
    return len(text) + sum(sizes) + _HEADERS


def in_pieces(send: Reply, largest: int | None) -> Reply:
    """A function that sends replies, those larger than a message may be in pieces.

    A piece is {id, at, sizes} with one buffer: the bytes from `at` on of the reply's JSON and all
    of its buffers, one after the other, which have these sizes.

    Args:
        largest: see `largest_message`; 32 MB if None.
    """
    room = (largest or _USUAL) - _HEADERS

    def reply(content: dict[str, Any], buffers: list[bytes]) -> None:
        whole = [json.dumps(content).encode(), *buffers]
        sizes = list(map(len, whole))
        if sum(sizes) <= room:
            send(content, buffers)
            return
        data = b"".join(whole)
        for at in range(0, len(data), room):
            piece = {"id": content["id"], "at": at, "sizes": sizes}
            send(piece, [data[at : at + room]])

    return reply
