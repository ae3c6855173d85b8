"""Metrics by their definitions, entry by entry, as an oracle: slow and plain."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from attnwidget.record import Tokens

MARKS = ".,;:!?-'\"()"


def metrics(weights: np.ndarray, tokens: Tokens) -> dict[str, float]:
    """The metrics of one head's weights [T, T] over one text; NaN where no row counts."""
    length = len(weights)
    rows = [i for i in range(length) if weights[i].sum() > 0]
    special = set(tokens.special)
    separators = special - {0}
    resting = special | {0}
    marks = {
        j
        for j, label in enumerate(tokens.labels)
        if j not in special and label.removeprefix("##") in set(MARKS)
    }

    def mean(values: Sequence[float]) -> float:
        return sum(values) / len(values) if values else math.nan

    def on(keys: set[int], among: Sequence[int] = rows) -> float:
        return mean([sum(weights[i, j] for j in keys) for i in among])

    def at(offset: int) -> float:
        return mean([weights[i, i + offset] for i in rows if 0 <= i + offset < length])

    def entropy(i: int) -> float:
        return -sum(w * math.log(w) for w in weights[i] if w > 0)

    def after_copies(offset: int) -> float:
        found = []
        for i in rows:
            copies = [j for j in range(i) if tokens.labels[j] == tokens.labels[i]]
            if copies:
                found.append(sum(weights[i, j + offset] for j in copies))
        return mean(found)

    def of_rest(offset: int) -> float:
        share = total = 0.0
        for i in rows:
            left = sum(weights[i, j] for j in range(length) if j not in resting)
            if 0 <= i + offset < length:
                total += left
                share += weights[i, i + offset] if i + offset not in resting else 0
        return share / total if total else math.nan

    def marks_of_rest() -> float:
        left = [sum(weights[i, j] for j in range(length) if j not in resting) for i in rows]
        on_marks = [sum(weights[i, j] for j in marks - resting) for i in rows]
        return sum(on_marks) / sum(left) if marks and sum(left) else math.nan

    first = on({0})
    return {
        "entropy": mean([entropy(i) for i in rows]),
        "distance": mean([sum(weights[i, j] * (j - i) for j in range(length)) for i in rows]),
        "previous": at(-1),
        "same": at(0),
        "next": at(1),
        "first": first,
        "special": on(special),
        "entropy_first": entropy(0) if 0 in rows else math.nan,
        "cls": first if 0 in special else math.nan,
        "sep": on(separators) if separators else math.nan,
        "sep_from_sep": on(separators, [i for i in rows if i in separators]),
        "sep_from_others": on(separators, [i for i in rows if i not in separators])
        if separators
        else math.nan,
        "punctuation": on(marks) if marks else math.nan,
        "own_text": _own_text(weights, tokens, rows, mean),
        "sink": float(first > 0.3),
        "induction": after_copies(1),
        "duplicate": after_copies(0),
        "rest": on(set(range(length)) - resting),
        "rest_previous": of_rest(-1),
        "rest_same": of_rest(0),
        "rest_next": of_rest(1),
        "rest_punctuation": marks_of_rest(),
    }


def _own_text(
    weights: np.ndarray,
    tokens: Tokens,
    rows: Sequence[int],
    mean: Callable[[Sequence[float]], float],
) -> float:
    segments = tokens.segments
    if segments is None:
        return math.nan
    return mean(
        [
            sum(weights[i, j] for j in range(len(segments)) if segments[j] == segments[i])
            for i in rows
        ]
    )


def variability(texts: Sequence[np.ndarray]) -> list[float]:
    """Variability of one head's weights [T, T] of each text, over the first ten tokens."""
    found = []
    for text in texts:
        distance = total = 0.0
        for i in range(min(10, len(text))):
            for j in range(min(10, len(text))):
                others = [other[i, j] for other in texts if i < len(other) and j < len(other)]
                distance += abs(text[i, j] - sum(others) / len(others))
                total += text[i, j]
        found.append(distance / (2 * total))
    return found
