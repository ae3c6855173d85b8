"""Arrays as bytes and bytes as text, without numpy."""

import base64
import math
import struct
from collections.abc import Sequence

from tests.vectors.reference import Json

_LETTERS = {"f16": "e", "f32": "f", "i8": "b", "i16": "h"}


def encode(dtype: str, values: Sequence[float]) -> bytes:
    """The bytes of an array: little-endian numbers, or booleans from the highest bit down."""
    if dtype == "bits":
        out = bytearray(math.ceil(len(values) / 8))
        for n, value in enumerate(values):
            if value:
                out[n // 8] |= 128 >> n % 8
        return bytes(out)
    if dtype in ("i8", "i16"):
        return struct.pack(f"<{len(values)}{_LETTERS[dtype]}", *map(int, values))
    return struct.pack(f"<{len(values)}{_LETTERS[dtype]}", *values)


def single(value: float) -> float:
    """The value in single precision."""
    [rounded] = struct.unpack("<f", struct.pack("<f", value))
    return float(rounded)


def decode(dtype: str, values: Sequence[float]) -> list[float]:
    """The values after `encode` and decoding."""
    if dtype == "bits":
        return [float(bool(value)) for value in values]
    return list(struct.unpack(f"<{len(values)}{_LETTERS[dtype]}", encode(dtype, values)))


def base64_of(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def encode_block(parts: list[Json], values: dict[str, Sequence[float]]) -> Json:
    """The parts of a layer with their bytes as base64."""
    data = [encode(part["dtype"], values[part["name"]]) for part in parts]
    return {"parts": parts, "buffers": [base64_of(item) for item in data]}
