"""coded.json and rounded.json: coded integers, and blocks of layers made of them."""

import math
from collections.abc import Sequence
from random import Random

from tests.vectors.encoding import encode_block
from tests.vectors.numbers import eighths
from tests.vectors.reference import Json

Coded = tuple[list[Json], dict[str, Sequence[float]]]


def integers() -> list[Json]:
    """Integers of every kind of channel, coded one by one as the format says."""
    random = Random("integers")
    wide = [[round(random.gauss(0, 900)) for _ in range(20)] for _ in range(2)]
    far = [round(random.gauss(7000, 3)) for _ in range(20)]
    return [
        _case("one", [[3]], ranks=[0], shifts=[0], centres=[0]),
        _case("zeros", [[0] * 8] * 5, ranks=[-24] * 5, shifts=[0] * 5, centres=[0] * 5),
        _case("far apart", [[-(2**24), 2**24, 0, 1, -1]], ranks=[9], shifts=[18], centres=[0]),
        _case(
            "channels with centres, in another order",
            [wide[0], far, wide[1]],
            ranks=[24, 6, 20],
            shifts=[5, 0, 6],
            centres=[1, 7000, -2],
        ),
        _case(
            "channels of equal ranks",
            [[5, 6, 7], [1, 2, 3], [-9, 0, 9]],
            ranks=[3, 3, 2],
            shifts=[1, 0, 2],
            centres=[0, 0, 0],
        ),
    ]


def _case(
    name: str,
    channels: Sequence[Sequence[int]],
    *,
    ranks: Sequence[int],
    shifts: Sequence[int],
    centres: Sequence[int],
) -> Json:
    shape = [len(channels), len(channels[0])]
    parts, sent = _integers("integers", channels, shape, ranks, shifts, centres)
    values = [value for channel in channels for value in channel]
    return {"name": name, "values": values, **encode_block(parts, sent)}


def _integers(
    name: str,
    channels: Sequence[Sequence[int]],
    shape: list[int],
    ranks: Sequence[int],
    shifts: Sequence[int],
    centres: Sequence[int],
) -> Coded:
    order = sorted(range(len(channels)), key=lambda channel: (ranks[channel], channel))
    symbols = [(v >> shifts[at]) - centres[at] for at in order for v in channels[at]]
    low = [
        value >> bit & 1
        for bit in range(max(shifts))
        for channel, shift in zip(channels, shifts, strict=True)
        if shift > bit
        for value in channel
    ]
    parts: list[Json] = [
        {"name": name, "dtype": "i8", "shape": shape},
        {"name": f"{name}_channels", "dtype": "i16", "shape": [3, len(channels)]},
        {"name": f"{name}_low", "dtype": "bits", "shape": [len(low)]},
    ]
    return parts, {
        name: symbols,
        f"{name}_channels": [*ranks, *shifts, *centres],
        f"{name}_low": low,
    }


def rounded() -> list[Json]:
    """Chosen so that rounding changes nothing: eighths, and matrices of whole numbers."""
    # The inverse of the second, too, has whole numbers only.
    turns = [[[1, 2, 0], [0, 1, 0], [3, 0, 1]], [[1, 0, 0], [0, 0, -1], [0, 1, 4]]]
    plain = [[[float(i == j) for j in range(3)] for i in range(3)]] * 2
    weights = [0.25, 0.0625, 0.5625, 0.0, 1.0, 0.0625]
    roots = [round(math.sqrt(weight) * 4) for weight in weights]
    # By key, then by query.
    by_key = [roots[query * 3 + key] for key in range(3) for query in range(2)]
    return [
        _vectors("diagonals alone", plain, None, inner=[[0, 4, -4], [8, 0, 0]]),
        _vectors(
            "a full basis", turns, turns, inner=[[0, -4, 8], [4, 0, 0]], outer=[[4, 0, 0]] * 2
        ),
        {
            "name": "weights alone",
            **_block(
                ("weights", "coded", [1, 3, 2], by_key),
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
        parts.append(("turns", "i8", [2, 3, 3], [n for m in turns for row in m for n in row]))
    return {"name": name, **_block(*parts), "decoded": decoded}


def _block(*arrays: tuple[str, str, list[int], Sequence[float]]) -> Json:
    parts: list[Json] = []
    sent: dict[str, Sequence[float]] = {}
    for name, dtype, shape, values in arrays:
        if dtype != "coded":
            parts.append({"name": name, "dtype": dtype, "shape": shape})
            sent[name] = values
            continue
        length = shape[-1]
        channels = [
            [int(value) for value in values[at : at + length]]
            for at in range(0, len(values), length)
        ]
        # Enough for the integers here, with every other channel coded more finely.
        shifts = [5 + at % 2 for at in range(len(channels))]
        ranks = [-at for at in range(len(channels))]
        own, numbers = _integers(name, channels, shape, ranks, shifts, [0] * len(channels))
        parts += own
        sent |= numbers
    return encode_block(parts, sent)
