"""Fonts of this machine for the characters of a figure."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache

from matplotlib import font_manager
from matplotlib.ft2font import FT2Font

_PREFERRED = ("Arial", "Helvetica", "Liberation Sans", "DejaVu Sans")
# The names of fonts with many characters, which are tried first.
_WIDE = ("noto sans", "cjk", "han", "unicode", "gothic", "hei", "fallback")

# The beginnings of characters' names.
_CJK = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL")

_FIRST_EMOJI = "\U0001f000"


def fonts_for(text: Iterable[str]) -> tuple[list[str], str]:
    """The fonts for a text, and the characters that no font of this machine has.

    The names of the fonts are those for matplotlib's "font.family": it takes each character from
    the first font that has it.
    """
    preferred = [name for name in _PREFERRED if name in _files()]
    missing = {letter for letter in "".join(text) if _is_visible(letter)}
    for name in preferred:
        missing -= _characters(_files()[name])
    others = []
    for name in _others():
        if not missing:
            break
        found = missing & _characters(_files()[name])
        if found:
            others.append(name)
            missing -= found
    return [*preferred, *others], "".join(sorted(missing))


def advice(missing: str) -> str:
    """The words for characters that no font has, and the fonts to install."""
    some = " ".join(missing[:5]) + (" …" if len(missing) > 5 else "")
    if any(unicodedata.name(letter, "").startswith(_CJK) for letter in missing):
        font = "Noto Sans CJK (apt install fonts-noto-cjk)"
    elif missing[-1] >= _FIRST_EMOJI:
        font = "Symbola (apt install fonts-symbola)"
    else:
        font = "Noto Sans (apt install fonts-noto-core)"
    return (
        f"no font on this machine has {some}: the figure shows boxes instead. Install one, such as "
        f"{font}, and restart Python; or save the figure as SVG, in which text stays text"
    )


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


def _others() -> Iterator[str]:
    """All other fonts, those first that probably have the most characters."""
    # "Last Resort" has a box for every character.
    names = [
        name for name in _files() if name not in _PREFERRED and not name.startswith("Last Resort")
    ]
    yield from sorted(names, key=lambda name: not any(word in name.lower() for word in _WIDE))


@cache
def _characters(path: str) -> frozenset[str]:
    """The characters that a font has; none if it cannot be read."""
    try:
        return frozenset(map(chr, FT2Font(path).get_charmap()))
    except (OSError, RuntimeError):
        return frozenset()
