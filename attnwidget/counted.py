"""Numbers with their nouns."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """A number and its noun, as "1 text" or "1,200 texts"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
