"""The head view of a vision model as a plot: its image, and a veil where attention is weak."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray
from PIL import Image

from attnwidget.record import Floats, Patches, Picture

from .axes import add_note, palette_of, size_in_points
from .colors import Palette, head_colors
from .head_plot import attention_title, matrix_beside_lines
from .shown import Shown, Side, other_side
from .text import clean, weight
from .weights import locked_weights

# The same value as in the front end.
_DENSEST = 0.88
_FRAMED = 3


def on_picture(shown: Shown) -> bool:
    """True if the head view shows its tokens on the record's image."""
    # Shades of an image have no sign.
    if shown.scored:
        return False
    return shown.picture and shown.record.image is not None and _patches(shown) is not None


def draw_picture(axes: Axes, shown: Shown, drawn: Side = "key") -> None:
    """Draw the image as queries or keys, its patches as bright as the locked tokens' attention.

    Without a lock, it is the attention of [CLS], of the patch in the middle, or of a text's last
    token.
    """
    image, patches = shown.record.image, _patches(shown)
    if image is None or patches is None:
        raise ValueError("this record has no image, or no places of its tokens on it")
    # Patches are tokens; those of a text around them may be words.
    shown = replace(shown, words=False)
    palette = palette_of(axes)
    locked: Side = "key" if shown.query is None and shown.key is not None else "query"
    own = shown.locked(locked) or [_first(shown, patches)]
    matrix = matrix_beside_lines(shown)
    colors = head_colors(shown.current_layer.num_heads, palette.dark)
    color = palette.ink if matrix.head is None else colors[matrix.head]
    _show_image(axes, image)
    names = " + ".join(shown.token_axes[locked].names[token] for token in own)
    notes = []
    if drawn == locked:
        title = f"{'Query' if locked == 'query' else 'Key'} {names}"
    else:
        [of_each] = locked_weights([matrix], locked, own)
        weights = of_each.sum(axis=0)
        # The attention of a patch to itself may be far above all other.
        others = [t for t, place in enumerate(patches.of) if place is not None and t not in own]
        largest = float(max((weights[token] for token in others), default=0))
        _veil(axes, patches, weights, largest, palette)
        strongest = sorted(others, key=lambda token: -weights[token])[:_FRAMED]
        _frame(axes, patches, [token for token in strongest if weights[token] > 0], color, palette)
        title = attention_title(shown, matrix.name)
        notes = _notes(shown, patches, other_side(locked), names, weights, largest, own)
    _frame(axes, patches, own, palette.accent, palette)
    axes.set_title(clean(title), parse_math=False)
    add_note(axes, notes, palette, size_in_points(axes)[0])


def _patches(shown: Shown) -> Patches | None:
    stack = shown.current_stack
    return stack.queries.patches if stack.queries == stack.keys else None


def _first(shown: Shown, patches: Patches) -> int:
    """The first token without a patch, or that of the patch in the middle.

    With a mask, the last token: only that one may see all others.
    """
    program = shown.current_layer.program
    if program is not None and program.mask != "none":
        return len(patches.of) - 1
    if None in patches.of:
        return patches.of.index(None)
    return patches.of.index(patches.rows // 2 * patches.columns + patches.columns // 2)


def _show_image(axes: Axes, image: Picture) -> None:
    with Image.open(io.BytesIO(image.data)) as opened:
        pixels = np.asarray(opened.convert("RGB"))
    width, height = image.size
    axes.imshow(pixels, extent=(0, width, height, 0), interpolation="antialiased")
    axes.set(xticks=[], yticks=[])
    for spine in axes.spines.values():
        spine.set_visible(False)


def _veil(axes: Axes, patches: Patches, weights: Floats, largest: float, palette: Palette) -> None:
    """Lay the background's colour over the patches, the denser, the smaller the weight."""
    veil: NDArray[np.float64] = np.empty((patches.rows, patches.columns, 4))
    veil[..., :3] = to_rgb(palette.background)
    veil[..., 3] = _DENSEST
    for token, place in enumerate(patches.of):
        if place is not None and weights[token] > 0:
            share = min(1.0, float(weights[token]) / largest) if largest > 0 else 1.0
            row, column = divmod(place, patches.columns)
            veil[row, column, 3] = _DENSEST * (1 - np.sqrt(share))
    axes.imshow(veil, extent=axes.images[0].get_extent(), interpolation="nearest")


def _frame(
    axes: Axes, patches: Patches, tokens: Sequence[int], color: str, palette: Palette
) -> None:
    left, right, bottom, top = axes.images[0].get_extent()
    width, height = (right - left) / patches.columns, (bottom - top) / patches.rows
    for token in tokens:
        place = patches.of[token]
        if place is None:
            continue
        row, column = divmod(place, patches.columns)
        corner = column * width, row * height
        frame = Rectangle(corner, width, height, fill=False, edgecolor=color, linewidth=1.5)
        frame.set_path_effects([withStroke(linewidth=3, foreground=palette.background)])
        axes.add_patch(frame)


def _notes(
    shown: Shown,
    patches: Patches,
    side: Side,
    names: str,
    weights: Floats,
    largest: float,
    own: Sequence[int],
) -> list[str]:
    itself = " but itself" if any(patches.of[token] is not None for token in own) else ""
    does = f"attended by {names}" if side == "key" else f"looks at {names}"
    others = [token for token, place in enumerate(patches.of) if place is None][:2]
    return [
        f"bright: {does}, shade: √(weight ÷ largest{itself}), which is {weight(largest)}",
        *(f"{shown.token_axes[side].names[token]} {weight(weights[token])}" for token in others),
    ]
