"""Metrics by their definitions, as sums over matrices of zeros and ones: a second oracle."""

import numpy as np

from attnwidget.record import Tokens
from tests.unit.corpus.oracle import MARKS


def metrics(weights: np.ndarray, tokens: Tokens) -> dict[str, np.ndarray]:
    """The metrics of the weights [heads, T, T] over one text, [heads]; NaN where no row counts."""
    weights = np.asarray(weights, float)
    length = weights.shape[1]
    places = np.arange(length)
    offsets = places - places[:, None]
    labels = np.array(tokens.labels)
    is_special = np.isin(places, tokens.special)
    is_first = places == 0
    is_separator = is_special & ~is_first
    is_mark = np.isin(labels, [*MARKS, *(f"##{mark}" for mark in MARKS)]) & ~is_special
    left = np.broadcast_to(~(is_special | is_first), (length, length))
    copies = np.tril(labels[:, None] == labels, -1)
    followers = np.roll(copies, 1, axis=1) & ~is_first
    seen = weights.sum(axis=2) > 0
    everywhere = np.ones(length, bool)

    def mean(values: np.ndarray, rows: np.ndarray = everywhere) -> np.ndarray:
        counts = (seen & rows).sum(axis=1)
        return (values * (seen & rows)).sum(axis=1) / np.where(counts, counts, np.nan)

    def on(pairs: np.ndarray, rows: np.ndarray = everywhere) -> np.ndarray:
        return mean((weights * pairs).sum(axis=2), rows)

    def at(offset: int) -> np.ndarray:
        return on(offsets == offset, (offsets == offset).any(axis=1))

    def of_rest(pairs: np.ndarray) -> np.ndarray:
        rows = pairs.any(axis=1)
        totals = on(left, rows)
        return on(pairs & left, rows) / np.where(totals > 0, totals, np.nan)

    entropies = -np.where(weights > 0, weights * np.log(np.maximum(weights, 1e-300)), 0).sum(axis=2)
    unknown = np.full(len(weights), np.nan)
    first = on(is_first)
    own = unknown
    if tokens.segments is not None:
        own = on(np.equal.outer(tokens.segments, tokens.segments))
    has_separators = is_separator.any()
    return {
        "entropy": mean(entropies),
        "distance": on(offsets),
        "previous": at(-1),
        "same": at(0),
        "next": at(1),
        "first": first,
        "special": on(is_special),
        "entropy_first": mean(entropies, is_first),
        "cls": first if is_special[0] else unknown,
        "sep": on(is_separator) if has_separators else unknown,
        "sep_from_sep": on(is_separator, is_separator),
        "sep_from_others": on(is_separator, ~is_separator) if has_separators else unknown,
        "punctuation": on(is_mark) if is_mark.any() else unknown,
        "own_text": own,
        "sink": (first > 0.3).astype(float),
        "induction": on(followers, copies.any(axis=1)),
        "duplicate": on(copies, copies.any(axis=1)),
        "rest": on(left),
        "rest_previous": of_rest(offsets == -1),
        "rest_same": of_rest(offsets == 0),
        "rest_next": of_rest(offsets == 1),
        "rest_punctuation": of_rest(np.broadcast_to(is_mark, left.shape))
        if is_mark.any()
        else unknown,
    }
