"""The parts of a prompt that some rows look at, in words."""

from __future__ import annotations

from collections.abc import Iterator

from attnwidget.analysis import RunningText, TextShares, part_shares, text_shares
from attnwidget.record import Stack

from .lines import number, one_line, wrapped


def sources(stack: Stack, running: RunningText, rows: slice, count: int) -> Iterator[str]:
    """The shares of sinks, and of sentences in what the rest of the text gets.

    Args:
        rows: the rows that are looked at, of `RunningText.rows`.
        count: the most sentences.
    """
    shares = text_shares(stack, running)
    yield from sinks_of(running, shares, rows)
    parts = sorted(part_shares(running, shares, rows), key=lambda part: -part.share)
    entries = (
        f"sentence {part.number + 1} of {len(running.sentences)} "
        f"“{_sentence(running, part.number)}” {number(part.share)} (even {number(part.even)})"
        for part in parts[:count]
    )
    yield from wrapped("Of what the rest of the prompt gets:", entries, most=4)


def sinks_of(running: RunningText, shares: TextShares, rows: slice) -> Iterator[str]:
    """The shares of sinks, in a line."""
    mean = shares.mean[rows].mean(axis=0)
    sinks = (
        f"{one_line(sink.label, 24)} {number(float(mean[list(sink.keys)].sum()))}"
        for sink in shares.sinks
    )
    whose = "The answer's rows" if running.answered else "All rows"
    yield from wrapped(f"{whose}, on sinks:", sinks, most=1)


def _sentence(running: RunningText, at: int) -> str:
    """The text of a sentence, or the name of an image."""
    start, end = running.sentences[at]
    offsets = [span for span in (running.keys.offsets or ())[start:end] if span is not None]
    text = (running.keys.text or "")[offsets[0][0] : offsets[-1][1]] if offsets else ""
    return running.name_of((start, end)) or one_line(text, 60)
