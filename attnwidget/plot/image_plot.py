"""Attention on the image of a vision model: bright where it is strong."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, PowerNorm, to_rgb
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke

from .attention import Attention
from .axes import add_caption, set_title
from .colors import palette_of
from .patches import DENSEST, attention_on_image


def draw_image(axes: Axes, attention: Attention, *, caption: bool = True) -> None:
    """Draw the image, each patch as bright as its attention; see `attention_on_image`.

    The patches of the tokens whose attention it is are framed.

    Args:
        caption: as in `head`.
    """
    shown, palette = attention_on_image(attention), palette_of(axes)
    height, width, _ = shown.pixels.shape
    extent = (0, width, height, 0)
    axes.imshow(shown.pixels, extent=extent, interpolation="antialiased")
    veil = np.tile([*to_rgb(palette.background), 0.0], (256, 1))
    veil[:, 3] = np.linspace(DENSEST, 0, 256)
    axes.imshow(
        shown.grid,
        extent=extent,
        cmap=ListedColormap(veil),
        norm=PowerNorm(0.5, 0, shown.largest),
        interpolation="nearest",
    )
    down, across = np.divide((height, width), shown.grid.shape)
    for row, column in shown.own:
        frame = Rectangle((column * across, row * down), across, down, fill=False)
        frame.set(edgecolor=palette.accent, linewidth=1.5)
        frame.set_path_effects([withStroke(linewidth=3, foreground=palette.background)])
        axes.add_patch(frame)
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    set_title(axes, attention.title(attention.current))
    if caption:
        add_caption(axes, shown.notes, palette)
