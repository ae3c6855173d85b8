"""A prompt as running text, shaded by what tokens of its answer were written from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Rectangle
from matplotlib.textpath import text_to_path

from attnwidget.analysis import counted_keys, running_text, text_shares
from attnwidget.interventions.answer import Answer, Looked
from attnwidget.interventions.answer import answer as answer_of
from attnwidget.record import AttentionRecord, Floats

from .axes import PLAIN, add_caption, font_points, new_axes
from .colors import Palette, palette_of
from .fonts import fonts_for

# In sizes of the font: between two lines, and between two messages.
_LINE, _GAP = 1.7, 0.9
# The strongest shade under letters, as in the view.
_LIGHT, _DARK = 0.5, 0.56


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
    sinks are left out, as in the text view.

    Args:
        record: a record of a generated text, or an `attnwidget.Answer`.
        answer: the tokens of the answer that are looked at, outlined: words of it, or the number of
            the first, from 0, and of the one after the last; None for all.
        stack: as for `attnwidget.answer`.
        caption, ax: as in `head`.

    Returns:
        The Axes; `ax.patches` are the shades, and the outline of the answer's tokens.

    Raises:
        ValueError: the record has no answer with its text, or no such tokens.
        ImportError: as in `head`.
    """
    found = record if isinstance(record, Answer) else answer_of(record, stack=stack)
    first, end = found.span(answer)
    of_stack = found.record.stack(found.stack)
    running = running_text(of_stack)
    assert running is not None
    shares = text_shares(of_stack, running)
    weights = shares.mean[first:end].mean(axis=0)
    counted = counted_keys(running, shares.sinks)
    even, largest = _scale(weights[counted])
    shades = np.sqrt(np.clip((weights - even) / ((largest - even) or 1), 0, 1)) * counted
    keys = running.keys
    assert keys.text is not None
    assert keys.offsets is not None
    blocks = []
    for message in running.messages:
        own = [at for at in range(message.start, message.end) if running.of_text[at]]
        spans = [(at, keys.offsets[at]) for at in own]
        pieces = [
            _Piece(keys.text[span[0] : span[1]], shades[at])
            for at, span in spans
            if span is not None
        ]
        if pieces:
            blocks.append(_Block(message.role, pieces))
    said = [
        _Piece(token.text, 0.0, is_looked_at=answer is not None and first <= at < end)
        for at, token in enumerate(found.tokens)
    ]
    blocks.append(_Block("assistant" if found.record.stack().keys.turns else "answer", said))
    size = font_points("font.size")
    fonts = FontProperties(family=fonts_for([keys.text, found.text]), size=size)
    wide = max(matplotlib.rcParams["figure.figsize"][0], 6.4) * 72
    if ax is None:
        placed = _placed(blocks, wide, fonts, size)
        ax = new_axes((wide / 72, (placed[-1].y + _LINE * size) / 72 + 0.4))
    else:
        wide = ax.get_window_extent().width * 72 / ax.figure.dpi
        placed = _placed(blocks, wide, fonts, size)
    _draw(ax, placed, wide, fonts, size)
    if caption:
        sinks = 100 * float(weights[[key for sink in shares.sinks for key in sink.keys]].sum())
        heads = sum(layer.num_heads for layer in of_stack.layers)
        notes = [
            f"mean of {heads} heads, {sinks:.0f}% on sinks left out",
            f"shade: from an even share, {even:.2g}, to {largest:.2g}",
            found.record.model,
        ]
        add_caption(ax, notes, palette_of(ax))
    return ax


def _scale(weights: Floats) -> tuple[float, float]:
    """An even share, and the largest; 0 if there are no tokens but sinks."""
    return (float(weights.mean()), float(weights.max())) if len(weights) else (0.0, 0.0)


@dataclass(frozen=True)
class _Piece:
    """The text of a token, and the shade below it."""

    text: str
    shade: float
    is_looked_at: bool = False


@dataclass(frozen=True)
class _Block:
    """The tokens of a message."""

    role: str
    pieces: Sequence[_Piece]


@dataclass(frozen=True)
class _Placed:
    """A piece of text at its place, in points from the upper left corner; a role has no width."""

    text: str
    x: float
    y: float
    width: float
    piece: _Piece | None


def _placed(
    blocks: Sequence[_Block], wide: float, fonts: FontProperties, size: float
) -> list[_Placed]:
    """All tokens in lines, broken between words, and the roles beside them."""
    left = max(_width(block.role, fonts) for block in blocks) + 1.5 * size
    found, y = [], 0.0
    for block in blocks:
        found.append(_Placed(block.role, left - 1.2 * size, y, 0, None))
        x = left
        for word in _words(block.pieces):
            needed = sum(_width(piece.text.split("\n")[0], fonts) for piece in word)
            if x > left and x + needed > wide:
                x, y = left, y + _LINE * size
            for piece in word:
                lines = piece.text.split("\n")
                for number, line in enumerate(lines):
                    # Within a word, too, if it is longer than a line.
                    if number or (x > left and x + _width(line, fonts) > wide):
                        x, y = left, y + _LINE * size
                    # A space at the start of a line has no width.
                    line = line.lstrip() if x == left else line
                    letters = line.lstrip()
                    start = x + _width(line[: len(line) - len(letters)], fonts)
                    x += _width(line, fonts)
                    if letters:
                        found.append(_Placed(letters, start, y, x - start, piece))
        y += (_LINE + _GAP) * size
    return found


def _words(pieces: Sequence[_Piece]) -> Iterator[list[_Piece]]:
    """The tokens that stand together: one that begins with a space begins a word."""
    word: list[_Piece] = []
    for piece in pieces:
        if word and piece.text[:1].isspace():
            yield word
            word = []
        word.append(piece)
    yield word


def _width(text: str, fonts: FontProperties) -> float:
    # Of a text alone, spaces at its ends have no width.
    return _extent(f"|{text}|", fonts) - _extent("||", fonts)


def _extent(text: str, fonts: FontProperties) -> float:
    width, _, _ = text_to_path.get_text_width_height_descent(text, fonts, ismath=False)
    return float(width)


def _draw(
    ax: Axes, placed: Sequence[_Placed], wide: float, fonts: FontProperties, size: float
) -> None:
    palette: Palette = palette_of(ax)
    height = placed[-1].y + _LINE * size
    ax.set(xlim=(0, wide), ylim=(height, 0))
    ax.axis("off")
    strongest = _DARK if palette.dark else _LIGHT
    for each in placed:
        piece, style = each.piece, {"ha": "right", "color": palette.muted}
        if piece is not None:
            style = {"color": palette.text}
            at, width, height = (each.x, each.y + 0.1 * size), each.width, 1.4 * size
            if piece.shade > 0:
                alpha = strongest * piece.shade
                ax.add_patch(Rectangle(at, width, height, color=palette.ink, alpha=alpha, lw=0))
            if piece.is_looked_at:
                ax.add_patch(Rectangle(at, width, height, fill=False, edgecolor=palette.accent))
        written: dict[str, Any] = {"fontproperties": fonts, **style, **PLAIN}
        ax.text(each.x, each.y + 1.15 * size, each.text, va="baseline", **written)
