"""An answer in words: its tokens, and the parts of its prompt beside an even share; also in a
description of its record, or of a view."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan

from attnwidget.analysis import RunningText, TextShares, part_shares, running_text, text_shares
from attnwidget.counted import counted
from attnwidget.interventions.answer import Answer
from attnwidget.record import Replay, Stack

from .lines import Block, beside, fitted, missing_block, number, one_line, wrapped

_PARTS = 16


def describe_answer(answer: Answer) -> str:
    """Say what was answered, and which parts of the prompt it looks at, beside even shares."""
    record = answer.record
    kind = "sentence" if answer.named is None else "segment"
    heading = (
        f"Answer of {one_line(record.model) or 'an unnamed model'}, "
        f"{counted(len(answer.tokens), 'token')}, to a prompt of "
        f"{counted(len(answer.parts), kind)}; attention of stack {answer.stack}, mean of all heads."
    )
    assert record.replay is not None
    return fitted(
        [
            Block("The answer", 0, [heading]),
            Block("What was generated", 0, [*generated(record.replay)]),
            missing_block(record.missing),
            Block("the prompt's parts", 1, [*_parts(answer, kind)]),
        ]
    )


def _parts(answer: Answer, kind: str) -> Iterator[str]:
    """The shares of sinks, and the parts by their share, with nulls and cuts that are known."""
    stack = answer.record.stack(answer.stack)
    running = running_text(stack)
    assert running is not None
    yield from sinks_of(running, text_shares(stack, running), slice(0, len(answer.tokens)))
    numbers, columns = answer.columns()
    others = [
        ("shuffled", "in other orders", "; in other orders: what its place gets then"),
        ("cut", "cut", "; cut: change of the answer's log probability without it"),
    ]
    known = [other for other in others if other[0] in columns]
    meaning = "".join(means for _, _, means in known)
    yield (
        "Of what the rest of the prompt gets, largest share first (even: each token as much"
        f"{meaning}):"
    )
    order = sorted(range(len(numbers)), key=lambda at: -columns["share"][at])
    for at in order[:_PARTS]:
        name = f" {one_line(columns['name'][at], 30)}" if "name" in columns else ""
        against = [f"even {number(columns['even'][at], 3)}"]
        for column, word, _ in known:
            value, unit = columns[column][at], " nats" if column == "cut" else ""
            against += [] if isnan(value) else [f"{word} {number(value, 3)}{unit}"]
        text, share = one_line(columns["text"][at], 70), number(columns["share"][at], 3)
        yield f"    {kind} {numbers[at]}{name} “{text}” {share} ({'; '.join(against)})"
    if len(order) > _PARTS:
        yield f"    … {len(order) - _PARTS} more"


def generated(replay: Replay) -> Iterator[str]:
    """The generated text, how far it was read from its generation, and its unlikeliest tokens."""
    typical = "" if replay.typical is None else f", {replay.typical:.1g} in the median"
    said = f" ({one_line(replay.reason)})" if replay.reason else ""
    # Less than float32 can tell is no difference.
    within = (
        "as generated"
        if replay.difference < 1e-8
        else f"within {replay.difference:.1g} of the generation's{typical}, tolerance "
        f"{replay.tolerance:.1g}"
    )
    yield (
        f"Generated text, read once more: logits {within}{said}."
        if replay.difference
        else "Generated text, recorded as it was generated."
    )
    if replay.written:
        text = "".join(each.text for each in replay.written)
        yield f"Generated, {counted(len(replay.written), 'token')}: “{one_line(text, 240)}”"
        least = sorted(enumerate(replay.written), key=lambda pair: pair[1].probability)[:6]
        yield from wrapped(
            "Its tokens of the lowest probability:",
            (f"{one_line(w.label, 24)} (number {n}) {number(w.probability)}" for n, w in least),
            most=1,
        )


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
