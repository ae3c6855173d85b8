"""Decoders in Python, for tests and benchmarks, of what a page holds; browsers have their own."""

from __future__ import annotations

import base64
import string
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from attnwidget.wire.block import Part

_BITS = {"f16": 16, "f32": 32, "i8": 8, "i16": 16, "bits": 1}
_KINDS = {"f16": "<f2", "f32": "<f4", "i8": "i1", "i16": "<i2"}

# The digits of base 85: those of Python's b85encode (RFC 1924), and those of pages.
_RFC_1924 = (
    string.digits + string.ascii_uppercase + string.ascii_lowercase + "!#$%&()*+-;<=>?@^_`{|}~"
)
_OF_PAGES = "".join(sorted({*map(chr, range(33, 127))} - {*"\"$&'<>\\`{"}))
_TO_PAGE, _FROM_PAGE = (
    str.maketrans(*pair) for pair in ((_RFC_1924, _OF_PAGES), (_OF_PAGES, _RFC_1924))
)


def to_base85(data: bytes) -> str:
    """The text of bytes in a page."""
    return base64.b85encode(data).decode().translate(_TO_PAGE)


def from_base85(text: str) -> bytes:
    """The bytes of a page's text."""
    return base64.b85decode(text.translate(_FROM_PAGE))


def part_buffers(parts: Sequence[Part], data: bytes) -> list[bytes]:
    """The bytes of each part, which lie one after the other."""
    buffers, at = [], 0
    for part in parts:
        size = -(-int(np.prod(part["shape"])) * _BITS[part["dtype"]] // 8)
        buffers.append(data[at : at + size])
        at += size
    assert at == len(data)
    return buffers


def decode_floats(part: Part, data: bytes) -> NDArray[np.float32]:
    """An array of floats."""
    return np.frombuffer(data, _KINDS[part["dtype"]]).astype(np.float32).reshape(part["shape"])


def decode_arrays(parts: Iterable[Part], buffers: Iterable[bytes]) -> dict[str, np.ndarray]:
    """The arrays of a block by what its parts say, with coded integers restored."""
    arrays: dict[str, np.ndarray] = {}
    for part, data in zip(parts, buffers, strict=True):
        count = int(np.prod(part["shape"]))
        if part["dtype"] == "bits":
            assert len(data) == -(-count // 8)
            bits = np.unpackbits(np.frombuffer(data, np.uint8))
            assert not bits[count:].any(), "padded with zeros"
            values = bits[:count].astype(bool)
        else:
            values = np.frombuffer(data, _KINDS[part["dtype"]])
        arrays[part["name"]] = values.reshape(part["shape"])
    for name in [name for name in arrays if f"{name}_channels" in arrays]:
        channels, low = arrays.pop(f"{name}_channels"), arrays.pop(f"{name}_low")
        arrays[name] = _integers(arrays[name], channels, low)
    return arrays


def _integers(
    symbols: NDArray[np.int8], channels: NDArray[np.int16], low: NDArray[np.bool_]
) -> NDArray[np.int64]:
    ranks, shifts, centres = channels.astype(np.int64)
    length = symbols.shape[-1]
    values = np.empty((len(ranks), length), np.int64)
    in_order = sorted(range(len(ranks)), key=lambda channel: (ranks[channel], channel))
    values[in_order] = symbols.reshape(-1, length)
    values = (values + centres[:, None]) << shifts[:, None]
    at = 0
    for bit in range(int(shifts.max())):
        for channel in np.flatnonzero(shifts > bit):
            values[channel] += low[at : at + length].astype(np.int64) << bit
            at += length
    assert at == len(low)
    return values.reshape(symbols.shape)
