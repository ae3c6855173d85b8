"""The parts of a prompt that some rows look at, in words."""

from __future__ import annotations

from collections.abc import Iterator

from attnwidget.analysis import RunningText, TextShares, part_shares, text_shares
from attnwidget.record import Stack

from .lines import beside, number, one_line, wrapped


def sources(stack: Stack, running: RunningText, rows: slice, count: int) -> Iterator[str]:
    """The shares of sinks, and of sentences in what the rest of the text gets.

    Args:
        rows: the rows that are looked at, of `RunningText.rows`.
        count: the most sentences.
    """
    shares = text_shares(stack, running)
    yield from sinks_of(running, shares, rows)
    parts = sorted(part_shares(running, shares, rows), key=lambda part: -part.share)
    entries = []
    for part in parts[:count]:
        text = one_line(running.text_of(running.sentences[part.number]), 60)
        which = f"sentence {part.number + 1} of {len(running.sentences)} “{text}”"
        entries.append(f"{which} {number(part.share)}{beside('even', part.even)}")
    yield from wrapped("Of what the rest of the prompt gets:", entries, most=4)


def sinks_of(running: RunningText, shares: TextShares, rows: slice) -> Iterator[str]:
    """The shares of sinks, in a line."""
    mean = shares.mean[rows].mean(axis=0)
    sinks = (
        f"{one_line(sink.label, 24)} {number(mean[list(sink.keys)].sum())}" for sink in shares.sinks
    )
    whose = "The answer's rows" if running.answered else "All rows"
    yield from wrapped(f"{whose}, on sinks:", sinks, most=1)
