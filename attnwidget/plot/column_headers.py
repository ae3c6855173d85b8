"""Column headers of the neuron view: names, and the formula of the head."""

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
class ColumnHeader:
    """A column's name and detail, each as a list from long to short: the first that fits is shown.

    Attributes:
        altered: True if the numbers are not the model's own.
    """

    names: Sequence[str]
    details: Sequence[str]
    left: float
    width: float
    altered: bool = False

    def text(self, letter: float) -> str:
        """Name and detail below each other, as they fit with letters of this width."""
        name = next((n for n in self.names if self._fits(n, letter)), self.names[-1])
        detail = next((d for d in self.details if self._fits(d, letter)), "")
        return f"{name}\n{detail}"

    def _fits(self, text: str, letter: float) -> bool:
        return num_letters(text) * letter <= self.width


def column_headers(
    head: HeadExplanation, columns: NeuronColumns, expanded: bool
) -> list[ColumnHeader]:
    """The headers of all columns, from left to right."""
    bars = _bar_headers(head, columns)
    if expanded:
        return [*_vector_headers(head, columns), *bars]
    left, right = columns.curves
    detail = ["the model’s own"] if head.muted else []
    return [ColumnHeader(["Attention"], detail, left, right - left), *bars]


def _vector_headers(head: HeadExplanation, columns: NeuronColumns) -> list[ColumnHeader]:
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
        ColumnHeader(["Query q"], [names[head.query]], columns.queries, columns.strip),
        ColumnHeader(
            ["Key k"],
            _shared_with(head.layer, head.head),
            columns.keys,
            columns.products - columns.keys - _GAP,
        ),
        ColumnHeader(
            ["q × k"],
            details,
            columns.products,
            after - columns.products - _GAP,
            altered=head.comparison is None and muted > 0,
        ),
    ]


def _bar_headers(head: HeadExplanation, columns: NeuronColumns) -> list[ColumnHeader]:
    program, muted = head.layer.program, len(head.muted)
    headers = []
    if columns.bias is not None:
        bias = columns.bias
        headers.append(ColumnHeader(["+ bias"], [], bias.left, bias.end - bias.left))
    if columns.scores is not None:
        scale, *steps = scaling(program, head.head, head.dim) if program else [""]
        rules = [*steps, masking(program)] if program else ["scores not recorded"]
        rules = [rule for rule in (f"{muted} muted" if muted else "", *rules) if rule]
        details = [", ".join(rules[:count]) for count in range(len(rules), 0, -1)]
        width = columns.weights.left - columns.scores.left - _GAP
        name = f"q·k {scale}".strip()
        headers.append(ColumnHeader([name, "q·k"], details, columns.scores.left, width, muted > 0))
    details = [] if head.sink is None else ["with a sink", "sink"]
    if muted:
        details = ["not the model’s own", "not model’s own", "altered"]
        if program is None:
            details = ["the model’s own", "own"]
    weights = columns.weights
    altered = muted > 0 and program is not None
    return [
        *headers,
        ColumnHeader(["Softmax"], details, weights.left, weights.end - weights.left, altered),
    ]


def scaling(program: ScoreProgram, head: int, dim: int) -> list[str]:
    """The steps from q.k to a score; the first, the scale, is "" for a scale of 1."""
    scale = program.head_scale(head)
    if abs(scale * math.sqrt(dim) - 1) < 1e-6:
        steps = [f"÷ √{dim}"]
    else:
        steps = ["" if scale == 1 else f"× {precise(scale)}"]
    if program.softcap is not None:
        cap = f"{program.softcap:g}"
        steps.append(f"softcap {cap}·tanh(x/{cap})")
    return [*steps, "+ bias"] if program.bias is not None or program.relative is not None else steps


def masking(program: ScoreProgram) -> str:
    """A description of the mask; "" if a query sees all keys."""
    rule = {"none": "", "causal": "causal mask", "explicit": "mask"}.get(program.mask, "")
    if program.window is not None:
        rule = f"window {program.window[0]} back, {program.window[1]} ahead"
    blocks = "blocks of {} × {}".format(*program.blocks) if program.blocks else ""
    return ", ".join(filter(None, (rule, blocks)))


def _shared_with(layer: Layer, head: int) -> list[str]:
    """The other heads that use the same keys, with grouped-query attention."""
    group = layer.num_heads // layer.num_kv_heads
    if group <= 1:
        return []
    first = head // group * group
    sharing = [str(at) for at in range(first, first + group) if at != head]
    others = f"{'heads' if len(sharing) > 1 else 'head'} {', '.join(sharing)}"
    return [f"keys shared with {others}", f"shared with {others}", "shared"]
