"""Labels and numbers of a figure, measured without a font: alike on every machine."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal

# What XML has no sign for, among it halves of characters.
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SPACES = re.compile("[\t\n\r]")

# Widths of Arial's letters, in shares of the size.
_NARROW = frozenset("iljI.,:;'|!` ")
_SLIM = frozenset('frt()[]{}/\\-"*')
_BROAD = frozenset("mwMW@%")
_EAST_ASIAN = (
    (0x1100, 0x115F),
    (0x2E80, 0xA4CF),
    (0xAC00, 0xD7A3),
    (0xF900, 0xFAFF),
    (0xFE30, 0xFE6F),
    (0xFF00, 0xFF60),
    (0xFFE0, 0xFFE6),
    (0x1F000, 0x3FFFF),
)
_BOLD = 1.06


def clean(text: str) -> str:
    """What a file can hold of it, in one line."""
    return _SPACES.sub(" ", _UNWRITABLE.sub("", text))


def text_width(text: str, size: float, bold: bool = False) -> float:
    return sum(map(_em, text)) * size * (_BOLD if bold else 1)


def _em(letter: str) -> float:
    if letter in _NARROW:
        return 0.28
    if letter in _SLIM:
        return 0.36
    if letter in _BROAD:
        return 0.88
    if "A" <= letter <= "Z":
        return 0.7
    code = ord(letter)
    if code < 0x300:
        return 0.56
    if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0
    return 1 if any(first <= code <= last for first, last in _EAST_ASIAN) else 0.6


def shorten(label: str, width: float, size: float, bold: bool = False) -> str:
    """The label, shortened in the middle if it is wider than `width`."""
    text = clean(label)
    if text_width(text, size, bold) <= width:
        return text
    kept = min(len(text) - 1, int(width / size / 0.25))
    while kept > 1:
        head = math.ceil(kept / 2)
        short = f"{text[:head]}…{text[len(text) - (kept - head) :]}"
        if text_width(short, size, bold) <= width:
            return short
        kept -= 1
    return text[:1]


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
    """As JavaScript's toFixed: halves go up, and from 1e21 on there is an exponent."""
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
    """Rounded down: "100%" is said only of everything."""
    return f"{math.floor(percent * 10) / 10:g}%"
