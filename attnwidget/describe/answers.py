"""An answer in words: its tokens, and the parts of its prompt beside an even share."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan

from attnwidget.analysis import running_text, text_shares
from attnwidget.counted import counted
from attnwidget.interventions.answer import Answer

from .lines import Block, fitted, number, one_line
from .records import generated, missing_block
from .sources import sinks_of

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
    names = columns.get("name", [None] * len(numbers))
    yield (
        "Of what the rest of the prompt gets, largest share first (even: each token as much"
        + ("; in other orders: what its place gets then" if "shuffled" in columns else "")
        + ("; cut: change of the answer's log probability without it" if "cut" in columns else "")
        + "):"
    )
    order = sorted(range(len(numbers)), key=lambda at: -columns["share"][at])
    for at in order[:_PARTS]:
        name = "" if names[at] is None else f" {one_line(names[at], 30)}"
        beside = f"even {number(columns['even'][at], 3)}"
        for column, word, unit in (("shuffled", "in other orders", ""), ("cut", "cut", " nats")):
            value = columns[column][at] if column in columns else float("nan")
            beside += "" if isnan(value) else f"; {word} {number(value, 3)}{unit}"
        text = one_line(columns["text"][at], 70)
        share = number(columns["share"][at], 3)
        yield f"    {kind} {numbers[at]}{name} “{text}” {share} ({beside})"
    if len(order) > _PARTS:
        yield f"    … {len(order) - _PARTS} more"
