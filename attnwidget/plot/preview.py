"""The small picture beside a widget, drawn by Pillow, since every display has one.

matplotlib takes longer to import, and to lay out a figure, than all else that a display does.
"""

from __future__ import annotations

import io
import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageColor, ImageDraw, ImageFont

from attnwidget.analysis import ATTENTION, GridScores, reading
from attnwidget.wire.pairing import layer_number

from .attention import Attention
from .colors import DARK, LIGHT, rgb
from .curves import Curves, curves_of, rows_of
from .heads import HeadColors, HeadRows, head_inks, metric_title, thumbnails_picture
from .image_plot import DENSEST, attention_on_image
from .notes import clean, shorten
from .prose import LINE, STRONGEST, Prose, placed
from .shown import Shown

# Drawn at twice the size, edges are smooth. In pixels of that, 192 per inch:
_WIDTH, _HEIGHT, _DPI = 1080, 800, 192
_FONT, _LINE, _GAP, _POINT = 22, 30, 16, 7
# Between them stands the view: above a title, below the legend and the model's name.
_TOP, _BOTTOM = 2 * _LINE, _HEIGHT - 3 * _LINE
# The opacity of the faintest line that is seen, and the points of a curve.
_FAINTEST, _STEPS = 0.02, 16
# The lines of as many weights take a tenth of a second.
_MOST_WEIGHTS = 1 << 22
# Pillow's own font has these beside ASCII.
_LETTERS = frozenset([*map(chr, range(32, 127)), *"·…‘’“”"])


def preview_bytes(shown: Shown) -> bytes:
    """Draw what the view shows as a PNG of few kilobytes.

    Of the head and the neuron view, it has the lines of heads, or the image; of a long text, the
    thumbnails of the layer; of the model view and the map, all heads; of the text view, an answer
    and the end of its prompt; of the grid view, the grid.

    Raises:
        ValueError: the view has no such picture.
    """
    shown.check_difference(shown.view)
    sheet = _Sheet(shown)
    if shown.view == "model":
        title = f"{sheet.lens.label} of the heads of each layer"
        sheet.draw_thumbnails(title, shown.heads.order(**shown.included))
    elif shown.view == "map":
        sheet.draw_map()
    elif shown.view == "grid":
        sheet.draw_grid(shown.shown_grid)
    elif shown.view == "text" and (prose := shown.prose) is not None:
        sheet.draw_text(prose)
    else:
        one = shown.view == "neuron"
        attention = shown.attention
        sheet.draw_head(replace(attention, heads=[attention.head]) if one else attention)
    return sheet.png()


