"""A record in words: what was read, how exactly, and what stands out in each stack."""

from __future__ import annotations

from collections.abc import Iterator

from attnwidget.counted import counted
from attnwidget.record import AttentionRecord, Stack, Tokens

from .answers import generated
from .lines import Block, fitted, missing_block, one_line, wrapped
from .stacks import stack_blocks

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


def _texts(stacks: list[Stack]) -> Iterator[str]:
    """Each text once, of the sides that have one."""
    sides: list[Tokens] = [side for stack in stacks for side in (stack.queries, stack.keys)]
    for text in list(dict.fromkeys(side.text for side in sides if side.text))[:3]:
        yield f"Text: “{one_line(text, _LONGEST_TEXT)}”"
