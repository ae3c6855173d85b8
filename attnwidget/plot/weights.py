"""The matrices of the head view: of single heads or of several as one, between tokens or words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from attnwidget.lens import combined
from attnwidget.record import Floats

from .content import Axes, Content

_HOW = {"mean": "Mean", "max": "Largest"}


@dataclass(frozen=True)
class Sheet:
    """A matrix as it is shown.

    Attributes:
        head: whose colour it has; None where it is of several.
        weights: makes the matrix, float32 [query units, key units].
    """

    name: str
    head: int | None
    weights: Callable[[], Floats]


def sheets_of(content: Content, axes: Axes) -> list[Sheet]:
    """The heads that are switched on, each or together, or every head of every layer as one."""
    how = content.choices["combine"]
    if how.startswith("layers_"):
        return [_of_stack(content, axes, how == "layers_max")]
    sheets = [head_sheet(content, axes, head) for head in content.heads]
    if how == "none":
        return sheets
    what = f"head {sheets[0].head}" if len(sheets) == 1 else f"{len(sheets)} heads"

    fold = np.add if how == "mean" else np.maximum

    def weights() -> Floats:
        out: Floats = sheets[0].weights().copy()
        for sheet in sheets[1:]:
            fold(out, sheet.weights(), out=out)
        if how == "mean":
            out /= np.float32(len(sheets))
        return out

    return [Sheet(f"{_HOW[how]} of {what}", None, weights)]


def head_sheet(content: Content, axes: Axes, head: int) -> Sheet:
    layer = content.layer
    return Sheet(f"Head {head}", head, lambda: joined(layer.head_weights(head), axes))


def _of_stack(content: Content, axes: Axes, largest: bool) -> Sheet:
    count = sum(layer.num_heads for layer in content.stack.layers)
    name = f"{_HOW['max' if largest else 'mean']} of all {count} heads"
    # Of sums over words there is no maximum here, so the largest is that between their tokens.
    if largest and content.choices["words"]:
        name += ", by token"
    return Sheet(name, None, lambda: joined(combined(content.stack)[largest], axes, largest))


def joined(weights: Floats, axes: Axes, largest: bool = False) -> Floats:
    """Between words: attention to one is the sum over its tokens, that from one the mean."""
    if axes.key.joined:
        fold = np.maximum if largest else np.add
        weights = fold.reduceat(weights, axes.key.starts, axis=1)
    if axes.query.joined:
        fold = np.maximum if largest else np.add
        weights = fold.reduceat(weights, axes.query.starts, axis=0)
        if not largest:
            weights /= np.array([[len(tokens)] for tokens in axes.query.tokens], np.float32)
    return weights


def strips_of(sheets: Sequence[Sheet], axes: Axes, looked: dict[str, list[int]]) -> list[Floats]:
    """Per sheet, the row or column of what is looked at, summed where several are."""
    if looked["query"]:
        return [sheet.weights()[looked["query"]].sum(axis=0) for sheet in sheets]
    return [sheet.weights()[:, looked["key"]].sum(axis=1) for sheet in sheets]
