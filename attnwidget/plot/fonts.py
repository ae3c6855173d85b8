"""Fonts of this machine for the characters of a figure."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import Any

import matplotlib
from matplotlib import font_manager
from matplotlib.ft2font import FT2Font

# The names of fonts with many characters, which are tried first.
_WIDE = ("noto sans", "cjk", "han", "unicode", "gothic", "hei", "fallback")


def fonts_for(texts: Iterable[str]) -> list[str]:
    """The session's fonts, and those of this machine for the characters that these lack.

    The names are those for matplotlib's "font.family": it takes each character from the first font
    that has it, and warns of those that none has.
    """
    files = _files()
    session: list[str] = []
    params: dict[Any, Any] = dict(matplotlib.rcParams)
    for family in params["font.family"]:
        # A family such as "sans-serif" is a list of fonts.
        names = params.get(f"font.{family}", [family])
        session += [name for name in names if name in files]
    chosen = session or ["DejaVu Sans"]
    missing = {letter for letter in "".join(texts) if _is_visible(letter)}
    for name in chosen:
        missing -= _characters(files[name])
    others = sorted(files, key=lambda name: not any(word in name.lower() for word in _WIDE))
    for name in others:
        # "Last Resort" has a box for every character.
        found = missing & _characters(files[name]) if missing else set()
        if found and not name.startswith("Last Resort"):
            chosen.append(name)
            missing -= found
    return chosen


def font_file(text: str) -> str:
    """The file of the font that has the most characters of a text, of those of `fonts_for`."""
    files = [_files()[name] for name in fonts_for([text])]
    return max(files, key=lambda file: len(_characters(file).intersection(text)))


def _is_visible(letter: str) -> bool:
    """False for spaces, controls, and signs that only change others."""
    category = unicodedata.category(letter)
    return category not in ("Cc", "Cf", "Cs") and category[0] not in "ZM"


@cache
def _files() -> dict[str, str]:
    """The file of every installed font in its regular style, by name."""
    regular = {
        entry.name: entry.fname
        for entry in font_manager.fontManager.ttflist
        if entry.style == "normal" and entry.weight in (400, "normal", "regular")
    }
    return dict(sorted(regular.items()))


@cache
def _characters(path: str) -> frozenset[str]:
    """The characters that a font has; none if it cannot be read."""
    try:
        return frozenset(map(chr, FT2Font(path).get_charmap()))
    except (OSError, RuntimeError):
        return frozenset()
