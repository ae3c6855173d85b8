"""blocks.json: the arrays of a layer as the bytes that the wire carries."""

import math
from typing import Any

from tests.vectors.encoding import decode, encode_block
from tests.vectors.numbers import bits, eighths
from tests.vectors.reference import Json

# Zeros, numbers that float16 rounds (two of them halfway), and its largest that is still sent.
ORDINARY = [0.0, -0.0, 1.0, -2.5, 0.1, 1 / 3, 1000.3, -4096.7, 2049.0, 2051.0, 65472.0, -65472.0]
# The smallest of all, the largest below normal, the smallest normal one, and some between.
SUBNORMAL = [2.0**-24, -1023 * 2.0**-24, 2.0**-14, 1.1 * 2.0**-15, 2.0**-26, -3e-7]
LARGE = [65504.0, 1e-3, -7e5, 0.1, 3e30, 1.0]


def cases() -> list[Json]:
    return [
        _case("ordinary numbers", queries=("f16", [2, 3, 2], ORDINARY), keys=("f16", [1, 3, 2])),
        _case("subnormal numbers", queries=("f16", [1, 3, 2], SUBNORMAL), keys=("f16", [1, 3, 2])),
        _case("too large for float16", queries=("f32", [1, 3, 2], LARGE), keys=("f16", [1, 2, 2])),
        _case(
            "mask and bias shared",
            queries=("f16", [2, 3, 2]),
            keys=("f16", [2, 5, 2]),
            visible=("bits", [1, 3, 5], bits("shared", 15)),
            bias=("f16", [1, 3, 5]),
        ),
        _case(
            "mask and bias per head",
            queries=("f16", [2, 3, 2]),
            keys=("f16", [2, 3, 2]),
            visible=("bits", [2, 3, 3], bits("per head", 18)),
            bias=("f32", [2, 3, 3], [-1e5, 0.3] + 16 * [0.125]),
        ),
        _case(
            "bias over distances, and of one row",
            queries=("f16", [2, 3, 2]),
            keys=("f16", [1, 5, 2]),
            bias=("f16", [2, 1, 5]),
            relative=("f16", [2, 7], 7 * [0.1, -3.3]),
        ),
        _case("weights alone", weights=("f16", [2, 2, 3], 2 * [0.1, 0.2, 0.7, 1.0, 0.0, 0.0])),
        _case(
            "weights with queries and keys",
            queries=("f16", [1, 2, 2]),
            keys=("f16", [1, 2, 2]),
            weights=("f16", [1, 2, 2], [0.999, 0.001, 1e-6, 1 - 1e-6]),
        ),
    ]


def _case(name: str, **arrays: tuple[Any, ...]) -> Json:
    """`values` go in, `decoded` is what the browser gets out."""
    parts, values, decoded = [], {}, {}
    for part, (dtype, shape, *given) in arrays.items():
        parts.append({"name": part, "dtype": dtype, "shape": shape})
        values[part] = given[0] if given else eighths(f"{name}, {part}", math.prod(shape))
        decoded[part] = decode(dtype, values[part])
    return {"name": name, "values": values, **encode_block(parts, values), "decoded": decoded}
