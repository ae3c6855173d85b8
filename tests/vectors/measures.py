"""measures.json: what a head does, in numbers."""

from collections.abc import Sequence

from tests.vectors import reference
from tests.vectors.reference import Json

SPREAD = [
    [0.25, 0.25, 0.25, 0.25],
    [0.5, 0.125, 0.125, 0.25],
    [0.0, 0.0, 1.0, 0.0],
    [0.0, 0.75, 0.25, 0.0],
]
DIAGONAL = [[float(i == j) for j in range(4)] for i in range(4)]
WIDE = [[0.5, 0.25, 0.0, 0.25, 0.0], [0.125, 0.125, 0.5, 0.125, 0.125]]


def cases() -> list[Json]:
    return [
        _case("square", [SPREAD, DIAGONAL], [0, 3]),
        _case("a row that sees no key", [[[0.0, 0.0], [0.25, 0.75]]], []),
        _case("no row sees a key", [[[0.0, 0.0], [0.0, 0.0]]], [1]),
        _case("more keys than queries", [WIDE], [4]),
    ]


def _case(name: str, heads: Sequence[reference.Matrix], special: list[int]) -> Json:
    measures = of_heads(heads, special, digits=9)
    return {"name": name, "weights": heads, "special": special, "measures": measures}


def of_heads(
    heads: Sequence[reference.Matrix], special: Sequence[int], digits: int
) -> dict[str, list[float]]:
    per_head = [reference.measures(matrix, special) for matrix in heads]
    return {name: [round(head[name], digits) for head in per_head] for name in per_head[0]}
