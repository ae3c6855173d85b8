"""Attention on the images that a model read: bright where it is strong."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from attnwidget.record import Box, Floats, Grid, Patches, Picture, ScoreProgram

from .attention import Attention
from .colors import palette_of, rgb
from .notes import magnitude, share_note

# matplotlib is imported where it is needed: the picture beside a widget is drawn without it.
if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The opacity of the veil where there is no attention, as in the view.
DENSEST = 0.88
# Where a processor has padded the image.
_PADDING = (128, 128, 128)


@dataclass(frozen=True)
class OnImage:
    """The attention between some tokens and each patch of a grid.

    Attributes:
        pixels: the part of the image that the grid covers, [height, width, 3].
        grid: the attention of each patch, [rows, columns].
        largest: the attention that leaves a patch as bright as it is: the largest on all grids.
        own: (left, top, right, bottom) of the patches whose attention it is, or of the boxes that
            are predicted for these tokens, in fractions of the part.
        notes: the words for it.
    """

    pixels: NDArray[np.uint8]
    grid: Floats
    largest: float
    own: list[Box] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def on_image(attention: Attention) -> bool:
    """True if the attention of one token can be shown on the record's images."""
    has_images = bool(attention.record.images) and _patches(attention) is not None
    # Shades of an image have no sign.
    return has_images and not attention.signed


def on_grid(attention: Attention, number: int | None) -> Attention:
    """The same attention on the grid of a number.

    Raises:
        IndexError: there is no such grid.
    """
    patches = _patches(attention)
    count = 0 if patches is None else len(patches.grids)
    if number is not None and not 0 <= number < count:
        raise IndexError(f"grid {number} does not exist: there are {count}")
    return replace(attention, grid=number)


def attention_on_image(attention: Attention) -> OnImage:
    """The attention between patches and the locked tokens, on the grid that is shown.

    Without a locked token, it is the attention of [CLS], of the patch in the middle, or of a
    text's last token.
    """
    # Patches are tokens, as are those that are locked.
    attention = replace(attention, words=False)
    patches = _patches(attention)
    assert patches is not None
    own = list(attention.locked) or [_first(attention)]
    numbers, sides = attention.numbers(attention.current), (attention.queries, attention.keys)
    if attention.side == "key":
        numbers, sides = numbers.T, sides[::-1]
    looking, others = sides
    whole = numbers[own].sum(axis=0)
    received = np.zeros_like(whole)
    received[others.shown] = whole[others.shown]

    number = _shown_grid(attention, patches)
    shown, places = patches.grids[number], _numbers(patches.on_grid(number))
    # The attention of a patch to itself may be far above all other.
    itself = own if attention.stack.queries == attention.stack.keys else []
    on_images = np.where(_numbers(patches.of) >= 0, received, 0)
    largest = float(np.delete(on_images, itself).max(initial=0)) or 1.0
    way = "from" if attention.side == "query" else "to"
    names = " + ".join(looking.tokens.labels[token] for token in own)
    rest = [token for token in others.shown if patches.of[token] is None and token not in itself]
    notes = [f"{attention.measure} {way} {names}, up to {largest:.3g}"]
    if len(patches.grids) > 1:
        share = magnitude(received[places >= 0]) / (magnitude(received) or 1)
        notes.append(f"{shown.name or number}, {share:.1%} of it")
    notes.append(share_note(magnitude(received), magnitude(whole), "it"))
    notes += [f"{others.tokens.labels[token]} {received[token]:.3f}" for token in rest[:2]]
    on = on_one_grid(attention.record.images, patches, number, received, largest)
    cells = Grid(shown.rows, shown.columns)
    frames = [cells.box_of(int(places[token])) for token in itself if places[token] >= 0]
    predicted = looking.tokens.boxes or (None,) * len(looking.tokens)
    boxes = (found for token in own if (found := predicted[token]) is not None)
    frames += [_of_part(box, shown.box) for image, box in boxes if image == shown.image]
    return replace(on, own=frames, notes=list(filter(None, notes)))


def on_one_grid(
    images: Sequence[Picture], patches: Patches, number: int, received: Floats, largest: float
) -> OnImage:
    """The attention that tokens receive, on the patches of one grid."""
    shown = patches.grids[number]
    places = _numbers(patches.on_grid(number))
    grid = np.zeros(len(shown), np.float32)
    grid[places[places >= 0]] = received[places >= 0]
    return OnImage(
        _part(images[shown.image], shown.box), grid.reshape(shown.rows, shown.columns), largest
    )


