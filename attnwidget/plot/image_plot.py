"""Attention on the image of a vision model: bright where it is strong."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, PowerNorm, to_rgb
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke
from PIL import Image

from attnwidget.record import Patches

from .attention import Attention
from .axes import PLAIN, add_caption, clean, magnitude, share_note
from .colors import palette_of

# The opacity of the veil where there is no attention, as in the view.
_DENSEST = 0.88


def on_image(attention: Attention) -> bool:
    """True if the attention of one token can be shown on the record's image."""
    has_image = attention.record.image is not None and _patches(attention) is not None
    # Shades of an image have no sign.
    return has_image and not attention.signed


def _patches(attention: Attention) -> Patches | None:
    stack = attention.stack
    return stack.queries.patches if stack.queries == stack.keys else None


def draw_image(axes: Axes, attention: Attention, *, caption: bool = True) -> None:
    """Draw the image, each patch as bright as the attention between it and the locked tokens.

    Without a locked token, it is the attention of [CLS], of the patch in the middle, or of a
    text's last token. The patches of these are framed.

    Args:
        caption: as in `head`.
    """
    # Patches are tokens, as are those that are locked.
    attention = replace(attention, words=False)
    image, patches, palette = attention.record.image, _patches(attention), palette_of(axes)
    assert image is not None
    assert patches is not None
    own = list(attention.locked) or [_first(attention, patches)]
    head, labels = attention.current, attention.stack.keys.labels
    numbers, others = attention.numbers(head), attention.keys
    if attention.side == "key":
        numbers, others = numbers.T, attention.queries
    whole = numbers[own].sum(axis=0)
    received = np.zeros_like(whole)
    received[others.shown] = whole[others.shown]
    with Image.open(io.BytesIO(image.data)) as opened:
        pixels = np.asarray(opened.convert("RGB"))
    width, height = image.size
    extent = (0, width, height, 0)
    axes.imshow(pixels, extent=extent, interpolation="antialiased")

    tokens = np.array([-1 if place is None else place for place in patches.of])
    grid = np.zeros(patches.rows * patches.columns)
    grid[tokens[tokens >= 0]] = received[tokens >= 0]
    # The attention of a patch to itself may be far above all other.
    scale = np.delete(grid, [tokens[token] for token in own if tokens[token] >= 0])
    largest = float(scale.max(initial=0)) or 1.0
    veil = np.tile([*to_rgb(palette.background), 0.0], (256, 1))
    veil[:, 3] = np.linspace(_DENSEST, 0, 256)
    axes.imshow(
        grid.reshape(patches.rows, patches.columns),
        extent=extent,
        cmap=ListedColormap(veil),
        norm=PowerNorm(0.5, 0, largest),
        interpolation="nearest",
    )
    across, down = width / patches.columns, height / patches.rows
    for row, column in (divmod(tokens[token], patches.columns) for token in own):
        if row >= 0:
            frame = Rectangle((column * across, row * down), across, down, fill=False)
            frame.set(edgecolor=palette.accent, linewidth=1.5)
            frame.set_path_effects([withStroke(linewidth=3, foreground=palette.background)])
            axes.add_patch(frame)
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    axes.set_title(clean(attention.title(head)), **PLAIN)
    if caption:
        way = "from" if attention.side == "query" else "to"
        names = " + ".join(labels[token] for token in own)
        rest = [token for token in others.shown if tokens[token] < 0 and token not in own][:2]
        notes = [
            f"{attention.measure} {way} {names}, up to {largest:.3g}",
            share_note(magnitude(received), magnitude(whole), "it"),
            *(f"{labels[token]} {received[token]:.3f}" for token in rest),
        ]
        add_caption(axes, notes, palette)


def _first(attention: Attention, patches: Patches) -> int:
    """The first token without a patch that is shown, or that of the patch in the middle.

    With a mask, the last token: only that one may see all others.
    """
    program = attention.stack.layer(attention.layer).program
    if program is not None and program.mask != "none":
        return len(patches.of) - 1
    for token in attention.keys.shown:
        if patches.of[token] is None:
            return token
    return patches.of.index(patches.rows // 2 * patches.columns + patches.columns // 2)
