"""The thumbnails of all heads as one picture."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from attnwidget.analysis import ATTENTION, Lens, reading, sampled_rows
from attnwidget.analysis.thumbnails import THUMBNAIL_SIZE, cell_bounds, signed_cells
from attnwidget.progress import step_done
from attnwidget.record import Floats, Stack
from attnwidget.record.scores import spread_rows
from attnwidget.view_state.segments import shown_positions
from attnwidget.wire import decode_overview

from .colors import Palette, mixed, rgb
from .heads import Heads, Numbers

HeadRows = Sequence[tuple[int, Sequence[int]]]
"""The place of a layer, and its heads from left to right, as `Heads.order` returns them."""

# Pixels between two thumbnails.
_GAP = 3


def thumbnails_picture(
    heads: Heads,
    rows: HeadRows,
    inks: Numbers,
    palette: Palette,
    lens: Lens,
    segments: str,
) -> tuple[NDArray[np.uint8], tuple[int, int]]:
    """(the pixels of all thumbnails, [height, width, 3]; the height and width of each, with a gap).

    Layers that lack the lens have attention.

    Args:
        inks: the colours of heads, [layers, heads, 4].

    Raises:
        ValueError: no layer has the lens.
    """
    found = _thumbnails(heads, lens, segments)
    lens = reading(lens, heads.stack)
    down, across = (side + _GAP for side in found[0][0].shape)
    columns = max(len(chosen) for _, chosen in rows)
    paper = rgb(mixed(palette.background, palette.text, 0.03))
    picture = np.tile(rgb(palette.background), (len(rows) * down, columns * across, 1))
    for n, (place, chosen) in enumerate(rows):
        for column, head in enumerate(chosen):
            shares = found[place][head][..., None]
            ink: Numbers = inks[place, head, :3]
            if lens.signed:
                ink = np.where(shares < 0, rgb(palette.negative), rgb(palette.positive))
            top, left = n * down, column * across
            box = slice(top, top + down - _GAP), slice(left, left + across - _GAP)
            picture[box] = paper + (ink - paper) * np.abs(shares)
        step_done()
    return (255 * picture).round().astype(np.uint8), (down, across)


def _thumbnails(heads: Heads, lens: Lens, segments: str) -> list[list[Numbers]]:
    """The thumbnail of every head, by layer: numbers from -1 to 1, magnified to about 32 cells."""
    levels = decode_overview(heads.record, *heads.overview)[heads.stack_name]
    # Means over texts are of whole texts.
    shown = shown_positions(heads.stack, "all" if heads.of_texts else segments)
    cells_of = [
        np.unique(np.searchsorted(cell_bounds(len(side), side.split)[1:], positions, "right"))
        for side, positions in zip((heads.stack.queries, heads.stack.keys), shown, strict=True)
    ]
    box = np.ix_(*cells_of) if not heads.of_texts else ...
    without, found = heads.layers_without(lens), []
    for layer, cells in zip(heads.stack.layers, levels, strict=True):
        # Those of coefficients are 8 for zero.
        signed = heads.stack.signed
        shares = [(each - 8.0) / 7 if signed else each / 15 for each in cells]
        if lens.name != ATTENTION.name and layer.number not in without:
            matrices = lens.heads(heads.record, heads.stack_name, layer.number)
            shares = [_seen(heads.stack, each) for each in matrices]
        shares = [each[box] for each in shares]
        zoom = max(1, THUMBNAIL_SIZE // max(shares[0].shape))
        found.append([each.repeat(zoom, 0).repeat(zoom, 1) for each in shares])
    return found


def _seen(stack: Stack, numbers: Floats) -> Numbers:
    """The thumbnail of a head's numbers, of the queries that other thumbnails read."""
    rows = spread_rows(len(numbers), sampled_rows(len(numbers)) or len(numbers))
    cells = signed_cells(stack, lambda chosen: numbers[chosen], rows)
    peak = float(np.abs(cells).max()) or 1.0
    shares: Numbers = np.sign(cells) * np.sqrt(np.abs(cells) / peak)
    return shares
