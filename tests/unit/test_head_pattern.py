"""Words for heads: rules on numbers over many texts, beside a null."""

import pytest

from attnwidget.analysis import head_pattern

CASES: dict[str, tuple[dict[str, float], dict[str, float], str]] = {
    "nothing": ({"first": 0.4, "previous": 0.45}, {}, "mixed"),
    "a neighbour": ({"previous": 0.9}, {"previous": 0.06}, "looks at the previous token"),
    "no more than with random weights": ({"same": 0.6}, {"same": 0.55}, "mixed"),
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
        {"induction": 0.02},
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
    found = head_pattern({"first": 0.9, "rest": 0.1, "rest_next": 0.7}, {"rest_next": 0.06})
    assert found.reasons == ("first .90 > .5", "rest_next .70 > .5 (null .06)")
    assert found.rest == 0.1
