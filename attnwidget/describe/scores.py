"""The scores of heads in words: the largest, beside the null of their layer."""

from __future__ import annotations

from collections.abc import Iterator

from attnwidget.analysis import HeadScores
from attnwidget.counted import counted

from .lines import Block, fitted, number, one_line, wrapped
from .records import missing_block

_HEADS, _MORE_HEADS = 8, 24


def describe_scores(scores: HeadScores) -> str:
    """Say what was measured of heads, the largest numbers, and how many lie outside the null's."""
    null = f"beside {one_line(scores.null_label or 'a null')}" if scores.null else "no null"
    said = [
        f"{scores.name} of heads, of {one_line(scores.measured_on or 'what is not said')}; {null}.",
        one_line(scores.description, 600),
    ]
    blocks = [Block("The scores", 0, said), missing_block(scores.missing)]
    for stack in scores.rows:
        outside, more = ([*_heads(scores, stack, count)] for count in (_HEADS, _MORE_HEADS))
        blocks.append(Block(f"stack {stack}", 1, outside, more))
    return fitted(blocks)


def _heads(scores: HeadScores, stack: str, count: int) -> Iterator[str]:
    ranking = scores.ranking(stack)
    found = f"Stack {stack}, {counted(len(ranking), 'head')}"
    bands = {}
    if scores.null:
        bands = {layer: scores.band(stack, layer=layer) for layer in scores.layers(stack)}
        above = sum(head.value > bands[head.layer][1] for head in ranking)
        below = sum(head.value < bands[head.layer][0] for head in ranking)
        found += f", {above} above and {below} below 95% of the null of their layer"
    entries = []
    for layer, head, value in ranking[:count]:
        ends = [number(end, 3) for end in bands.get(layer, ())]
        beside = f" ({' to '.join(ends)})" if ends else ""
        entries.append(f"{layer}-{head} {number(value, 3)}{beside}")
    yield from wrapped(f"{found}; largest:", entries, most=12)
