"""Patterns of attention: the kind of token that a head mostly attends to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_LEAST_SHARE = 0.5


@dataclass(frozen=True)
class Pattern:
    """A pattern: its label in a legend, and its description of one head."""

    label: str
    description: str


# Labels by the metric that is the share of attention on such tokens. "special" precedes "first", so
# that [CLS], which is both, counts as special.
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
    """The index in `PATTERNS` of the pattern with at least half of the attention, or of "mixed".

    Args:
        metrics: of one head, by name. Cross-attention lacks the shares on neighbours.
    """
    best = max((name for name in _SHARES if name in metrics), key=lambda name: metrics[name])
    return list(_SHARES).index(best) if metrics[best] >= _LEAST_SHARE else len(_SHARES)
