"""Sentences of a text, by a rule of punctuation: a heuristic, see `sentence_spans`."""

from __future__ import annotations

import re
from collections.abc import Iterator

# A fenced block of code is one part, a blank line or an item of a list ends one, and so does
# punctuation: that of wide scripts by itself, other signs before a space.
_FENCE = re.compile(r"^(```|~~~).*?(?:^\1[^\S\n]*$|\Z)", re.M | re.S)
_BLOCK = re.compile(r"\n[^\S\n]*\n|\n(?=[^\S\n]*(?:[-*+•]|\d+[.)])\s)")
_END = re.compile(r"[。！？]+[」』”’）]*|[.!?…؟۔।]+[\"'”’»)\]]*(?=\s)")
# After an initial, the number of an item, or one of these, a sentence goes on.
_GOES_ON = re.compile(
    r"(?<!.)[^\S\n]*\d+\.$|(?<![^\s(])(?:[^\W\d_]|(?:[^\W\d_]\.)+[^\W\d_]"
    r"|Dr|Mr|Mrs|Ms|Prof|St|Sr|Jr|vs|etc|cf|No|Fig|Eq|al|Nr|bzw|ca)\.$"
)


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """The characters (start, end) of each sentence, without whitespace around it.

    Lines that a text was wrapped into are joined; a fenced block of code is one sentence, and an
    item of a list begins one. The rule knows common abbreviations and initials of some European
    languages, and no language without marks at the end of a sentence, such as Thai: there, a
    sentence is a paragraph.
    """
    return [
        (start + len(part) - len(part.lstrip()), start + len(part.rstrip()))
        for start, end in _parts(text)
        if (part := text[start:end]).strip()
    ]


def _parts(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    for fence in _FENCE.finditer(text):
        yield from _blocks(text, at, fence.start())
        yield fence.span()
        at = fence.end()
    yield from _blocks(text, at, len(text))


def _blocks(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for gap in [*_BLOCK.finditer(text, start, end), None]:
        stop = end if gap is None else gap.start()
        for mark in _END.finditer(text, start, stop):
            if not _GOES_ON.search(text, start, mark.end()):
                yield start, mark.end()
                start = mark.end()
        yield start, stop
        start = end if gap is None else gap.end()
