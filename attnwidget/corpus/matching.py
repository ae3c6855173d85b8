"""Matching of the heads of two models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attnwidget.extras import extra

from .head_profile import HeadProfile
from .similarity import Head, distances_between, distributions, heads_of
from .stack_profile import SampledRows


@dataclass(frozen=True)
class HeadMatch:
    """Two heads of two models that belong together.

    Attributes:
        a, b: the heads.
        distance: the Jensen-Shannon divergence of their weights, in nats.
        margin: the distance to the nearest other head of b, less this one: below 0 if another
            head of b is nearer, but belongs to another head of a.
    """

    a: Head
    b: Head
    distance: float
    margin: float


def match_heads(a: HeadProfile, b: HeadProfile, stack: str | None = None) -> tuple[HeadMatch, ...]:
    """Pair the heads of two models, so that the sum of the pairs' distances is smallest.

    Args:
        a, b: profiles of the same texts by the same tokenizer, with the same seed: heads are
            compared on the rows that both have sampled.
        stack: of both; the first one if None.

    Returns:
        One pair for each head of the model with fewer, in the order of a's heads.

    Raises:
        ValueError: the profiles have no sampled rows in common.
        KeyError: there is no such stack.
        ModuleNotFoundError: scipy is not installed.
    """
    with extra("analysis", "this needs scipy"):
        from scipy.optimize import linear_sum_assignment
    stacks = a.stack(stack), b.stack(stack)
    common = _common_rows(stacks[0].rows, stacks[1].rows)
    if not len(common[0]):
        raise ValueError(
            "the profiles have no sampled texts in common: make both from the same texts, with "
            "tokenizers that give the same tokens, and with the same seed"
        )
    weights = [
        distributions(shown, _picked(shown.rows, rows))
        for shown, rows in zip(stacks, common, strict=True)
    ]
    distances = distances_between(*weights)
    heads = [heads_of(shown) for shown in stacks]
    matches = []
    for row, column in zip(*linear_sum_assignment(distances), strict=True):
        others = np.delete(distances[row], column).min(initial=np.inf)
        distance = float(distances[row, column])
        matches.append(
            HeadMatch(heads[0][row], heads[1][column], distance, float(others) - distance)
        )
    return tuple(matches)


def _common_rows(a: SampledRows, b: SampledRows) -> tuple[list[int], list[int]]:
    """The rows of both samples that are those of equal texts, in equal order."""
    picked: tuple[list[int], list[int]] = [], []
    for text in np.intersect1d(a.texts, b.texts):
        rows = [np.flatnonzero(sample.texts == text) for sample in (a, b)]
        count = min(map(len, rows))
        for found, places in zip(picked, rows, strict=True):
            found += places[:count].tolist()
    return picked


def _picked(rows: SampledRows, places: Sequence[int]) -> SampledRows:
    index = list(places)
    keys = rows.keys[index]
    return SampledRows(rows.levels[:, :, index, : keys.max()], keys, rows.texts[index])
