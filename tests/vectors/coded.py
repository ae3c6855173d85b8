"""coded.json and rounded.json: entropy-coded integers, and blocks of layers made of them."""

import math
import struct
from collections.abc import Sequence
from random import Random

from tests.vectors.encoding import base64_of, encode
from tests.vectors.numbers import eighths
from tests.vectors.reference import Json

TOTAL = 4096
LEAST = 1 << 16


def integers() -> list[Json]:
    """Integers of every kind of channel and token, coded one by one as the format says."""
    random = Random("integers")
    wide = [round(random.gauss(0, 40)) for _ in range(60)]
    far = [round(random.gauss(700, 3)) for _ in range(60)]
    large = [-(2**22) + 1, 2**22 - 1, 0, 15, -16, 16, 7, -8, 8]
    return [
        _integers("one", [3], length=1, lanes=1, shift=0, centres=[0], tables=[0]),
        _integers("zeros", [0] * 40, length=8, lanes=4, shift=0, centres=[0] * 5, tables=[0] * 5),
        _integers("all sizes", large, length=9, lanes=2, shift=0, centres=[0], tables=[0]),
        _integers(
            "channels with centres, and tables of their own",
            wide + far,
            length=60,
            lanes=7,
            shift=3,
            centres=[0, 87],
            tables=[1, 0],
        ),
        _integers(
            "a shorter last channel",
            wide[:25],
            length=10,
            lanes=3,
            shift=2,
            centres=[-1, 1, -128],
            tables=[0, 1, 0],
        ),
    ]


def _integers(
    name: str,
    values: Sequence[int],
    *,
    length: int,
    lanes: int,
    shift: int,
    centres: Sequence[int],
    tables: Sequence[int],
) -> Json:
    tokens = []
    bits = ""
    for n, value in enumerate(values):
        left = value - (centres[n // length] << shift)
        zigzag = -2 * left - 1 if left < 0 else 2 * left
        width = zigzag.bit_length() - 3
        if zigzag < 16:
            tokens.append(zigzag)
            continue
        tokens.append(16 + 4 * (width - 2) + (zigzag >> width & 3))
        bits += format(zigzag & ((1 << width) - 1), f"0{width}b")
    size = max(tokens) + 1
    frequencies = []
    for table in range(max(tables) + 1):
        own = [t for n, t in enumerate(tokens) if tables[n // length] == table]
        # One each, and the rest to the most frequent one.
        row = [int(token in own) for token in range(size)]
        row[max(set(own), key=lambda token: (own.count(token), token))] += TOTAL - sum(row)
        frequencies.append(row)
    states = [LEAST] * lanes
    words: list[int] = []
    for n in reversed(range(len(tokens))):
        row = frequencies[tables[n // length]]
        frequency, start = row[tokens[n]], sum(row[: tokens[n]])
        state = states[n % lanes]
        if state >= frequency << 20:
            words.insert(0, state & 0xFFFF)
            state >>= 16
        states[n % lanes] = (state // frequency << 12) + state % frequency + start
    bits += "0" * (-len(bits) % 32)
    data = struct.pack("<IHBBIB", length, lanes, len(frequencies), size, len(words), shift)
    data += struct.pack(f"<{len(tables)}B{len(centres)}b", *tables, *centres)
    data += struct.pack(f"<{size * len(frequencies)}H", *(n for row in frequencies for n in row))
    data += struct.pack(f"<{lanes}I{len(words)}H", *states, *words)
    data += bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits), 8))
    return {"name": name, "values": list(values), "data": base64_of(data)}


def rounded() -> list[Json]:
    """Chosen so that rounding changes nothing: eighths, and matrices of whole numbers."""
    # The inverse of the second, too, has whole numbers only.
    turns = [[[1, 2, 0], [0, 1, 0], [3, 0, 1]], [[1, 0, 0], [0, 0, -1], [0, 1, 4]]]
    plain = [[[float(i == j) for j in range(3)] for i in range(3)]] * 2
    weights = [0.25, 0.0625, 0.5625, 0.0, 1.0, 0.0625]
    roots = [round(math.sqrt(weight) * 4) for weight in weights]
    return [
        _vectors("diagonals alone", plain, None, inner=[[0, 4, -4], [8, 0, 0]]),
        _vectors(
            "a full basis", turns, turns, inner=[[0, -4, 8], [4, 0, 0]], outer=[[4, 0, 0]] * 2
        ),
        {
            "name": "weights alone",
            **_block(
                ("weights", "coded", [1, 2, 3], roots),
                ("step", "f32", [1], [0.25]),
            ),
            "decoded": {"weights": weights},
        },
    ]


def _vectors(
    name: str,
    matrices: Sequence[Sequence[Sequence[float]]],
    turns: Sequence[Sequence[Sequence[int]]] | None,
    inner: Sequence[Sequence[int]],
    outer: Sequence[Sequence[int]] = ((0, 0, 0),) * 2,
) -> Json:
    """Four query heads of two key heads, 3 queries and 5 keys of 3 components."""
    step = 2.0**-8
    coefficients: dict[str, list[int]] = {"queries": [], "keys": []}
    decoded: dict[str, list[float]] = {"queries": [], "keys": []}
    for part, heads, tokens in (("queries", 4, 3), ("keys", 2, 5)):
        for head in range(heads):
            group = head * 2 // heads
            powers = [[2.0 ** (n / 4) for n in row[group]] for row in (outer, inner)]
            w = [
                [powers[0][i] * matrices[group][i][j] * powers[1][j] for j in range(3)]
                for i in range(3)
            ]
            turned = []
            for token in range(tokens):
                vector = eighths(f"{name}, {part}, {head}, {token}", 3)
                if part == "queries":
                    turned.append([sum(vector[i] * w[i][j] for i in range(3)) for j in range(3)])
                else:
                    # The integers are chosen, and the keys follow from them.
                    turned.append(vector)
                    vector = [sum(w[i][j] * vector[j] for j in range(3)) for i in range(3)]
                decoded[part] += vector
            for n in range(3):
                coefficients[part] += [int(vector[n] / step) for vector in turned]
    parts = [
        ("queries", "coded", [4, 3, 3], coefficients["queries"]),
        ("keys", "coded", [2, 3, 5], coefficients["keys"]),
        ("step", "f32", [1], [step]),
        ("inner", "i8", [2, 3], [n for row in inner for n in row]),
    ]
    if turns is not None:
        parts.append(("outer", "i8", [2, 3], [n for row in outer for n in row]))
        parts.append(("turns", "coded", [2, 3, 3], [n for m in turns for row in m for n in row]))
    return {"name": name, **_block(*parts), "decoded": decoded}


def _block(*arrays: tuple[str, str, list[int], Sequence[float]]) -> Json:
    parts: list[Json] = []
    buffers = []
    for name, dtype, shape, values in arrays:
        part: Json = {"name": name, "dtype": dtype, "shape": shape}
        if dtype == "coded":
            whole = [int(value) for value in values]
            case = _integers(
                name, whole, length=len(whole), lanes=2, shift=0, centres=[0], tables=[0]
            )
            buffers.append(case["data"])
            part["bytes"] = len(case["data"]) * 3 // 4 - case["data"].count("=")
        else:
            data = (
                struct.pack(f"{len(values)}b", *map(int, values))
                if dtype == "i8"
                else encode(dtype, values)
            )
            buffers.append(base64_of(data))
        parts.append(part)
    return {"parts": parts, "buffers": buffers}
