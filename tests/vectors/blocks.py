"""blocks.json: the arrays of a layer as the bytes that the wire carries."""

import math
from collections.abc import Sequence
from typing import Any

from tests.vectors.encoding import decode, encode_block, single
from tests.vectors.numbers import bits, eighths
from tests.vectors.reference import Json

# Zeros, numbers that float16 rounds (two of them halfway), and its largest that is still sent.
ORDINARY = [0.0, -0.0, 1.0, -2.5, 0.1, 1 / 3, 1000.3, -4096.7, 2049.0, 2051.0, 65472.0, -65472.0]
# The smallest of all, the largest below normal, the smallest normal one, and some between.
SUBNORMAL = [2.0**-24, -1023 * 2.0**-24, 2.0**-14, 1.1 * 2.0**-15, 2.0**-26, -3e-7]
# Components of one token that are halfway between two integers of the step.
HALFWAY = [32767.0, 2.5, -3.5, 0.0, -32767.0, 1.0]
LARGE = [65504.0, 1e-3, -7e5, 0.1, 3e30, 1.0]
STEPS = {"queries": "query_steps", "keys": "key_steps"}


def cases() -> list[Json]:
    return [
        _case("ordinary numbers", queries=("i16", [2, 3, 2]), keys=("i16", [1, 3, 2])),
        _case(
            "halfway between two steps, and zeros alone",
            queries=("i16", [1, 3, 2], [1e-5 * value for value in HALFWAY]),
            keys=("i16", [1, 3, 2], 6 * [0.0]),
        ),
        _case(
            "weights that integers would change",
            queries=("f32", [1, 3, 2], LARGE),
            keys=("f32", [1, 2, 2], [1.0, -1.0, 1e-3, 2e-3]),
        ),
        _case(
            "mask and bias shared",
            queries=("i16", [2, 3, 2]),
            keys=("i16", [2, 5, 2]),
            visible=("bits", [1, 3, 5], bits("shared", 15)),
            bias=("f16", [1, 3, 5]),
        ),
        _case(
            "mask and bias per head",
            queries=("i16", [2, 3, 2]),
            keys=("i16", [2, 3, 2]),
            visible=("bits", [2, 3, 3], bits("per head", 18)),
            bias=("f32", [2, 3, 3], [-1e5, 0.3] + 16 * [0.125]),
        ),
        _case(
            "bias over distances, and of one row",
            queries=("i16", [2, 3, 2]),
            keys=("i16", [1, 5, 2]),
            bias=("f16", [2, 1, 5]),
            relative=("f32", [2, 7], 7 * [0.1, -3.3]),
        ),
        _case(
            "a bias that float16 rounds",
            queries=("i16", [1, 3, 2]),
            keys=("i16", [1, 6, 2]),
            bias=("f16", [1, 3, 6], [*(value / 2**17 for value in ORDINARY), *SUBNORMAL]),
        ),
        _case("weights alone", weights=("f16", [2, 2, 3], 2 * [0.1, 0.2, 0.7, 1.0, 0.0, 0.0])),
        _case(
            "weights with queries and keys",
            queries=("i16", [1, 2, 2]),
            keys=("i16", [1, 2, 2]),
            weights=("f16", [1, 2, 2], [0.999, 0.001, 1e-6, 1 - 1e-6]),
        ),
    ]


def _case(name: str, **arrays: tuple[Any, ...]) -> Json:
    """`values` go in, `decoded` is what the browser gets out."""
    parts: list[Json] = []
    values, sent, decoded = {}, {}, {}
    for part, (dtype, shape, *given) in arrays.items():
        numbers = given[0] if given else eighths(f"{name}, {part}", math.prod(shape))
        values[part] = [single(number) for number in numbers]
        parts.append({"name": part, "dtype": dtype, "shape": shape})
        if dtype == "i16":
            steps, sent[part], decoded[part] = _integers(values[part], shape)
            sent[STEPS[part]] = steps
            parts.append({"name": STEPS[part], "dtype": "f32", "shape": [shape[0], shape[2]]})
        else:
            sent[part] = values[part]
            decoded[part] = decode(dtype, values[part])
    return {"name": name, "values": values, **encode_block(parts, sent), "decoded": decoded}


def _integers(
    values: Sequence[float], shape: Sequence[int]
) -> tuple[list[float], list[float], list[float]]:
    """(steps, integers, decoded values) of vectors [heads, tokens, components]."""
    heads, tokens, dim = shape
    steps = [
        single(max(abs(values[(head * tokens + t) * dim + n]) for t in range(tokens)) / 32767)
        for head in range(heads)
        for n in range(dim)
    ]
    of = [steps[at // (tokens * dim) * dim + at % dim] for at in range(len(values))]
    integers = [
        round(single(value / step)) if step else 0 for value, step in zip(values, of, strict=True)
    ]
    decoded = [single(n * step) for n, step in zip(integers, of, strict=True)]
    return steps, [float(n) for n in integers], decoded
