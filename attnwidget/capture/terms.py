"""Score programs of the masks and biases of a softmax, as compact as can be."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from attnwidget.record import Floats, ScoreProgram
from attnwidget.record.scores import Bools, MaskKind

_Array = TypeVar("_Array", Bools, Floats)


def terms(
    seen: Bools | None, bias: Floats | None, groups: int, shape: tuple[int, int], noise: float = 0.0
) -> ScoreProgram:
    """The most compact score program with a mask and a bias, of scale 1.

    Args:
        seen: bool [1 or heads, R, Tk], true where a query sees a key; None for everywhere.
        bias: float32 of such a shape; None for zero. Cells without a visible key are ignored, and
            so is a constant per row.
        groups: the number of blocks of this shape along the diagonal of the layer's matrix. With
            several, R is Tq if all blocks are equal, or groups * Tq.
        shape: (Tq, Tk) of one block.
        noise: differences up to this are ignored.
    """
    if seen is not None:
        seen = _once_if_equal(seen, 0)
        if seen.all():
            seen = None
    if bias is not None:
        relevant: Floats = (
            bias if seen is None else np.where(_rows(seen, bias), bias, np.float32(0))
        )
        bias = None if _spread(relevant, seen) <= noise else _once_if_equal(relevant, noise)
    if groups > 1:
        return _in_blocks(seen, bias, groups, shape, noise)
    mask = _mask(seen, shape, chunks=bias is None)
    if bias is None:
        return mask
    return _with_bias(mask, seen, np.broadcast_to(bias, (len(bias), *shape)), noise)


def added_terms(program: ScoreProgram, rows: NDArray[np.intp], shape: tuple[int, int]) -> Floats:
    """The terms that a program adds to the scores of some rows: [1 or heads, rows, Tk].

    Args:
        shape: (Tq, Tk) of the layer.
    """
    arrays = [a for a in (program.visible, program.bias, program.relative) if a is not None]
    heads = max((len(array) for array in arrays), default=1)
    return np.stack([program.added(head, rows, *shape) for head in range(heads)])


def _spread(bias: Floats, seen: Bools | None) -> float:
    """The largest distance of a bias from a constant per row, which a softmax does not see."""
    shown = (
        np.ones_like(bias, bool) if seen is None else np.broadcast_to(_rows(seen, bias), bias.shape)
    )
    highest = np.where(shown, bias, -np.inf).max(axis=2)
    lowest = np.where(shown, bias, np.inf).min(axis=2)
    with np.errstate(invalid="ignore"):
        return float(np.where(shown.any(axis=2), highest - lowest, 0).max(initial=0)) / 2


def _once_if_equal(array: _Array, noise: float) -> _Array:
    """One entry for all heads, if they are equal."""
    same = len(array) > 1 and all(_same(array[0], other, noise) for other in array[1:])
    return array[:1] if same else array


def _same(a: _Array, b: _Array, noise: float) -> bool:
    if a.dtype == np.bool_ or not noise:
        return np.array_equal(a, b)
    return bool((np.abs(a - b) <= noise).all())


def _rows(seen: Bools, bias: Floats) -> Bools:
    """The mask with as many rows as the bias, or with rows that broadcast to it."""
    if seen.shape[1] in (1, bias.shape[1]) or bias.shape[1] == 1:
        return seen
    tiled: Bools = np.tile(seen, (1, bias.shape[1] // seen.shape[1], 1))
    return tiled


def _in_blocks(
    seen: Bools | None, bias: Floats | None, groups: int, shape: tuple[int, int], noise: float
) -> ScoreProgram:
    def once_if_equal(array: _Array) -> _Array:
        """One block's rows for all blocks, if they are equal."""
        if array.shape[1] != groups * shape[0]:
            return array
        blocks = array.reshape(len(array), groups, *shape)
        first: _Array = blocks[:, 0]
        same = all(_same(first, blocks[:, n], noise) for n in range(1, groups))
        return np.ascontiguousarray(first) if same else array

    visible = None if seen is None else np.ascontiguousarray(once_if_equal(seen))
    added = None if bias is None else np.ascontiguousarray(once_if_equal(bias), dtype=np.float32)
    mask: MaskKind = "none" if visible is None else "explicit"
    return ScoreProgram(1.0, mask, blocks=shape, visible=visible, bias=added)


def _mask(seen: Bools | None, shape: tuple[int, int], *, chunks: bool) -> ScoreProgram:
    if seen is None:
        return ScoreProgram(1.0)
    seen = np.broadcast_to(seen, (len(seen), *shape))
    if len(seen) == 1:
        band = _band(seen[0])
        if band is not None:
            left, right = band
            whole = left >= shape[0] - 1
            if whole and right == 0:
                return ScoreProgram(1.0, "causal")
            return ScoreProgram(1.0, "window", (left, right))
        chunk = _chunk(seen[0]) if chunks else None
        if chunk is not None:
            return ScoreProgram(1.0, "causal", blocks=(chunk, chunk))
    return ScoreProgram(1.0, "explicit", visible=np.ascontiguousarray(seen))


def _band(seen: Bools) -> tuple[int, int] | None:
    """(left, right) if query i sees exactly the keys from i - left to i + right, else None."""
    if not (seen[0].any() and seen[-1].any()):
        return None
    columns = seen.shape[1]
    right = columns - 1 - int(seen[0, ::-1].argmax())
    left = len(seen) - 1 - int(seen[-1].argmax())
    if left < 0:
        return None
    distance = np.arange(columns)[None, :] - np.arange(len(seen))[:, None]
    exact = np.array_equal(seen, (distance >= -left) & (distance <= right))
    return (left, right) if exact else None


def _chunk(seen: Bools) -> int | None:
    """c if query i sees exactly the keys up to i in its own chunk of c tokens, else None."""
    if seen.shape[0] != seen.shape[1] or seen[:, 0].all():
        return None
    size = int((~seen[:, 0]).argmax())
    index = np.arange(len(seen))
    same_chunk = index[None, :] // max(size, 1) == index[:, None] // max(size, 1)
    return size if size and np.array_equal(seen, np.tril(same_chunk)) else None


def _with_bias(mask: ScoreProgram, seen: Bools | None, bias: Floats, noise: float) -> ScoreProgram:
    """Add a bias to a mask: one number per key, or per relative position, or a matrix."""
    heads, rows, columns = bias.shape
    shown = np.ones((1, rows, columns), bool) if seen is None else seen
    shown = np.broadcast_to(shown, (len(shown), rows, columns))
    # A bias does not change the softmax of a row with a single key.
    shown = shown & (shown.sum(axis=2, keepdims=True) > 1)
    by_key = np.zeros((heads, 1, columns), np.float32)
    by_offset = np.zeros((heads, rows + columns - 1), np.float32)
    offsets = np.arange(columns)[None, :] - np.arange(rows)[:, None] + rows - 1
    for head in range(heads):
        # Take the number of each key from any row that sees it, and so for each offset.
        cells = shown[head % len(shown)]
        by_key[head, 0] = bias[head][cells.argmax(axis=0), np.arange(columns)]
        by_offset[head][offsets[cells]] = bias[head][cells]

    def fits(head: int, candidate: Floats) -> bool:
        cells = shown[head % len(shown)]
        return bool((np.abs(bias[head] - candidate)[cells] <= noise).all())

    if all(fits(head, by_key[head]) for head in range(heads)):
        return replace(mask, bias=by_key)
    if all(fits(head, by_offset[head][offsets]) for head in range(heads)):
        return replace(mask, relative=by_offset)
    return replace(mask, bias=np.ascontiguousarray(bias, dtype=np.float32))
