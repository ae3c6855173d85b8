"""Headings of the neuron view's columns: their names, and the formula of this head."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from attnwidget.record import Layer, ScoreProgram

from .explanation import HeadExplanation
from .neuron_columns import NeuronColumns
from .text import clean, num_letters, precise

_GAP = 4


@dataclass(frozen=True)
class Heading:
    """Names and details, each in full and then ever shorter: the first that has room is shown."""

    names: Sequence[str]
    details: Sequence[str]
    left: float
    width: float
    altered: bool = False

    def text(self, letter: float) -> str:
        """Name and detail below each other, as far as there is room for letters so wide."""
        name = next((n for n in self.names if self._fits(n, letter)), self.names[-1])
        detail = next((d for d in self.details if self._fits(d, letter)), "")
        return f"{name}\n{detail}"

    def _fits(self, text: str, letter: float) -> bool:
        return num_letters(text) * letter <= self.width


def headings_of(head: HeadExplanation, columns: NeuronColumns, expanded: bool) -> list[Heading]:
    bars = _of_bars(head, columns)
    if expanded:
        return [*_of_vectors(head, columns), *bars]
    left, right = columns.curves
    detail = ["the model’s own"] if head.muted else []
    return [Heading(["Attention"], detail, left, right - left), *bars]


def _of_vectors(head: HeadExplanation, columns: NeuronColumns) -> list[Heading]:
    names = [clean(name) for name in head.axes.query.names]
    dim, muted = head.dim, len(head.muted)
    details = []
    if head.comparison is not None:
        details = [f"{names[head.query]} above, {names[head.comparison.query]} below"]
        details.append("2 queries")
    elif muted:
        details = [f"{muted} muted"]
    elif head.deciding is not None:
        count = f"▾ {len(head.deciding)}"
        details = [f"{count} of {dim} make 80%", f"{count} of {dim}", count]
    after = (columns.bias or columns.scores or columns.weights).left
    return [
        Heading(["Query q"], [names[head.query]], columns.queries, columns.strip),
        Heading(
            ["Key k"],
            _sharing(head.layer, head.head),
            columns.keys,
            columns.products - columns.keys - _GAP,
        ),
        Heading(
            ["q × k"],
            details,
            columns.products,
            after - columns.products - _GAP,
            altered=head.comparison is None and muted > 0,
        ),
    ]


def _of_bars(head: HeadExplanation, columns: NeuronColumns) -> list[Heading]:
    program, muted = head.layer.program, len(head.muted)
    heads = []
    if columns.bias is not None:
        bias = columns.bias
        heads.append(Heading(["+ bias"], [], bias.left, bias.end - bias.left))
    if columns.scores is not None:
        scale, *steps = scaling(program, head.head, head.dim) if program else [""]
        rules = [*steps, masking(program)] if program else ["scores not recorded"]
        said = [one for one in (f"{muted} muted" if muted else "", *rules) if one]
        details = [", ".join(said[: len(said) - n]) for n in range(len(said))]
        width = columns.weights.left - columns.scores.left - _GAP
        name = f"q·k {scale}".strip()
        heads.append(Heading([name, "q·k"], details, columns.scores.left, width, muted > 0))
    details = [] if head.sink is None else ["with a sink", "sink"]
    if muted:
        details = ["not the model’s own", "not model’s own", "altered"]
        if program is None:
            details = ["the model’s own", "own"]
    weights = columns.weights
    altered = muted > 0 and program is not None
    return [
        *heads,
        Heading(["Softmax"], details, weights.left, weights.end - weights.left, altered),
    ]


def scaling(program: ScoreProgram, head: int, dim: int) -> list[str]:
    """What makes a score of q.k, step by step; the first, "", where the scale is 1."""
    scale = program.head_scale(head)
    root = abs(scale * math.sqrt(dim) - 1) < 1e-6
    steps = [f"÷ √{dim}" if root else "" if scale == 1 else f"× {precise(scale)}"]
    if program.softcap is not None:
        cap = f"{program.softcap:g}"
        steps.append(f"softcap {cap}·tanh(x/{cap})")
    return [*steps, "+ bias"] if program.bias is not None or program.relative is not None else steps


def masking(program: ScoreProgram) -> str:
    """Which keys a query sees: "" where all."""
    rule = {"none": "", "causal": "causal mask", "explicit": "mask"}.get(program.mask, "")
    if program.window is not None:
        rule = f"window {program.window[0]} back, {program.window[1]} ahead"
    blocks = program.blocks
    own = f"blocks of {blocks[0]} × {blocks[1]}" if blocks else ""
    return ", ".join(filter(None, (rule, own)))


def _sharing(layer: Layer, head: int) -> list[str]:
    """With grouped keys, the other heads that use the same."""
    group = layer.num_heads // layer.num_kv_heads
    if group <= 1:
        return []
    first = head // group * group
    sharing = [str(at) for at in range(first, first + group) if at != head]
    others = f"{'heads' if len(sharing) > 1 else 'head'} {', '.join(sharing)}"
    return [f"keys shared with {others}", f"shared with {others}", "shared"]
