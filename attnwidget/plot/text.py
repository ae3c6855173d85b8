"""Formatting of labels and numbers in plots."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

# Labels are data: neither formulas nor TeX.
PLAIN: dict[str, Any] = {"parse_math": False, "usetex": False}

# Characters that XML cannot hold, surrogates included, and the byte order mark, which is invisible
# and which matplotlib's PDF cannot write.
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_SPACES = re.compile("[\t\n\r]")


def clean(text: str) -> str:
    """Remove the characters that a file cannot hold, and put the text on one line."""
    return _SPACES.sub(" ", _UNWRITABLE.sub("", text))


def shorten(label: str, max_letters: float) -> str:
    """Shorten a label in the middle to a number of letters of usual width."""
    text = clean(label)
    if len(text) <= 2 or num_letters(text) <= max_letters:
        return text
    kept = max(2, min(len(text), int(max_letters)))  # each letter counts at least once
    while True:
        first = math.ceil(kept / 2)
        short = f"{text[:first]}…{text[len(text) - (kept - first) :]}"
        if kept == 2 or num_letters(short) <= max_letters:
            return short
        kept -= 1


def num_letters(text: str) -> int:
    """The width of a text in letters; wide ones, such as Chinese, count twice."""
    return len(text) + sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)


def names(labels: Sequence[str]) -> list[str]:
    """Unique names of tokens: "it", or "it₁₁" where several tokens are "it"."""
    counts = Counter(labels)
    return [
        label if counts[label] == 1 else label + _subscript(position)
        for position, label in enumerate(labels)
    ]


def _subscript(number: int) -> str:
    return "".join(chr(0x2080 + int(digit)) for digit in str(number))


def fixed(value: float, digits: int) -> str:
    """Format a number as JavaScript's toFixed does: halves round up, with an exponent from 1e21."""
    if abs(value) >= 1e21:
        return str(float(value))
    unit = Decimal(1).scaleb(-digits)
    return str(Decimal(float(value)).quantize(unit, ROUND_HALF_UP))


def weight(value: float) -> str:
    """Format a weight with three decimals; "<0.001" for a tiny one."""
    return "<0.001" if 0 < value < 0.0005 else fixed(value, 3)


def number(value: float, digits: int = 2) -> str:
    """Format a score or vector component, with a true minus sign; "masked" for -inf."""
    if value == -math.inf:
        return "masked"
    text = fixed(value, digits)
    return text.replace("-", "" if float(text) == 0 else "\u2212")


def precise(value: float) -> str:
    """Format a number with four significant digits, without trailing zeros."""
    return f"{value:.4g}"


def share(percent: float) -> str:
    """Format a percentage rounded down, so that only everything is "100%"."""
    return f"{math.floor(percent * 10) / 10:g}%"
