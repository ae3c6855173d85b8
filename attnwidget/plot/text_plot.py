"""A prompt as running text, shaded by what tokens of its answer were written from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Rectangle
from matplotlib.textpath import text_to_path

from attnwidget.interventions.answer import Answer, Looked
from attnwidget.interventions.answer import answer as answer_of
from attnwidget.record import AttentionRecord

from .axes import PLAIN, Size, add_caption, font_points, new_axes, size_in_points
from .colors import Palette, palette_of
from .fonts import fonts_for
from .image_plot import paint_image
from .prose import LINE, STRONGEST, Placed, Prose, placed, prose_of


def text(
    record: AttentionRecord | Answer,
    *,
    answer: Looked = None,
    stack: str | None = None,
    caption: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw the running text of a prompt and its answer, shaded by what the answer was written from.

    The shade of a token is √((w − even) / (largest − even)), with w its weight in the rows that
    wrote the answer, the mean of all heads of all layers; nothing at an even share or below, and
    sinks are left out, as in the text view. Without a softmax, w is a share of the magnitudes of
    coefficients. An image stands in its place, each patch as bright as
    √(w / the largest of a patch).

    Args:
        record: a record of a generated text, or an `attnwidget.Answer`, whose segments, if it has
            any, are underlined, with their shares in the caption.
        answer: the tokens of the answer that are looked at, outlined: words of it, or the number of
            the first, from 0, and of the one after the last; None for all.
        stack: as for `attnwidget.answer`.
        caption, ax: as in `head`.

    Returns:
        The Axes; `ax.patches` are the shades, and the outline of the answer's tokens;
        `ax.images` the images of the prompt, and their veils.

    Raises:
        ValueError: the record has no answer with its text, or no such tokens.
        ImportError: as in `head`.
    """
    found = record if isinstance(record, Answer) else answer_of(record, stack=stack)
    first, end = found.span(answer)
    prose = prose_of(found, first, end)
    ax = new_axes(text_size(found, (first, end))) if ax is None else ax
    # Letters have points, so the layout of the figure must be known.
    ax.axis("off")
    lay_out = getattr(ax.figure, "draw_without_rendering", None)  # a subfigure has none
    if lay_out is not None:
        lay_out()
    wide, size, fonts = size_in_points(ax)[0], font_points("font.size"), _fonts(prose)
    lines = placed(prose.blocks, wide, size, _widths(fonts))
    _draw(ax, lines, wide, fonts, size)
    if caption:
        add_caption(ax, prose.notes, palette_of(ax))
    return ax


def text_size(found: Answer, looked: tuple[int, int]) -> Size:
    """The size of a figure of an answer and its prompt, in inches."""
    wide, size = max(matplotlib.rcParams["figure.figsize"][0], 6.4), font_points("font.size")
    prose = prose_of(found, *looked)
    lines = placed(prose.blocks, 72 * wide, size, _widths(_fonts(prose)))
    return wide, (lines[-1].y + LINE * size) / 72 + 0.4


def _fonts(prose: Prose) -> FontProperties:
    texts = [piece.text for block in prose.blocks for piece in block.pieces]
    return FontProperties(family=fonts_for(texts), size=font_points("font.size"))


def _widths(fonts: FontProperties) -> Callable[[str], float]:
    # Of a text alone, spaces at its ends have no width.
    return lambda written: _extent(f"|{written}|", fonts) - _extent("||", fonts)


def _extent(text: str, fonts: FontProperties) -> float:
    width, _, _ = text_to_path.get_text_width_height_descent(text, fonts, ismath=False)
    return float(width)


def _draw(
    ax: Axes, lines: Sequence[Placed], wide: float, fonts: FontProperties, size: float
) -> None:
    palette: Palette = palette_of(ax)
    height = lines[-1].y + LINE * size
    # Lines keep their distance in any height.
    ax.set(xlim=(0, wide), ylim=(max(height, size_in_points(ax)[1]), 0))
    strongest = STRONGEST[palette.dark]
    for each in lines:
        piece, style = each.piece, {"ha": "right", "color": palette.muted}
        if piece is not None:
            style = {"color": palette.text}
            if each.height and piece.picture is not None:
                sides = each.x, each.x + each.width, each.y + each.height, each.y
                paint_image(ax, piece.picture, sides, aspect="auto")
                continue
            at, width, height = (each.x, each.y + 0.1 * size), each.width, 1.4 * size
            if piece.shade > 0:
                alpha = strongest * piece.shade
                ax.add_patch(Rectangle(at, width, height, color=palette.ink, alpha=alpha, lw=0))
            if piece.is_named:
                below = (each.x, each.y + 1.5 * size)
                ax.add_patch(Rectangle(below, width, 0.08 * size, color=palette.muted, lw=0))
            if piece.is_image:
                ax.add_patch(Rectangle(at, width, height, fill=False, edgecolor=palette.muted))
            if piece.is_looked_at:
                ax.add_patch(Rectangle(at, width, height, fill=False, edgecolor=palette.accent))
        written: dict[str, Any] = {"fontproperties": fonts, **style, **PLAIN}
        ax.text(each.x, each.y + 1.15 * size, each.text, va="baseline", **written)
