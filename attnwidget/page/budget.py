"""Selection of the layers that a notebook keeps of a widget, within a budget."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, SupportsIndex

from attnwidget.arguments import checked, one_of, real
from attnwidget.progress import progress_bar, step_done
from attnwidget.record import AttentionRecord, runs
from attnwidget.view_state import ShownRecord
from attnwidget.wire import partner_stacks
from attnwidget.wire.compression import FINE, FINE_DIFFERENCES, LIMITS, Limits, Quality

from .base85 import base85_size
from .pack import (
    PAGE_SIZE,
    Blocks,
    PackedLayer,
    ToPack,
    fits_in_page,
    packed_fine,
    packed_layer,
    packed_numbers,
)
from .shown import layer_numbers

# Packing at a quality ends early if all layers would exceed the budget by this factor. Layers
# differ in size, so a smaller excess may still turn out to fit.
_MAX_EXCESS = 1.25
# The bytes of a layer per character of the notebook: in base 64 as a widget's state, in base 85 in
# the page of a static cell.
_DENSITY = {"embed": 3 / 4, "static": 4 / 5}

Method = Literal["embed", "static"]


@dataclass
class Saved:
    """The layers that a notebook keeps.

    Attributes:
        quality: of all of them.
        chosen: by stack and number, in the order of their importance.
        method: the widget's method that saves them.
        packed: the layers that fit, by stack and number.
        size: of these in the notebook, in bytes.
        expected: the estimated size of all chosen layers.
    """

    quality: Quality
    chosen: Mapping[tuple[str, int], ToPack]
    method: Method
    packed: Blocks = field(default_factory=dict)
    size: int = 0
    expected: float = 0

    @property
    def complete(self) -> bool:
        return len(self.packed) == len(self.chosen)


def layers_within(
    shown: ShownRecord,
    *,
    layers: Iterable[SupportsIndex] | None,
    quality: Quality | None,
    budget: float | None,
    method: Method,
) -> tuple[Blocks, str]:
    """Pack layers, and the matrices of their lenses, for a notebook: (blocks, a note).

    The note is for the reader, and "" if there is nothing to say.

    Of a comparison, layers of both go together, since the difference needs both.

    Args:
        layers, quality, budget: see `AttentionWidget.embed`.
        method: the widget's method that saves the layers, which the note recommends for another
            selection.

    Raises:
        TypeError, ValueError, IndexError: see `AttentionWidget.embed`.
    """
    record, stack, partners = shown.record, shown.choices["stack"], partner_stacks(shown.manifest)
    numbers = layer_numbers("layers", layers)
    check_selection(record, stack, numbers, quality, budget)
    if numbers is None:
        places = _by_importance(record, stack, shown.choices["layer"], partners)
    else:
        names = [name for name in (stack, partners.get(stack)) if name is not None]
        places = [(name, number) for number in numbers for name in names]
    chosen = {place: ToPack.of(record, *place, shown.lenses) for place in places}
    finest = FINE_DIFFERENCES if partners else FINE
    limit = math.inf if budget is None else budget
    with progress_bar("Packing", "layers", len(chosen) if budget is None else None):
        saved, finer = _fitted(chosen, quality, limit, finest, method)
    note = _note(saved, finer, limit, record) or shown.note
    blocks, room = dict(saved.packed), limit - saved.size
    # Matrices of lenses have the room that is left.
    kept = [place for place in chosen if place in blocks]
    for at, packed in packed_numbers(record, shown.lenses, shown.choices["lens"], kept):
        room -= _in_notebook([packed], method)
        if room < 0:
            break
        blocks[at] = packed
    return blocks, note


@checked(quality=one_of(Quality, None), budget=real("a number of bytes, as 8_000_000", none=True))
def check_selection(
    record: AttentionRecord,
    stack: str,
    layers: Iterable[int] | None,
    quality: Quality | None,
    budget: float | None,
) -> None:
    """Raise the errors of `AttentionWidget.embed` for these arguments."""
    for number in layers or ():
        record.layer(number, stack)


def _fitted(
    chosen: Mapping[tuple[str, int], ToPack],
    quality: Quality | None,
    budget: float,
    finest: Limits,
    method: Method,
) -> tuple[Saved, Saved | None]:
    """(saved layers, the attempt at a finer quality or None), for the finest quality that fits."""
    if quality is None or quality == "default":
        room = min(budget, PAGE_SIZE) * _DENSITY[method]
        packed = packed_fine([*chosen.values()], room, finest)
        if packed is not None:
            layers: Blocks = dict(zip(chosen, packed, strict=True))
            return Saved("default", chosen, method, layers, _in_notebook(packed, method)), None
    first: Quality = "compact" if quality in (None, "default") else quality
    saved = _within(Saved(first, chosen, method), budget, last=quality is not None)
    if saved.complete or quality is not None:
        return saved, None
    return _within(Saved("draft", chosen, method), budget, last=True), saved


def _note(saved: Saved, finer: Saved | None, budget: float, record: AttentionRecord) -> str:
    """The note on the saved layers; "" if all are saved at the requested quality."""
    advice = f"Change it with widget.{saved.method}(layers=…, quality=…, budget=…)."
    size, why = _size(saved.size), f"and the budget is {_size(budget)}. {advice}"
    count = f"{len(saved.chosen)} layer{'' if len(saved.chosen) == 1 else 's'}"
    if saved.complete:
        if finer is None:
            return ""
        return (
            f"All {count} are saved with this notebook, at {saved.quality} quality, in "
            f"{size}; at {finer.quality} quality they would take about {_size(finer.expected)}, "
            f"{why}"
        )
    whole = f"all {count} would take about {_size(saved.expected)}"
    if not saved.packed:
        return f"No layer is saved with this notebook: {whole}, {why}"
    kept = f"{_named(saved, record)}, at {saved.quality} quality, in {size}"
    return f"Saved with this notebook: {kept}; {whole}, {why}"


def _by_importance(
    record: AttentionRecord, stack: str, layer: int, partners: Mapping[str, str]
) -> list[tuple[str, int]]:
    """All layers: those nearest to the current one first, other stacks last, partners together."""
    nearest = sorted(record.stack(stack).numbers, key=lambda other: abs(other - layer))
    others = [name for name in record.stacks if name not in (stack, *partners.values())]
    places = [(stack, near) for near in nearest]
    places += [(name, number) for name in others for number in record.stack(name).numbers]
    return [
        (each, number)
        for name, number in places
        for each in (name, partners.get(name))
        if each is not None
    ]


def _within(saved: Saved, budget: float, *, last: bool) -> Saved:
    """Pack layers until the budget is full; unless `last`, only while all are likely to fit."""
    whole = sum(to_pack.size for to_pack in saved.chosen.values())
    raw_size, packed_size = 0, 0
    too_large = False
    for place, to_pack in saved.chosen.items():
        if budget < math.inf and not fits_in_page(to_pack.layer):
            too_large = True
            continue
        packed = packed_layer(to_pack, LIMITS[saved.quality])
        step_done()
        size = _in_notebook([packed], saved.method)
        raw_size += to_pack.size
        packed_size += size
        saved.expected = packed_size / raw_size * whole
        if saved.size + size > budget:
            break
        saved.size += size
        saved.packed[place] = packed
        if not last and saved.expected > _MAX_EXCESS * budget:
            break
    if too_large:
        saved.expected = max(saved.expected, whole)
    return saved


def _in_notebook(layers: Iterable[PackedLayer], method: Method) -> int:
    """The characters in which a notebook holds layers that this method saves."""
    sizes = [len(layer.data) for layer in layers]
    if method == "static":
        return sum(map(base85_size, sizes))
    return sum(-(-size // 3) * 4 for size in sizes)


def _named(saved: Saved, record: AttentionRecord) -> str:
    """Name the saved layers: "layers 2–4", or "layers 0–5 of cross, 0 of encoder"."""
    parts = []
    for name in dict.fromkeys(stack for stack, _ in saved.chosen):
        numbers = [n for n in record.stack(name).numbers if (name, n) in saved.packed]
        if numbers:
            parts.append(runs(numbers) + (f" of {name}" if len(record.stacks) > 1 else ""))
    return f"{'layer' if len(saved.packed) == 1 else 'layers'} {', '.join(parts)}"


def _size(size: float) -> str:
    if size < 1e6:
        return f"{size / 1e3:.0f} KB"
    return f"{size / 1e6:.1f}".removesuffix(".0") + " MB"
