"""A comparison in words: what both records have in common, and what moves between them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from attnwidget.analysis import Comparison
from attnwidget.counted import counted

from .lines import Block, beside, fitted, head_name, number, one_line, wrapped

_HEADS, _CHANGES = 8, 3


def describe_comparison(comparison: Comparison) -> str:
    """Say what two records have in common, and the heads and links that differ most."""
    names = [one_line(each.model) or "an unnamed model" for each in (comparison.a, comparison.b)]
    blocks = [
        Block("The comparison", 0, [f"Comparison of A, {names[0]}, with B, {names[1]}; B − A."])
    ]
    for name in comparison.stacks:
        blocks += _stack(comparison, name)
    return fitted(blocks)


def _stack(comparison: Comparison, name: str) -> Iterator[Block]:
    keys = comparison.keys(name)
    pairs = zip(keys.labels, keys.pairs, strict=True)
    changed = [one_line(label, 30) for label, pair in pairs if not pair.equal]
    line = (
        f"Stack {name}: {counted(len(keys.pairs), keys.level[:-1])} in common, {len(changed)} of "
        "them different"
    )
    about = wrapped(f"{line}:", changed, most=2) or [f"{line}."]
    yield Block(f"Stack {name}", 0, ["", *about])
    scores = comparison.metrics()
    moved = scores["moved"]
    means = (
        f"{each.name} {number(np.nanmean(each.values(name)), 3)}"
        f"{beside('null', np.nanmean(each.null_values(name)), 3)}"
        for each in scores.values()
    )
    lead = f"Mean of all heads, beside {moved.null_label}:"
    yield Block(f"all heads ({name})", 1, wrapped(lead, means, most=2))
    ranking, null = moved.ranking(name), (moved.null or {})[name]
    entries = [
        f"{head_name(each[:2])} {number(each.value)}{beside('null', null[each.layer][each.head])}"
        for each in ranking
    ]
    yield Block(
        f"heads ({name})", 1,
        [
            *wrapped("Share of attention that lies elsewhere, highest:", entries[:_HEADS], most=2),
            *wrapped("    lowest:", entries[::-1][:_CHANGES], most=1),
        ],
    )  # fmt: skip
    lines = []
    for score in ranking[:_CHANGES]:
        changes = comparison.changes(score.layer, score.head, name, count=5)
        links = (
            f"{one_line(c.query, 24)} → {one_line(c.key, 24)} {number(c.a)} to {number(c.b)} "
            f"({c.difference:+.2f})"
            for c in changes
        )
        lines += wrapped(f"Links of {head_name(score[:2])} that change most:", links, most=2)
    yield Block(f"links ({name})", 2, lines)
