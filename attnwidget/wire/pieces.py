"""Messages to the browser: the largest that a host takes, and larger replies in pieces."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from attnwidget.session import executed_without_reader, ipython

from .later import Reply

_VARIABLE = "ATTNWIDGET_LARGEST_MESSAGE"

# In bytes. This is about messages alone: which layers the browser's memory has room for is said by
# LARGEST_BLOCK of js/src/data/record-stack.ts.
_USUAL = 32 * 2**20
# The program of a view takes a third of it.
_LEAST = 1_000_000
# What a host puts around a message, at most.
_HEADERS = 4096


def in_pieces(send: Reply) -> Reply:
    """A function that sends replies, those larger than a message may be in pieces.

    A piece is {id, at, sizes} with one buffer: the bytes from `at` on of the reply's JSON and all
    of its buffers, one after the other, which have these sizes.
    """
    room = (_largest_message() or _USUAL) - _HEADERS

    def reply(content: dict[str, Any], buffers: list[bytes]) -> None:
        whole = [json.dumps(content).encode(), *buffers]
        sizes = list(map(len, whole))
        if sum(sizes) <= room:
            send(content, buffers)
            return
        data = b"".join(whole)
        for at in range(0, len(data), room):
            send({"id": content["id"], "at": at, "sizes": sizes}, [data[at : at + room]])

    return reply


def check_state(state: Mapping[str, Any], advice: str) -> None:
    """Raise a ValueError if a widget's state, which goes in one message, is larger than one may be.

    A state of any size passes where the environment sets no limit, and where nobody reads what is
    executed, so that no host is between.
    """
    largest = _largest_message()
    if largest is None or executed_without_reader(ipython()):
        return
    sizes: list[int] = []
    text = json.dumps(state, default=lambda buffer: sizes.append(len(buffer)))
    size = len(text) + sum(sizes) + _HEADERS
    if size > largest:
        raise ValueError(
            f"the widget's state takes {size:,} bytes, and {_VARIABLE} is {largest:,}: {advice}"
        )


def _largest_message() -> int | None:
    """The most bytes of a message; None if the environment does not say it."""
    value = os.environ.get(_VARIABLE, "")
    try:
        number = int(value or _USUAL)
    except ValueError:
        number = 0
    if number < _LEAST:
        raise ValueError(
            f"{_VARIABLE} is {value!r}; expected a number of bytes from {_LEAST:_}, as 5_000_000"
        )
    return number if value else None
