"""Patterns of attention: the kind of token that a head mostly attends to.

`pattern_of` is for one text, `head_pattern` for many. Both are heuristics.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

Nulls: TypeAlias = Mapping[str, Mapping[str, float]]
"""By null, by metric, the upper ends of a head's intervals; NaN or absent where unknown."""


@dataclass(frozen=True)
class Rule:
    """A heuristic rule that gives a head its words, from its numbers over many texts.

    Attributes:
        words: what the head does.
        metric: the number that decides.
        least: the number is above this.
        of_rest: the number that decides for a head that rests; None for the same.
        nulls: the number is .2 above that of each of these, where it is known.
    """

    words: str
    metric: str
    least: float
    of_rest: str | None = None
    nulls: tuple[str, ...] = ("random weights", "position")

    def fits(self, values: Mapping[str, float], nulls: Nulls, *, rest: bool) -> bool:
        """True if the head's number is above the threshold, and clearly above its nulls."""
        beside = self.beside(nulls, rest=rest).values()
        least = max([self.least, *(null + _ABOVE_NULL for null in beside)])
        return values.get(self.name(rest=rest), math.nan) > least

    def name(self, *, rest: bool) -> str:
        return self.of_rest if rest and self.of_rest is not None else self.metric

    def beside(self, nulls: Nulls, *, rest: bool) -> dict[str, float]:
        """The number of each null that counts, by its name."""
        name = self.name(rest=rest)
        found = {null: nulls.get(null, {}).get(name, math.nan) for null in self.nulls}
        return {null: number for null, number in found.items() if not math.isnan(number)}


# Uniform weights over a few tokens give every neighbour half of the attention, with random weights
# as well.
_ABOVE_NULL = 0.2

# The attention that a resting head leaves for other tokens must be more than rounding.
_LEAST_REST = 0.01

RESTING_RULES: tuple[Rule, ...] = (
    Rule("rests on the first token", "first", 0.5),
    Rule("rests on [SEP]", "sep", 0.5),
    Rule("rests on special tokens", "special", 0.5),
)
"""Rules for heads that rest on tokens that mean little. The first that fits counts."""

# Attention by position alone looks at neighbours as much as the head itself.
_OF_POSITION = ("random weights",)

RULES: tuple[Rule, ...] = (
    Rule("follows repeats", "induction", 0.4),
    Rule("looks at repeats", "duplicate", 0.4),
    Rule("looks at the previous token", "previous", 0.5, "rest_previous", _OF_POSITION),
    Rule("looks at the next token", "next", 0.5, "rest_next", _OF_POSITION),
    Rule("looks at the token itself", "same", 0.5, "rest_same", _OF_POSITION),
    Rule("looks at punctuation", "punctuation", 0.6, "rest_punctuation"),
    Rule("looks at its own text", "own_text", 0.8),
)
"""Rules for the tokens that a head looks at. The first that fits counts.

Neighbours above .5 and punctuation above .6 are thresholds of Clark et al. 2019. Of the classes of
Kovaleva et al. 2019, the diagonal is a neighbour, the vertical is a rest, both together a rest with
a neighbour, the block is a head's own text, and heterogeneous heads have no words. Clark's wide
heads (an entropy above 3.8 nats) have none either: random weights give the widest.
"""


# The share of attention that decides for one text, and of what it is. The first that fits counts,
# as of the rules: [CLS] is the first token, and a special one.
_LEAST_SHARE = 0.5
_SHARES = ("first", "special", "previous", "next", "same")

_MIXED = "mixed"

# The places of patterns are those of their colours.
_METRICS = ("previous", "same", "next", "special", "first", _MIXED)
_BY_METRIC = {rule.metric: rule.words for rule in (*RULES, *RESTING_RULES)}
_PLACES = (*_METRICS, *(name for name in _BY_METRIC if name not in _METRICS))

PATTERNS: tuple[str, ...] = tuple(_BY_METRIC.get(name, name) for name in _PLACES)
"""The words for a head, by rule: the same for one text and for many."""


def pattern_of(metrics: Mapping[str, float]) -> int:
    """The index in `PATTERNS` of the words for a head on one text.

    A head rests on the first or on special tokens, or looks at the previous, next or same one, if
    these get at least half of its attention; else it is mixed.

    Args:
        metrics: of one head, by name. Cross-attention lacks the shares on neighbours.
    """
    fits = (name for name in _SHARES if metrics.get(name, 0) >= _LEAST_SHARE)
    return _PLACES.index(next(fits, _MIXED))


@dataclass(frozen=True)
class HeadPattern:
    """The words for one head, and the numbers behind them.

    Attributes:
        resting: the rule of where it rests, or None.
        looking: the rule of what it looks at, of what is left if it rests; or None.
        rest: the share of attention that is left without first and special tokens.
        reasons: the rules with their numbers, such as "previous .93 > .5 (random
            weights .06)".
    """

    resting: Rule | None
    looking: Rule | None
    rest: float
    reasons: tuple[str, ...]

    @property
    def words(self) -> str:
        """The words alone, such as "rests on the first token; else follows repeats"."""
        found = [rule.words for rule in (self.resting, self.looking) if rule is not None]
        return "; else ".join(found) or _MIXED

    @property
    def kind(self) -> int:
        """The index in `PATTERNS` of what it looks at, or else of where it rests."""
        rule = self.looking or self.resting
        return _PLACES.index(_MIXED if rule is None else rule.metric)


def head_pattern(values: Mapping[str, float], nulls: Nulls) -> HeadPattern:
    """The words for a head, by `RESTING_RULES` and `RULES`.

    Args:
        values: its metrics over texts; NaN or absent where unknown.
    """
    left = values.get("rest", math.nan)
    resting = next((r for r in RESTING_RULES if r.fits(values, nulls, rest=False)), None)
    rests = resting is not None
    looking = None
    if not rests or left > _LEAST_REST:
        looking = next((r for r in RULES if r.fits(values, nulls, rest=rests)), None)
    reasons = [
        _reason(rule, values, nulls, rest=rest)
        for rule, rest in ((resting, False), (looking, rests))
        if rule is not None
    ]
    return HeadPattern(resting, looking, left, tuple(reasons))


def _reason(rule: Rule, values: Mapping[str, float], nulls: Nulls, *, rest: bool) -> str:
    name = rule.name(rest=rest)
    numbers = [f"{null} {_short(number)}" for null, number in rule.beside(nulls, rest=rest).items()]
    beside = f" ({', '.join(numbers)})" if numbers else ""
    return f"{name} {_short(values[name])} > {rule.least:g}{beside}".replace("> 0.", "> .")


def _short(number: float) -> str:
    """A share with two decimals, as .93 or 1.00."""
    return f"{number:.2f}".removeprefix("0")


def rules_as_json() -> dict[str, Any]:
    """The rules of `pattern_of` and `head_pattern` as JSON, for a page that applies them itself."""

    def sent(rules: tuple[Rule, ...]) -> list[dict[str, Any]]:
        return [asdict(rule) | {"kind": _PLACES.index(rule.metric)} for rule in rules]

    return {
        "kinds": PATTERNS,
        "mixed": _PLACES.index(_MIXED),
        "shares": [(name, _PLACES.index(name)) for name in _SHARES],
        "least": _LEAST_SHARE,
        "resting": sent(RESTING_RULES),
        "looking": sent(RULES),
        "above_null": _ABOVE_NULL,
        "least_rest": _LEAST_REST,
    }
