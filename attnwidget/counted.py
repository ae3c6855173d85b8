"""Numbers with their nouns, and with their signs."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """A number and its noun, as "1 text" or "1,200 texts"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def with_minus(value: float, form: str) -> str:
    """A number in the words of a view or a plot, with a true minus sign."""
    return f"{value:{form}}".replace("-", "\u2212")
