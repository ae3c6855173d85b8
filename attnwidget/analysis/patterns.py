"""The kind of token that a head mostly attends to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_LEAST_SHARE = 0.5


@dataclass(frozen=True)
class Pattern:
    """A kind of head: its name in a legend, and as it is said of one head."""

    label: str
    description: str


# By the metric that is the share of attention on such tokens. In this order, so that [CLS], which
# is both first and special, counts as special.
_SHARES = {
    "previous": "previous token",
    "same": "same token",
    "next": "next token",
    "special": "special tokens",
    "first": "first token",
}

PATTERNS: tuple[Pattern, ...] = (
    *(Pattern(label, f"mostly {label}") for label in _SHARES.values()),
    Pattern("mixed", "mixed"),
)


def pattern_of(metrics: Mapping[str, float]) -> int:
    """The place in `PATTERNS` of what gets at least half of the attention; "mixed" if none does.

    Args:
        metrics: of one head, by name; where keys are another text, shares on neighbours are not
            among them.
    """
    best = max((name for name in _SHARES if name in metrics), key=lambda name: metrics[name])
    return list(_SHARES).index(best) if metrics[best] >= _LEAST_SHARE else len(_SHARES)
