"""What numbers and colours of the model view say of a head."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from attnwidget.lens import MEASURES
from attnwidget.record import Stack

from .colors import layer_color, ramp
from .content import Content
from .text import number, weight

if TYPE_CHECKING:
    from .model import Row

PATTERN_NAMES = {
    "previous": "previous token",
    "same": "same token",
    "next": "next token",
    "special": "special tokens",
    "first": "first token",
    "mixed": "mixed",
}
# In this order, so that [CLS], which is both first and special, counts as special.
_NAMED = ("previous", "same", "next", "special", "first")
_SQUARES = 7


def is_self(stack: Stack) -> bool:
    """Whether there is a same, a next and a previous token: not where the keys are another text."""
    return stack.queries == stack.keys


def measures_of(stack: Stack) -> Sequence[str]:
    return MEASURES if is_self(stack) else ("entropy", "first", "special")


def known(content: Content) -> tuple[str, str, str]:
    """(sort, color, measure): the choices as far as the stack has them, and the number shown."""
    there = measures_of(content.stack)
    sort, color = content.choices["sort"], content.choices["color"]
    sort = sort if sort in there else "model"
    color = color if color in ("pattern", "layer", *there) else "pattern"
    if color not in ("pattern", "layer"):
        return sort, color, color
    return sort, color, "entropy" if sort == "model" else sort


def pattern_of(measures: Mapping[Any, Sequence[float]], head: int, stack: Stack) -> str:
    """The kind of token that gets at least half of the attention; "mixed" where none does."""
    named = _NAMED if is_self(stack) else ("special", "first")
    best = max(named, key=lambda name: measures[name][head])
    return best if measures[best][head] >= 0.5 else "mixed"


def long_name(measure: str) -> str:
    if measure == "entropy":
        return measure
    if measure == "distance":
        return "mean distance"
    return f"share on {measure} {'tokens' if measure == 'special' else 'token'}"


def measured(measure: str, value: float) -> str:
    if measure == "entropy":
        return f"{number(value)} nats"
    return f"{number(value, 1)} tokens" if measure == "distance" else weight(value)


def brief(measure: str, value: float) -> str:
    return number(value, 1 if measure == "distance" else 2)


@dataclass(frozen=True)
class Coloring:
    """The colour of a head, and pieces of a legend: a colour, or None, and what is beside it."""

    of: Callable[[Row, int], str]
    legend: Sequence[tuple[str | None, str]]


def coloring(content: Content, rows: Sequence[Row], color: str) -> Coloring:
    palette, stack = content.palette, content.stack
    heads = [(row, head) for row in rows for head in row.heads]
    if color == "pattern":
        counts = Counter(pattern_of(row.measures, head, stack) for row, head in heads)
        legend = [
            (getattr(palette, pattern), f"{count} {PATTERN_NAMES[pattern]}")
            for pattern, count in counts.most_common()
        ]
        return Coloring(
            lambda row, head: str(getattr(palette, pattern_of(row.measures, head, stack))), legend
        )
    if color == "layer":

        def of_layer(row: Row, head: int = 0) -> str:
            return layer_color(stack.numbers.index(row.layer.number), palette.dark)

        last = f"{rows[-1].layer.number}" if len(rows) > 1 else ""
        squares = [(of_layer(row), "") for row in rows[:-1]] + [(of_layer(rows[-1]), last)]
        return Coloring(of_layer, [(None, f"layer {rows[0].layer.number}"), *squares])
    values = [row.measures[color][head] for row, head in heads]
    lowest, highest = min(values), max(values)
    whole = (highest - lowest) or 1
    ends = measured(color, lowest), measured(color, highest)
    steps = [(ramp(n / (_SQUARES - 1), palette.dark), "") for n in range(_SQUARES - 1)]
    steps.append((ramp(1, palette.dark), ends[1]))
    return Coloring(
        lambda row, head: ramp((row.measures[color][head] - lowest) / whole, palette.dark),
        [(None, f"{long_name(color)} {ends[0]}"), *steps],
    )
