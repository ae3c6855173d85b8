"""Arrays as bytes and bytes as text, without numpy."""

import base64
import math
import struct
from collections.abc import Sequence

from tests.vectors.reference import Json


def encode(dtype: str, values: Sequence[float]) -> bytes:
    """The bytes of an array: little-endian floats, or booleans from the highest bit down."""
    if dtype == "bits":
        out = bytearray(math.ceil(len(values) / 8))
        for n, value in enumerate(values):
            if value:
                out[n // 8] |= 128 >> n % 8
        return bytes(out)
    letter = {"f16": "e", "f32": "f"}[dtype]
    return struct.pack(f"<{len(values)}{letter}", *values)


def decode(dtype: str, values: Sequence[float]) -> list[float]:
    """The values after `encode` and decoding."""
    if dtype == "bits":
        return [float(bool(value)) for value in values]
    letter = {"f16": "e", "f32": "f"}[dtype]
    return list(struct.unpack(f"<{len(values)}{letter}", encode(dtype, values)))


def base64_of(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def encode_block(parts: list[Json], values: dict[str, Sequence[float]]) -> Json:
    """The parts of a layer with their bytes as base64."""
    data = [encode(part["dtype"], values[part["name"]]) for part in parts]
    return {"parts": parts, "buffers": [base64_of(item) for item in data]}
