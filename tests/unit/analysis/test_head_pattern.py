"""Words for heads: rules on numbers over many texts, beside a null."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from attnwidget.analysis import (
    ALL_METRICS,
    RESTING_RULES,
    RULES,
    HeadMetrics,
    HeadPattern,
    batch_of_weights,
    head_pattern,
)
from attnwidget.record import Tokens

CASES: dict[str, tuple[dict[str, float], dict[str, dict[str, float]], str]] = {
    "nothing": ({"first": 0.4, "previous": 0.45}, {}, "mixed"),
    "a neighbour": (
        {"previous": 0.9},
        {"random weights": {"previous": 0.06}, "position": {"previous": 0.9}},
        "looks at the previous token",
    ),
    "no more than with random weights": (
        {"same": 0.6},
        {"random weights": {"same": 0.55}},
        "mixed",
    ),
    "no more than by position": (
        {"own_text": 0.9},
        {"random weights": {"own_text": 0.5}, "position": {"own_text": 0.85}},
        "mixed",
    ),
    "a sink": ({"first": 0.9, "rest": 0.1, "rest_previous": 0.3}, {}, "rests on the first token"),
    "a sink that hides something": (
        {"first": 0.9, "previous": 0.08, "rest": 0.1, "rest_previous": 0.8},
        {},
        "rests on the first token; else looks at the previous token",
    ),
    "a sink of which nothing is left": (
        {"first": 1.0, "rest": 0.001, "rest_previous": 0.8},
        {},
        "rests on the first token",
    ),
    "an induction head at rest": (
        {"first": 0.8, "rest": 0.2, "induction": 0.92},
        {"random weights": {"induction": 0.02}, "shuffled": {"induction": 0.9}},
        "rests on the first token; else follows repeats",
    ),
    "separators": ({"sep": 0.7, "special": 0.8, "rest": 0.2}, {}, "rests on [SEP]"),
    "all special tokens": ({"sep": 0.4, "special": 0.8}, {}, "rests on special tokens"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_words_for_numbers(name: str) -> None:
    values, nulls, words = CASES[name]
    assert head_pattern(values, nulls).words == words


def test_the_reasons_have_the_numbers() -> None:
    found = head_pattern(
        {"first": 0.9, "rest": 0.1, "rest_next": 0.7},
        {"random weights": {"rest_next": 0.06, "first": 0.1}, "position": {"first": 0.2}},
    )
    assert found.reasons == (
        "first .90 > .5 (random weights .10, position .20)",
        "rest_next .70 > .5 (random weights .06)",
    )
    assert found.rest == 0.1


# A pair of texts in which every word comes twice.
LABELS = "[CLS] a b c d . a b c d [SEP] e f g , e f g [SEP]"
TOKENS = Tokens(
    (
        "[CLS]",
        *["a", "b", "c", "d", ".", "a", "b", "c", "d"],
        "[SEP]",
        *["e", "f", "g", ",", "e", "f", "g"],
        "[SEP]",
    ),
    segments=(0,) * 11 + (1,) * 8,
    special=(0, 10, 18),
)
COUNT = len(TOKENS)


def planted(target: Callable[[int], Sequence[int]]) -> np.ndarray:
    """Each token spreads its attention evenly over its targets, [T, T]; else over all tokens."""
    weights = np.zeros((COUNT, COUNT), np.float32)
    for i in range(COUNT):
        keys = [j for j in target(i) if 0 <= j < COUNT] or range(COUNT)
        for key in keys:
            weights[i, key] += 1 / len(keys)
    return weights


def earlier_copies(i: int) -> list[int]:
    return [j for j in range(i) if TOKENS.labels[j] == TOKENS.labels[i]]


def marks(_: int) -> list[int]:
    return [j for j, label in enumerate(TOKENS.labels) if label in ".,"]


def own_text(i: int) -> list[int]:
    assert TOKENS.segments is not None
    return [j for j in range(COUNT) if TOKENS.segments[j] == TOKENS.segments[i]]


HEADS: dict[str, Callable[[int], Sequence[int]]] = {
    "rests on the first token": lambda i: [0],
    "rests on [SEP]": lambda i: [10, 18],
    "rests on special tokens": lambda i: [0, 10, 0, 18],
    "follows repeats": lambda i: [j + 1 for j in earlier_copies(i)],
    "looks at repeats": earlier_copies,
    "looks at the previous token": lambda i: [i - 1],
    "looks at the next token": lambda i: [i + 1],
    "looks at the token itself": lambda i: [i],
    "looks at punctuation": marks,
    "looks at its own text": own_text,
}


def pattern(weights: np.ndarray) -> HeadPattern:
    metrics = HeadMetrics(ALL_METRICS, TOKENS)
    metrics.add(batch_of_weights(weights, np.arange(COUNT)))
    return head_pattern({name: float(mean) for name, mean in metrics.means().items()}, {})


def test_every_rule_has_a_planted_head() -> None:
    assert set(HEADS) == {rule.words for rule in (*RESTING_RULES, *RULES)}


@pytest.mark.parametrize("words", HEADS)
def test_a_planted_head_is_found(words: str) -> None:
    assert pattern(planted(HEADS[words])).words == words


@pytest.mark.parametrize("words", [rule.words for rule in RULES if rule.of_rest is not None])
def test_a_planted_head_is_found_beside_a_sink(words: str) -> None:
    beside = 0.9 * planted(lambda i: [0]) + 0.1 * planted(HEADS[words])
    assert pattern(beside.astype(np.float32)).words == f"rests on the first token; else {words}"


def test_a_uniform_head_has_no_words() -> None:
    assert pattern(planted(lambda i: range(COUNT))).words == "mixed"