class _Sheet:
    """The picture of what a widget shows."""

    def __init__(self, shown: Shown) -> None:
        self.shown = shown
        self.palette = DARK if shown.choices["theme"] == "dark" else LIGHT
        self.lens = reading(shown.lens_by_head, shown.record.stack(shown.stack))
        self.image = Image.new("RGB", (_WIDTH, _HEIGHT), self.palette.background)
        self.pen = ImageDraw.Draw(self.image, "RGBA")

    def png(self) -> bytes:
        self.write((_GAP, _HEIGHT - _LINE), self.shown.record.model, color=self.palette.muted)
        half = self.image.reduce(2)
        # The other methods merge the colours of heads where these are rare, or take much longer.
        reduced = half.quantize(method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
        # The background keeps its very colour.
        palette = np.reshape(np.asarray(reduced.getpalette(), np.uint8), (-1, 3))
        palette[np.asarray(reduced)[0, 0]] = np.asarray(half)[0, 0]
        reduced.putpalette(palette.tobytes())
        out = io.BytesIO()
        reduced.save(out, "png", dpi=(_DPI / 2, _DPI / 2))
        return out.getvalue()

    def draw_head(self, attention: Attention) -> None:
        if self.shown.shows_image:
            self.draw_image(attention)
            return
        if attention.size > _MOST_WEIGHTS:
            self.draw_layer(attention)
            return
        self.write((_GAP, _LINE), _plain(attention.title(*attention.drawn)))
        sides = attention.queries, attention.keys
        widths = [round(max(_width(shorten(label)) for label in side.labels)) for side in sides]
        left, right = 2 * _GAP + widths[0], _WIDTH - 2 * _GAP - widths[1]
        rows, places = rows_of(attention)
        row = (_BOTTOM - _TOP) / rows
        width, height = np.multiply((right - left, _BOTTOM - _TOP), 72 / _DPI).tolist()
        curves = curves_of(attention, (width, height), self.palette)
        self.draw_curves(curves, left, right, row)
        ends = (left - _GAP / 2, "rm"), (right + _GAP / 2, "lm")
        for side, at, (x, anchor) in zip(sides, places, ends, strict=True):
            special = [at for at, place in enumerate(side.shown) if place in side.tokens.special]
            labels = [shorten(label) for label in side.labels]
            self.write_rows(labels, _TOP + at * row, x, anchor, special)
        self.write_legend((color, name) for name, color in curves.legend if len(curves.legend) > 1)

    def draw_curves(self, curves: Curves, left: int, right: int, row: float) -> None:
        share = np.linspace(0, 1, _STEPS)
        x = np.broadcast_to(left + (right - left) * share, (len(curves.starts), _STEPS))
        # A cubic curve that is level at both ends.
        rise = (curves.ends - curves.starts)[:, None] * share**2 * (3 - 2 * share)
        y = _TOP + row * (curves.starts[:, None] + rise)
        half = curves.widths[:, None] * _DPI / 144
        upper, lower = np.stack([x, y - half], axis=2), np.stack([x, y + half], axis=2)
        outlines = np.concatenate([upper, lower[:, ::-1]], axis=1).reshape(len(x), -1)
        seen = curves.colors[:, 3] > _FAINTEST
        inks = (255 * curves.colors[seen]).round().astype(int).tolist()
        for outline, ink in zip(outlines[seen].tolist(), inks, strict=True):
            self.pen.polygon(outline, fill=tuple(ink))

    def draw_image(self, attention: Attention) -> None:
        """Draw the image of a vision model, each patch as bright as its attention."""
        seen = attention_on_image(attention)
        self.write((_GAP, _LINE), _plain(attention.title(attention.current)))
        height, width, _ = seen.pixels.shape
        scale = min((_WIDTH - 2 * _GAP) / width, (_BOTTOM - _TOP) / height)
        size = self.paste(seen.pixels, _GAP, scale)
        shares = np.sqrt(np.clip(seen.grid / seen.largest, 0, 1))
        veil = Image.fromarray((255 * DENSEST * (1 - shares)).astype(np.uint8))
        veil = veil.resize(size, Image.Resampling.NEAREST)
        self.image.paste(self.palette.background, (_GAP, _TOP), veil)
        self.write_legend([(self.palette.muted, _plain(seen.notes[0]))])

    def draw_layer(self, attention: Attention) -> None:
        """Draw the thumbnails of a layer in place of the lines of a long text."""
        stack = self.shown.heads.stack
        if attention.other is not None:
            raise ValueError(
                f"drawing the difference of {len(stack.queries):,} x {len(stack.keys):,} tokens "
                "would take long at every display; save_figure draws it once"
            )
        layer, self.lens = stack.layer(attention.layer), reading(ATTENTION, stack)
        drawn = range(layer.num_heads) if attention.heads is None else attention.heads
        rows = [(stack.numbers.index(attention.layer), drawn)]
        number = layer_number(attention.layer, attention.partners)
        self.draw_thumbnails(_plain(f"{self.lens.label} of the heads of layer {number}"), rows)

    def draw_thumbnails(self, title: str, rows: HeadRows) -> None:
        heads = self.shown.heads
        inks = head_inks(heads, self.shown.color, self.palette)
        segments = self.shown.choices["segments"]
        pixels, _ = thumbnails_picture(heads, rows, inks.rgba, self.palette, self.lens, segments)
        left, (height, width, _) = 5 * _GAP, pixels.shape
        scale = min((_WIDTH - left - _GAP) / width, (_BOTTOM - _TOP) / height)
        self.paste(pixels, left, scale)
        heights = _TOP + (np.arange(len(rows)) + 0.5) * height * scale / len(rows)
        numbers = [str(heads.stack.numbers[place]) for place, _ in rows]
        self.write_rows(numbers, heights, left - _GAP / 2)
        self.write((_GAP, _LINE), title)
        if self.lens.signed:
            self.write_signs()
        else:
            self.explain(inks)

    def draw_text(self, prose: Prose) -> None:
        """Draw the answer and as much of its prompt as there is room for, shaded."""
        wide = _WIDTH - 2 * _GAP
        lines = placed(prose, wide, _FONT, lambda text: _width(clean(text)), pictures=False)
        above = max(0.0, lines[-1].y + LINE * _FONT - (_BOTTOM - _TOP))
        strongest = 255 * STRONGEST[self.palette.dark]
        for each in lines:
            x, y = _GAP + each.x, _TOP + each.y - above
            if y < _TOP:
                continue
            piece, color, anchor = each.piece, self.palette.muted, "rm"
            if piece is not None:
                color, anchor = self.palette.text, "lm"
                box = (x - 2, y + 2, x + each.width + 2, y + 1.5 * _FONT)
                ink = ImageColor.getrgb(self.palette.ink)
                self.pen.rectangle(box, fill=(*ink[:3], round(strongest * piece.shade)))
                if piece.is_image:
                    self.pen.rectangle(box, outline=self.palette.muted)
                if piece.is_looked_at:
                    self.pen.rectangle(box, outline=self.palette.accent, width=2)
            self.write((x, y + 0.8 * _FONT), each.text, color=color, anchor=anchor)
        self.write((_GAP, _LINE), "What the answer was written from")
        self.write_legend([(self.palette.muted, _plain(note)) for note in prose.notes])

    def draw_grid(self, scores: GridScores) -> None:
        """Draw the cells of a grid with as many labels as there is room for."""
        names = [shorten(label) for label in scores.rows]
        left = round(2 * _GAP + max(map(_width, names)))
        size = _WIDTH - left - _GAP, _BOTTOM - _TOP - _LINE
        down, across = size[1] / len(names), size[0] / len(scores.columns)
        shares = np.nan_to_num(scores.values)[..., None]
        shares /= np.abs(shares).max(initial=0) or 1.0
        below, paper = rgb(self.palette.negative), rgb(self.palette.background)
        inks = np.where(shares > 0, rgb(self.palette.positive), below)
        pixels = (255 * (paper + (inks - paper) * np.abs(shares))).round().astype(np.uint8)
        cells = Image.fromarray(pixels).resize(size, Image.Resampling.NEAREST)
        self.image.paste(cells, (left, _TOP))
        self.write_rows(names, _TOP + (np.arange(len(names)) + 0.5) * down, left - _GAP / 2)
        columns = [shorten(label) for label in scores.columns]
        step = max(1, math.ceil((max(map(_width, columns)) + _GAP) / across))
        for at in range(0, len(columns), step):
            self.write((left + (at + 0.5) * across, _BOTTOM - _LINE / 2), columns[at], anchor="mm")
        self.write((_GAP, _LINE), _plain(f"{scores.name} at {scores.site}"))
        self.write_signs()

    def draw_map(self) -> None:
        """Draw a point for each head, placed as on the map."""
        heads, chosen = self.shown.heads, {"x": "distance", "y": "entropy"} | self.shown.places
        places, on = heads.points(chosen["x"], chosen["y"])
        inks = head_inks(heads, self.shown.color, self.palette)
        known = np.isfinite(places).all(axis=1)
        shares = places[known] - places[known].min(axis=0, initial=np.inf)
        shares /= np.maximum(shares.max(axis=0, initial=0), 1e-12)
        room = np.array([_WIDTH - 4 * _GAP, _BOTTOM - _TOP - 4 * _GAP])
        points = np.array([2 * _GAP, _TOP + _GAP]) + np.abs(shares - (0, 1)) * room
        colors = (255 * inks.rgba[heads.exist][known][:, :3]).round().astype(int)
        for point, color in zip(points.tolist(), colors.tolist(), strict=True):
            self.pen.circle(point, _POINT, fill=tuple(color))
        if on:
            self.write((_GAP, _LINE), _plain(metric_title(on[1])))
            self.write((_WIDTH - _GAP, _BOTTOM), _plain(metric_title(on[0])), anchor="rm")
        self.explain(inks)

    def paste(self, pixels: NDArray[np.uint8], left: int, scale: float) -> tuple[int, int]:
        """Add an image, [height, width, 3], and return its width and height here."""
        height, width = (round(scale * side) for side in pixels.shape[:2])
        picture = Image.fromarray(pixels).resize((width, height), Image.Resampling.BOX)
        self.image.paste(picture, (left, _TOP))
        return picture.size

    def explain(self, inks: HeadColors) -> None:
        """Say what the colours of heads stand for."""
        self.write_legend(inks.legend.items() or [(self.palette.text, _plain(inks.label))])

    def write_signs(self) -> None:
        signs = (self.palette.positive, "above 0"), (self.palette.negative, "below 0")
        self.write_legend(signs)

    def write_legend(self, names: Iterable[tuple[str, str]]) -> None:
        """Write names in their colours in the line below the view, as far as there is room."""
        left = float(_GAP)
        for color, name in names:
            if left + _width(name) > _WIDTH - _GAP:
                break
            self.write((left, _BOTTOM + _LINE), name, color=color)
            left += _width(name) + _GAP

    def write_rows(
        self,
        labels: Sequence[str],
        heights: NDArray[np.floating],
        x: float,
        anchor: str = "rm",
        muted: Collection[int] = (),
    ) -> None:
        """Write the labels of even rows, from the top of the view, as many as have room."""
        room = 2 * (heights[0] - _TOP)
        for at in range(0, len(labels), max(1, round(_FONT / room))):
            color = self.palette.muted if at in muted else None
            self.write((x, heights[at]), labels[at], color=color, anchor=anchor)

    def write(
        self, at: tuple[float, float], text: str, *, color: str | None = None, anchor: str = "lm"
    ) -> None:
        """Write at a point, which Pillow's anchor places in the text."""
        words = clean(text)
        fill = color or self.palette.text
        self.pen.text(at, words, font=_font(words), fill=fill, anchor=anchor)


def _plain(words: str) -> str:
    """Words of ours with signs that Pillow's font has."""
    for sign, plain in {"–": "-", "−": "-", "×": "x", "→": ">", "↔": "="}.items():
        words = words.replace(sign, plain)
    return words


def _width(text: str) -> float:
    return float(_font(text).getlength(text))


def _font(text: str) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    if _LETTERS.issuperset(text):
        return _latin()
    # Imported here, because it imports matplotlib.
    from .fonts import font_file

    return _read(font_file(text))


@cache
def _latin() -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(_FONT)


@cache
def _read(file: str) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(file, _FONT)
