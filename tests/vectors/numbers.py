"""Inputs for the vectors, the same on every machine."""

import math
from collections.abc import Iterable, Sequence
from random import Random


def eighths(seed: str, count: int) -> list[float]:
    """Multiples of 1/8, exact in every floating-point type: only what is computed can differ."""
    random = Random(seed)
    return [random.randint(-20, 20) / 8 for _ in range(count)]


def bits(seed: str, count: int) -> list[int]:
    random = Random(seed)
    return [int(random.random() < 0.6) for _ in range(count)]


def flat(matrices: Iterable[Sequence[Sequence[float]]]) -> list[float | None]:
    """Round to nine digits, more than single precision; null for -inf, which JSON lacks."""
    return [
        None if value == -math.inf else float(f"{value:.9g}")
        for matrix in matrices
        for row in matrix
        for value in row
    ]
