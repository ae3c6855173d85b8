"""A prompt as running text, shaded by what tokens of its answer were written from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Rectangle
from matplotlib.textpath import text_to_path

from attnwidget.interventions.answer import Answer, Looked
from attnwidget.interventions.answer import answer as answer_of
from attnwidget.record import AttentionRecord

from .attention import recorded
from .axes import PLAIN, Size, add_caption, font_points, lay_out, new_axes, size_in_points
from .colors import palette_of
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
        TypeError, ImportError: as in `head`.
    """
    found = record if isinstance(record, Answer) else answer_of(recorded(record), stack=stack)
    prose = prose_of(found, *found.span(answer))
    ax = new_axes(text_size(prose)) if ax is None else ax
    draw_text(ax, prose, caption=caption)
    return ax


def text_size(prose: Prose) -> Size:
    """The size of a figure of an answer and its prompt, in inches."""
    wide = max(matplotlib.rcParams["figure.figsize"][0], 6.4)
    return wide, _height(_lines(prose, 72 * wide, _fonts(prose))) / 72 + 0.4


def draw_text(ax: Axes, prose: Prose, *, caption: bool = True) -> None:
    """Draw the lines of a prompt and its answer."""
    ax.axis("off")
    # Letters have a size in points, into which the layout divides the Axes.
    lay_out(ax)
    palette, size, fonts = palette_of(ax), font_points("font.size"), _fonts(prose)
    wide, tall = size_in_points(ax)
    lines = _lines(prose, wide, fonts)
    # Lines keep their distance in any height.
    ax.set(xlim=(0, wide), ylim=(max(_height(lines), tall), 0))
    for each in lines:
        piece, style = each.piece, {"ha": "right", "color": palette.muted}
        if piece is not None:
            style = {"color": palette.text}
            if each.height and piece.picture is not None:
                sides = each.x, each.x + each.width, each.y + each.height, each.y
                paint_image(ax, piece.picture, sides, aspect="auto")
                continue
            place = (each.x, each.y + 0.1 * size), each.width, 1.4 * size
            if piece.shade > 0:
                alpha = STRONGEST[palette.dark] * piece.shade
                ax.add_patch(Rectangle(*place, color=palette.ink, alpha=alpha, lw=0))
            if piece.is_named:
                below = (each.x, each.y + 1.5 * size), each.width, 0.08 * size
                ax.add_patch(Rectangle(*below, color=palette.muted, lw=0))
            for framed, edge in (
                (piece.is_image, palette.muted),
                (piece.is_looked_at, palette.accent),
            ):
                if framed:
                    ax.add_patch(Rectangle(*place, fill=False, edgecolor=edge))
        written: dict[str, Any] = {"fontproperties": fonts, **style, **PLAIN}
        ax.text(each.x, each.y + 1.15 * size, each.text, va="baseline", **written)
    if caption:
        add_caption(ax, prose.notes, palette)


def _fonts(prose: Prose) -> FontProperties:
    texts = [piece.text for _, pieces in prose.messages for piece in pieces]
    return FontProperties(family=fonts_for(texts), size=font_points("font.size"))


def _lines(prose: Prose, wide: float, fonts: FontProperties) -> list[Placed]:
    def extent(text: str) -> float:
        width, _, _ = text_to_path.get_text_width_height_descent(text, fonts, ismath=False)
        return float(width)

    # Of a text alone, spaces at its ends have no width.
    around = extent("||")
    return placed(prose, wide, fonts.get_size(), lambda text: extent(f"|{text}|") - around)


def _height(lines: Sequence[Placed]) -> float:
    return lines[-1].y + LINE * font_points("font.size")
