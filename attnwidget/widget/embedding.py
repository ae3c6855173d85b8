"""The layers that a widget saves with its notebook, as many as a budget has room for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, SupportsIndex

from attnwidget.page.blocks import is_shown_whole, packed_layer
from attnwidget.page.included import layer_numbers
from attnwidget.record import AttentionRecord, Layer, runs
from attnwidget.wire import block_size
from attnwidget.wire.compression import Quality, check_quality, fitting

# Layers differ in size, so that those to come may still make up for so much.
_HOPELESS = 1.25

_ADVICE = "Change it with widget.embed(layers=…, quality=…, budget=…)."


@dataclass
class Saved:
    """The layers in a widget's state.

    Attributes:
        quality: of all of them.
        chosen: (stack, layer) in the order of their importance.
        blocks: the layers that had room, as the view reads them, by "stack.number".
        size: of these in the notebook, in bytes.
        expected: about what all that were chosen would take.
    """

    quality: Quality
    chosen: list[tuple[str, Layer]]
    blocks: dict[str, dict[str, Any]] = field(default_factory=dict)
    size: int = 0
    expected: float = 0

    @property
    def complete(self) -> bool:
        return len(self.blocks) == len(self.chosen)


def embedded_layers(
    record: AttentionRecord,
    stack: str,
    layer: int,
    *,
    layers: Iterable[SupportsIndex] | None,
    quality: Quality | None,
    budget: float | None,
) -> tuple[dict[str, dict[str, Any]], str]:
    """(blocks by "stack.number", a note for the reader) of a record in a widget's state.

    Args:
        stack, layer: what the widget shows.
        layers, quality, budget: see `AttentionWidget.embed`.

    Raises:
        TypeError, ValueError, IndexError: see `AttentionWidget.embed`.
    """
    if quality is not None:
        check_quality(quality)
    if budget is not None and not (type(budget) in (int, float) and budget >= 0):
        raise ValueError(f"budget is {budget!r}; expected a number of bytes, as 8_000_000")
    if layers is None:
        chosen = _by_importance(record, stack, layer)
    else:
        chosen = [(stack, record.layer(number, stack)) for number in layer_numbers(layers)]
    saved, finer = _fitted(chosen, quality, budget)
    return saved.blocks, "" if budget is None else _note(saved, finer, budget, record)


def _fitted(
    chosen: list[tuple[str, Layer]], quality: Quality | None, budget: float | None
) -> tuple[Saved, Saved | None]:
    """What is saved, and, where a coarser quality makes room for it, how far the finer one came."""
    first = fitting(quality or "default", [layer for _, layer in chosen])
    ladder: list[Quality] = [first]
    if budget is not None and quality is None:
        coarser: tuple[Quality, ...] = ("default", "draft")
        ladder += [step for step in coarser if step != first]
    tried: list[Saved] = []
    for step in ladder:
        tried.append(_within(Saved(step, chosen), budget, last=step == ladder[-1]))
        if tried[-1].complete:
            break
    return tried[-1], tried[0] if len(tried) > 1 else None


def _note(saved: Saved, finer: Saved | None, budget: float, record: AttentionRecord) -> str:
    """The note on which layers are saved and why; "" if all of them are, as asked for."""
    size, why = _size(saved.size), f"and the budget is {_size(budget)}. {_ADVICE}"
    if saved.complete:
        if finer is None:
            return ""
        return (
            f"All {_counted(saved)} are saved with this notebook, at {saved.quality} quality, in "
            f"{size}; at {finer.quality} quality they would take about {_size(finer.expected)}, "
            f"{why}"
        )
    whole = f"all {_counted(saved)} would take about {_size(saved.expected)}"
    if not saved.blocks:
        return f"No layer is saved with this notebook: {whole}, {why}"
    there = f"{_named(saved, record)}, at {saved.quality} quality, in {size}"
    return f"Saved with this notebook: {there}; {whole}, {why}"


def _by_importance(record: AttentionRecord, stack: str, layer: int) -> list[tuple[str, Layer]]:
    """All layers: those nearest to the one shown first, other stacks last."""
    stacks = [stack, *(name for name in record.stacks if name != stack)]
    near = sorted(record.stack(stack).layers, key=lambda other: abs(other.number - layer))
    return [
        (name, found)
        for name in stacks
        for found in (near if name == stack else record.stack(name).layers)
    ]


def _within(saved: Saved, budget: float | None, *, last: bool) -> Saved:
    """Fill up a budget; where the next quality will be tried, only while all are likely to fit."""
    whole = sum(block_size(layer) for _, layer in saved.chosen)
    seen, found_size = 0, 0
    for stack, layer in saved.chosen:
        if budget is not None and not is_shown_whole(layer):
            saved.expected = max(saved.expected, whole)
            break
        packed = packed_layer(layer, saved.quality)
        # In base64.
        size = -(-len(packed.data) // 3) * 4
        seen += block_size(layer)
        found_size += size
        saved.expected = found_size / seen * whole
        if budget is not None and saved.size + size > budget:
            break
        saved.size += size
        saved.blocks[f"{stack}.{layer.number}"] = packed.content | {"data": packed.data}
        if budget is not None and not last and saved.expected > _HOPELESS * budget:
            break
    return saved


def _counted(saved: Saved) -> str:
    count = len(saved.chosen)
    return f"{count} layers" if count != 1 else "1 layer"


def _named(saved: Saved, record: AttentionRecord) -> str:
    """ "layers 2–4", or "layers 0–5 of cross, 0 of encoder"."""
    parts = []
    for name in dict.fromkeys(stack for stack, _ in saved.chosen):
        numbers = [n for n in record.stack(name).numbers if f"{name}.{n}" in saved.blocks]
        if numbers:
            parts.append(runs(numbers) + (f" of {name}" if len(record.stacks) > 1 else ""))
    return f"{'layer' if len(saved.blocks) == 1 else 'layers'} {', '.join(parts)}"


def _size(size: float) -> str:
    if size < 1e6:
        return f"{size / 1e3:.0f} KB"
    return f"{size / 1e6:.1f}".removesuffix(".0") + " MB"
