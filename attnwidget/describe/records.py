"""A record in words: what was read, how exactly, and what stands out in each stack."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from attnwidget.counted import counted
from attnwidget.record import AttentionRecord, Replay, Stack, Tokens

from .lines import Block, fitted, number, one_line, wrapped
from .stacks import stack_blocks

_MOST_REASONS = 5
_LONGEST_TEXT = 300


def describe_record(record: AttentionRecord) -> str:
    """Say what a record holds, and what stands out in it."""
    blocks = [*_head(record)]
    for name in record.stacks:
        blocks += stack_blocks(record, name)
    return fitted(blocks)


def _head(record: AttentionRecord) -> Iterator[Block]:
    stacks = [record.stack(name) for name in record.stacks]
    heads = sum(layer.num_heads for stack in stacks for layer in stack.layers)
    layers = sum(len(stack.layers) for stack in stacks)
    yield Block(
        "The record",
        0,
        [
            f"Record of {one_line(record.model) or 'an unnamed model'}: "
            f"{counted(len(stacks), 'stack')} ({', '.join(record.stacks[:12])}), "
            f"{counted(layers, 'layer')}, {counted(heads, 'head')}."
        ],
    )
    yield Block("The text", 0, list(_texts(stacks)))
    if record.images:
        sizes = (f"{each.size[0]} x {each.size[1]} pixels" for each in record.images)
        yield Block(
            "The images", 1, wrapped(f"{counted(len(record.images), 'image')}:", sizes, most=1)
        )
    if record.replay is not None:
        yield Block("What was generated", 0, list(generated(record.replay)))
    yield missing_block(record.missing)


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


def _texts(stacks: list[Stack]) -> Iterator[str]:
    """Each text once, of the sides that have one."""
    sides: list[Tokens] = [side for stack in stacks for side in (stack.queries, stack.keys)]
    for text in list(dict.fromkeys(side.text for side in sides if side.text))[:3]:
        yield f"Text: “{one_line(text, _LONGEST_TEXT)}”"


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
