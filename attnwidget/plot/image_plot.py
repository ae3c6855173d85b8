"""Attention on the image of a vision model: bright where it is strong."""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from attnwidget.record import Floats, Patches

from .attention import Attention
from .colors import palette_of, rgb
from .notes import magnitude, share_note

# matplotlib is imported where it is needed: the picture beside a widget is drawn without it.
if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The opacity of the veil where there is no attention, as in the view.
DENSEST = 0.88


@dataclass(frozen=True)
class OnImage:
    """The attention between some tokens and each patch.

    Attributes:
        pixels: the image, [height, width, 3].
        grid: the attention of each patch, [rows, columns].
        largest: the attention that leaves a patch as bright as it is.
        own: (row, column) of the patches whose attention it is.
        notes: the words for it.
    """

    pixels: NDArray[np.uint8]
    grid: Floats
    largest: float
    own: list[tuple[int, int]]
    notes: list[str]


def on_image(attention: Attention) -> bool:
    """True if the attention of one token can be shown on the record's image."""
    has_image = attention.record.image is not None and _patches(attention) is not None
    # Shades of an image have no sign.
    return has_image and not attention.signed


def attention_on_image(attention: Attention) -> OnImage:
    """The attention between patches and the locked tokens.

    Without a locked token, it is the attention of [CLS], of the patch in the middle, or of a
    text's last token.
    """
    from PIL import Image

    # Patches are tokens, as are those that are locked.
    attention = replace(attention, words=False)
    image, patches = attention.record.image, _patches(attention)
    assert image is not None
    assert patches is not None
    own = list(attention.locked) or [_first(attention, patches)]
    labels = attention.stack.keys.labels
    numbers, others = attention.numbers(attention.current), attention.keys
    if attention.side == "key":
        numbers, others = numbers.T, attention.queries
    whole = numbers[own].sum(axis=0)
    received = np.zeros_like(whole)
    received[others.shown] = whole[others.shown]
    with Image.open(io.BytesIO(image.data)) as opened:
        pixels = np.asarray(opened.convert("RGB"))

    places = np.array([-1 if place is None else place for place in patches.of])
    grid = np.zeros(patches.rows * patches.columns, np.float32)
    grid[places[places >= 0]] = received[places >= 0]
    framed = [int(places[token]) for token in own if places[token] >= 0]
    # The attention of a patch to itself may be far above all other.
    largest = float(np.delete(grid, framed).max(initial=0)) or 1.0
    way = "from" if attention.side == "query" else "to"
    names = " + ".join(labels[token] for token in own)
    rest = [token for token in others.shown if places[token] < 0 and token not in own][:2]
    notes = [
        f"{attention.measure} {way} {names}, up to {largest:.3g}",
        share_note(magnitude(received), magnitude(whole), "it"),
        *(f"{labels[token]} {received[token]:.3f}" for token in rest),
    ]
    return OnImage(
        pixels,
        grid.reshape(patches.rows, patches.columns),
        largest,
        [divmod(place, patches.columns) for place in framed],
        notes,
    )


def draw_image(axes: Axes, attention: Attention, *, caption: bool = True) -> None:
    """Draw the image, each patch as bright as its attention; see `attention_on_image`.

    The patches of the tokens whose attention it is are framed.

    Args:
        caption: as in `head`.
    """
    from matplotlib.colors import ListedColormap, PowerNorm
    from matplotlib.patches import Rectangle
    from matplotlib.patheffects import withStroke

    from .axes import add_caption, set_title

    shown, palette = attention_on_image(attention), palette_of(axes)
    height, width, _ = shown.pixels.shape
    extent = (0, width, height, 0)
    axes.imshow(shown.pixels, extent=extent, interpolation="antialiased")
    veil = np.tile([*rgb(palette.background), 0.0], (256, 1))
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


def _patches(attention: Attention) -> Patches | None:
    stack = attention.stack
    return stack.queries.patches if stack.queries == stack.keys else None


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
