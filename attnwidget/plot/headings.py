"""What stands above the columns of the neuron view: their names, and the formula of this head."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from attnwidget.record import Layer, ScoreProgram

from .explained import Facts
from .text import clean, precise

if TYPE_CHECKING:
    from .places import Places

_GAP = 6


@dataclass(frozen=True)
class Head:
    """Names and details, each in full and then ever shorter: the first that has room is shown."""

    names: Sequence[str]
    details: Sequence[str]
    left: float
    width: float
    altered: bool = False


def heads_of(facts: Facts, places: Places, expanded: bool) -> list[Head]:
    bars = _of_bars(facts, places)
    if expanded:
        return [*_of_vectors(facts, places), *bars]
    left, right = places.curves
    detail = ["the model’s own"] if facts.muted else []
    return [Head(["Attention"], detail, left, right - left), *bars]


def _of_vectors(facts: Facts, places: Places) -> list[Head]:
    names = [clean(name) for name in facts.axes.query.names]
    dim, muted = facts.dim, len(facts.muted)
    details = []
    if facts.comparison is not None:
        details = [f"{names[facts.query]} above, {names[facts.comparison.query]} below"]
        details.append("2 queries")
    elif muted:
        details = [f"{muted} muted"]
    elif facts.telling is not None:
        count = f"▾ {len(facts.telling)}"
        details = [f"{count} of {dim} make 80%", f"{count} of {dim}", count]
    after = (places.bias or places.scores or places.weights).left
    return [
        Head(["Query q"], [names[facts.query]], places.queries, places.strip),
        Head(
            ["Key k"],
            _sharing(facts.layer, facts.head),
            places.keys,
            places.products - places.keys - _GAP,
        ),
        Head(
            ["q × k"],
            details,
            places.products,
            after - places.products - _GAP,
            altered=facts.comparison is None and muted > 0,
        ),
    ]


def _of_bars(facts: Facts, places: Places) -> list[Head]:
    program, muted = facts.layer.program, len(facts.muted)
    heads = []
    if places.bias is not None:
        bias = places.bias
        heads.append(Head(["+ bias"], [], bias.left, bias.end - bias.left))
    if places.scores is not None:
        scale, *steps = scaling(program, facts.head, facts.dim) if program else [""]
        rules = [*steps, masking(program)] if program else ["scores not recorded"]
        said = [one for one in (f"{muted} muted" if muted else "", *rules) if one]
        details = [", ".join(said[: len(said) - n]) for n in range(len(said))]
        width = places.weights.left - places.scores.left - _GAP
        name = f"q·k {scale}".strip()
        heads.append(Head([name, "q·k"], details, places.scores.left, width, muted > 0))
    details = [] if facts.sink is None else ["with a sink", "sink"]
    if muted:
        details = ["not the model’s own", "not model’s own", "altered"]
        if program is None:
            details = ["the model’s own", "own"]
    weights = places.weights
    altered = muted > 0 and program is not None
    return [*heads, Head(["Softmax"], details, weights.left, weights.end - weights.left, altered)]


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
