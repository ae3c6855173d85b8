"""Labels and numbers as a plot writes them."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal

# Characters that XML cannot hold, halves of characters among them, and the mark of the byte order,
# which is invisible and which matplotlib's PDF cannot write.
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_SPACES = re.compile("[\t\n\r]")


def clean(text: str) -> str:
    """The text as far as a file can hold it, in one line."""
    return _SPACES.sub(" ", _UNWRITABLE.sub("", text))


def shorten(label: str, most: float) -> str:
    """The label in at most so many letters of usual width, shortened in the middle."""
    text = clean(label)
    if len(text) <= 2 or num_letters(text) <= most:
        return text
    kept = max(2, min(len(text), int(most)))  # each letter counts once at least
    while True:
        first = math.ceil(kept / 2)
        short = f"{text[:first]}…{text[len(text) - (kept - first) :]}"
        if kept == 2 or num_letters(short) <= most:
            return short
        kept -= 1


def num_letters(text: str) -> int:
    """The width of a text in letters: wide ones, as Chinese, count twice."""
    return len(text) + sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)


def names(labels: Sequence[str]) -> list[str]:
    """A name for every token, each of them once: "it", or "it₁₁" where "it" stands twice."""
    counts = Counter(labels)
    return [
        label if counts[label] == 1 else label + _subscript(position)
        for position, label in enumerate(labels)
    ]


def _subscript(number: int) -> str:
    return "".join(chr(0x2080 + int(digit)) for digit in str(number))


def fixed(value: float, digits: int) -> str:
    """The number with so many decimals; halves go up, and from 1e21 on there is an exponent."""
    if abs(value) >= 1e21:
        return str(float(value))
    unit = Decimal(1).scaleb(-digits)
    return str(Decimal(float(value)).quantize(unit, ROUND_HALF_UP))


def weight(value: float) -> str:
    """Three decimals; a number that is not zero never looks like zero."""
    return "<0.001" if 0 < value < 0.0005 else fixed(value, 3)


def number(value: float, digits: int = 2) -> str:
    """A score or vector component, with a true minus sign."""
    if value == -math.inf:
        return "masked"
    text = fixed(value, digits)
    return text.replace("-", "" if float(text) == 0 else "\u2212")


def precise(value: float) -> str:
    """Four significant digits, without zeros at the end."""
    return f"{value:.4g}"


def share(percent: float) -> str:
    """A percentage rounded down: "100%" is said only of everything."""
    return f"{math.floor(percent * 10) / 10:g}%"
