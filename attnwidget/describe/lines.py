"""Lines of a description: lists that break between their entries, and the limit of all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isnan
from typing import SupportsFloat

from attnwidget.counted import counted
from attnwidget.record import Tokens
from attnwidget.record.files import printable
from attnwidget.wire.text import sendable

MOST_LINES, _WIDE = 60, 160
_LONGEST_LABEL = 24
_MOST_REASONS = 5


@dataclass(frozen=True)
class Block:
    """Lines that stand together, or are left out together.

    Attributes:
        name: what they say, as in "By layer".
        rank: 0 for those that every description has; the highest are left out first.
        lines: the lines.
        longer: the same with longer lists, where there is room.
    """

    name: str
    rank: int
    lines: Sequence[str]
    longer: Sequence[str] = ()


def fitted(blocks: Iterable[Block]) -> str:
    """The text of as many blocks as there is room for, in their order, and what is left out."""
    kept = [block for block in blocks if block.lines]
    left: list[Block] = []
    while sum(len(block.lines) for block in kept) + bool(left) > MOST_LINES:
        last = max(range(len(kept)), key=lambda at: (kept[at].rank, at))
        left.append(kept.pop(last))
    count = sum(len(block.lines) for block in kept)
    lines: list[str] = []
    for block in kept:
        more = len(block.longer) - len(block.lines)
        fits = more > 0 and not left and count + more <= MOST_LINES
        lines += block.longer if fits else block.lines
        count += more if fits else 0
    names = dict.fromkeys(block.name for block in reversed(left))
    note = wrapped(f"Left out to stay within {MOST_LINES} lines:", names, most=1) if left else []
    return "\n".join([*lines, *note])


def missing_block(missing: Iterable[str]) -> Block:
    """The lines on attention that could not be read, with its reasons."""
    reasons = [one_line(reason, 300) for reason in missing]
    if not reasons:
        return Block("What is missing", 0, ["Missing: nothing that was asked for."])
    lines = [f"Missing: {counted(len(reasons), 'entry').replace('entrys', 'entries')}."]
    lines += [f"    {reason}" for reason in reasons[:_MOST_REASONS]]
    if len(reasons) > _MOST_REASONS:
        lines.append(f"    … {len(reasons) - _MOST_REASONS} more")
    return Block("What is missing", 0, lines)


def wrapped(head: str, entries: Iterable[str], *, most: int, between: str = ";") -> list[str]:
    """A list in lines of 160 signs, which break between entries; those without room are counted.

    Args:
        head: stands before the first entry; further lines are indented.
        most: the most lines.
    """
    all_of_them = list(entries)
    lines = [head]
    for at, entry in enumerate(all_of_them):
        end = between if at + 1 < len(all_of_them) else ""
        if len(lines[-1]) + len(entry) > _WIDE and lines[-1] != head:
            if len(lines) == most:
                lines[-1] += f" … {len(all_of_them) - at} more"
                break
            lines.append("   ")
        lines[-1] += f" {entry}{end}"
    return lines if all_of_them else []


def by_word(lead: str, words: Sequence[str], most: int) -> tuple[list[str], list[str]]:
    """(the words of heads, the commonest first and "mixed" last; the lines that count them)."""
    counts = Counter(words)
    order = sorted(counts, key=lambda word: (word == "mixed", -counts[word], word))
    entries = (f"{word}: {counts[word]} of {len(words)}" for word in order)
    return order, wrapped(lead, entries, most=most)


def one_line(text: str, longest: int = 120) -> str:
    """The text on one line, cut at its end; the number of signs that are left out is said."""
    line = printable(" ".join(sendable(text).split()))
    return line if len(line) <= longest else f"{line[:longest]}… ({len(line)} signs)"


def named(tokens: Tokens, position: int) -> str:
    """A token and its position: "it (11)"."""
    return f"{one_line(tokens.labels[position], _LONGEST_LABEL)} ({position})"


def head_name(head: tuple[int, int]) -> str:
    """A layer and a head: "4-7"."""
    return f"{head[0]}-{head[1]}"


def number(value: SupportsFloat, digits: int = 2) -> str:
    """A number with so many decimals; no minus before zero."""
    text = f"{float(value):.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def beside(word: str, value: SupportsFloat | None, digits: int = 2) -> str:
    """A number to compare with, as " (null 0.12)"; "" for none, or NaN."""
    if value is None or isnan(value):
        return ""
    return f" ({word} {number(value, digits)})"