def _of_part(box: Box, part: Box) -> Box:
    """A box on an image, in fractions of a part of it."""
    corners, (start, end) = np.reshape(box, (2, 2)), np.reshape(part, (2, 2))
    left, top, right, bottom = ((corners - start) / (end - start)).ravel().tolist()
    return left, top, right, bottom


def _part(picture: Picture, box: Box) -> NDArray[np.uint8]:
    """The pixels of a part of a picture, grey where it lies beyond."""
    from PIL import Image

    with Image.open(io.BytesIO(picture.data)) as opened:
        image = opened.convert("RGB")
    left, right = (round(edge * image.width) for edge in box[::2])
    top, bottom = (round(edge * image.height) for edge in box[1::2])
    part = Image.new("RGB", (max(1, right - left), max(1, bottom - top)), _PADDING)
    part.paste(image, (-left, -top))
    return np.asarray(part)


def _numbers(places: Iterable[int | None]) -> NDArray[np.intp]:
    """Places as numbers, -1 for none."""
    return np.array([-1 if place is None else place for place in places])


def draw_image(ax: Axes, attention: Attention, *, caption: bool = True) -> None:
    """Draw the image, each patch as bright as its attention; see `attention_on_image`.

    The patches of the tokens whose attention it is are framed, or the boxes predicted for them.
    """
    from matplotlib.patches import Rectangle
    from matplotlib.patheffects import withStroke

    from .axes import add_caption, set_title

    shown, palette = attention_on_image(attention), palette_of(ax)
    height, width, _ = shown.pixels.shape
    paint_image(ax, shown, (0, width, height, 0))
    for left, top, right, bottom in shown.own:
        size = (right - left) * width, (bottom - top) * height
        frame = Rectangle((left * width, top * height), *size, fill=False)
        frame.set(edgecolor=palette.accent, linewidth=1.5)
        frame.set_path_effects([withStroke(linewidth=3, foreground=palette.background)])
        ax.add_patch(frame)
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    set_title(ax, attention.title(attention.current))
    if caption:
        add_caption(ax, shown.notes, palette)


def paint_image(
    axes: Axes, shown: OnImage, extent: tuple[float, float, float, float], aspect: str = "equal"
) -> None:
    """Paint an image and the veil over it.

    Args:
        extent: left, right, bottom, top.
    """
    from matplotlib.colors import ListedColormap, PowerNorm

    place: dict[str, Any] = {"extent": extent, "aspect": aspect}
    axes.imshow(shown.pixels, interpolation="antialiased", **place)
    veil = np.tile([*rgb(palette_of(axes).background), 0.0], (256, 1))
    veil[:, 3] = np.linspace(DENSEST, 0, 256)
    axes.imshow(
        shown.grid,
        cmap=ListedColormap(veil),
        norm=PowerNorm(0.5, 0, shown.largest),
        interpolation="nearest",
        **place,
    )


def _patches(attention: Attention) -> Patches | None:
    """The places of the tokens whose shades are drawn: keys, of a locked key queries."""
    stack = attention.stack
    return (stack.queries if attention.side == "key" else stack.keys).patches


def _shown_grid(attention: Attention, patches: Patches) -> int:
    """The number of the grid that is chosen, or else of the whole image, or the first."""
    if attention.grid is not None and attention.grid < len(patches.grids):
        return attention.grid
    # Of several images, it is "image 1, whole".
    whole = (n for n, grid in enumerate(patches.grids) if grid.name.endswith("whole"))
    return next(whole, 0)


def _first(attention: Attention) -> int:
    """The first query without a patch that is shown, or that of the patch in the middle.

    Within windows, the first without a patch is padding. With a mask, it is the last query: only
    that one may see all others. Of a text, it writes on.
    """
    stack, patches = attention.stack, attention.stack.queries.patches
    program = stack.layer(attention.layer).program
    last = len(stack.queries) - 1
    alone = [
        token for token in attention.queries.shown if patches is None or patches.of[token] is None
    ]
    is_causal = stack.signed or (isinstance(program, ScoreProgram) and program.mask != "none")
    if is_causal or (last in alone and last not in stack.queries.special):
        return last
    windows = isinstance(program, ScoreProgram) and program.blocks is not None
    if (alone and not windows) or patches is None:
        return alone[0] if alone else last
    number = _shown_grid(attention, patches)
    grid, places = patches.grids[number], _numbers(patches.on_grid(number))
    down, across = np.divmod(places, grid.columns)
    far = np.hypot(down - grid.rows // 2, across - grid.columns // 2)
    return int(np.where(places < 0, np.inf, far).argmin())
