"""The words of plots: labels of tokens as files can hold them, and what a plot leaves out."""

from __future__ import annotations

import math
import re

import numpy as np
from numpy.typing import NDArray

from attnwidget.wire.text import sendable

# Characters that XML cannot hold, and the byte order mark, which is invisible and which
# matplotlib's PDF cannot write.
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")

_LONGEST_LABEL = 20


def clean(text: str) -> str:
    """Remove the characters that a file cannot hold, and put the text on one line."""
    return re.sub("[\t\n\r\x85\u2028\u2029]", " ", _UNWRITABLE.sub("", sendable(text)))


def shorten(label: str) -> str:
    """Shorten a label in the middle to 20 letters."""
    text, half = clean(label), _LONGEST_LABEL // 2
    return text if len(text) <= _LONGEST_LABEL else f"{text[:half]}…{text[1 - half :]}"


def share_note(part: float, total: float, of: str, done: str = "shown") -> str:
    """Say "99.9% of attention shown", rounded down, so that 100% means all of it; "" for all."""
    percent = 100 * part / total if total else 100
    # The rounding of a sum is no attention that is left out.
    return "" if percent >= 99.9999 else f"{math.floor(percent * 10) / 10:g}% of {of} {done}"


def magnitude(numbers: NDArray[np.floating]) -> float:
    """The sum of all numbers without their signs."""
    return float(np.abs(numbers).sum(dtype=np.float64))
