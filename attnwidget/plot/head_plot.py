"""The head view as a figure: tokens, the lines between them, and the matrix beside them."""

from __future__ import annotations

from collections.abc import Sequence

from attnwidget.record import Floats

from .colors import head_colors, mixed, text_on
from .columns import FUNNEL, GAP, PADDING, STRIP, Column, Columns, columns_of
from .content import SIDES, Axes, Content, Side, axes_of
from .lines import all_lines, ribbons
from .matrix import matrix
from .scene import Layout, Scene
from .sheets import Sheet, head_sheet, sheets_of, strips_of
from .text import clean, shorten, text_width

MARGIN = 20
_BETWEEN = 40
_TITLE = 14
_SWATCH = (30, 20, 6)
_NOTE = 12
_FADED = 0.62


def head_scene(content: Content) -> Scene:
    scene = Scene(0, 0, content.palette.background)
    width, height = head_part(content, Layout(scene.shapes, MARGIN, MARGIN))
    scene.width, scene.height = width + 2 * MARGIN, height + 2 * MARGIN
    return scene


def head_part(content: Content, layout: Layout, notes: bool = True) -> tuple[float, float]:
    """Draws the view from a place on; returns the width and height that it takes."""
    choices, palette = content.choices, content.palette
    lying = choices["orientation"] == "horizontal"
    axes = axes_of(content)
    columns = columns_of(content, axes, lying)
    looked: dict[str, list[int]] = {side: axes[side].looked(content.locked(side)) for side in SIDES}
    side: Side | None = "query" if looked["query"] else "key" if looked["key"] else None
    sheets = sheets_of(content, axes)
    own = head_colors(content.layer.num_heads, palette.dark)
    colors = [palette.ink if sheet.head is None else own[sheet.head] for sheet in sheets]
    where = "" if choices["combine"].startswith("layers_") else f"Layer {content.layer.number}"

    rails = columns.query.rail + columns.key.rail
    across = columns.query.across + columns.key.across + columns.across + rails + 2 * GAP
    wide, high = (columns.length, across) if lying else (across, columns.length)
    name = sheets[0].name if sheets[0].head is None else ""
    top = _title(layout, " · ".join(filter(None, (where, name))), content)
    if sheets[0].head is not None:
        top = _swatches(layout, top, wide, sheets, colors)

    strips = strips_of(sheets, axes, looked) if side else None
    body = layout.at(0, top)
    body.lying = lying
    _sides(body, content, axes, columns, looked, strips, colors)
    left = columns.query.across + columns.query.rail + GAP
    between = body.at(left, 0)
    if side and strips is not None:
        drawn = ribbons(between, axes, columns, side, looked[side], strips, colors, palette)
    else:
        drawn = all_lines(between, axes, columns, sheets, colors)

    first = sheets[0]
    pictured = first if first.head is None else head_sheet(content, axes, content.head)
    place = layout.at(0, top + high + _BETWEEN) if lying else layout.at(wide + _BETWEEN, 0)
    title = " · ".join(filter(None, (where, pictured.name)))
    size = matrix(place, content, axes, pictured.weights(), title, looked)
    if lying:
        width, height = max(wide, size[0]), top + high + _BETWEEN + size[1]
    else:
        width, height = wide + _BETWEEN + size[0], max(top + high, size[1])
    print_ = [_windows(columns, axes), drawn, content.record.model if notes else ""]
    return width, small_print(layout, width, height, print_, content)


def _title(layout: Layout, title: str, content: Content) -> float:
    layout.text(0, _TITLE / 2, title, _TITLE, content.palette.text, bold=True)
    return 30.0


def _swatches(
    layout: Layout, top: float, room: float, sheets: Sequence[Sheet], colors: Sequence[str]
) -> float:
    """The number of every head drawn on its colour; returns what is below them."""
    width, height, gap = _SWATCH
    per_row = max(1, int((room + gap) // (width + gap)))
    for n, (sheet, color) in enumerate(zip(sheets, colors, strict=True)):
        x, y = n % per_row * (width + gap), top + n // per_row * (height + gap)
        layout.rect(x, y, width, height, fill=color, radius=5)
        place = x + width / 2, y + height / 2
        layout.text(*place, f"{sheet.head}", 12, text_on(color), anchor="middle")
    rows = -(-len(sheets) // per_row)
    return top + rows * (height + gap) + 10


def _sides(
    body: Layout,
    content: Content,
    axes: Axes,
    columns: Columns,
    looked: dict[str, list[int]],
    strips: Sequence[Floats] | None,
    colors: Sequence[str],
) -> None:
    side = "query" if looked["query"] else "key"
    for own in SIDES:
        column = columns[own]
        met = strips if strips is not None and own != side else None
        x = 0.0
        if own == "key":
            query = columns.query
            x = query.across + query.rail + columns.across + 2 * GAP + column.rail
        emphasis = None
        if strips is not None:
            found = set(looked[own])
            emphasis = [
                max(strip[unit] for strip in strips) if met is not None else float(unit in found)
                for unit in range(len(axes[own].labels))
            ]
        _labels(body.at(x, 0), content, axes, own, column, looked[own], emphasis)
        if column.long:
            # Beside the lines: the gap is between the rail and its labels.
            inner = columns.query.across + GAP if own == "query" else x - column.rail - GAP
            _rail(body.at(inner, 0), content, columns, own, axes, looked[own], met, colors)


def _labels(
    body: Layout,
    content: Content,
    axes: Axes,
    side: Side,
    column: Column,
    looked: Sequence[int],
    emphasis: Sequence[float] | None,
) -> None:
    axis, palette = axes[side], content.palette
    found = set(looked)
    for at in range(column.first, column.end):
        unit = axis.shown[at]
        start = column.starts[at] - column.starts[column.first]
        size = column.starts[at + 1] - column.starts[at]
        bold = unit in found
        if bold:
            body.rect(
                *(0, start, column.across, size),
                fill=palette.highlight,
                stroke=palette.accent,
                line=1.5,
                radius=4,
            )
        kept = 1.0 if emphasis is None or bold else _FADED + (1 - _FADED) * min(1, emphasis[unit])
        color = f"#{mixed(palette.background, palette.text, kept)}"
        if emphasis is None and unit in axis.special:
            color = palette.muted
        room = (size if body.lying else column.across) - 2 * PADDING
        text = shorten(axis.labels[unit], room + 2, column.font, bold=True)
        middle = start + size / 2
        if body.lying:
            body.text(
                column.across / 2, middle, text, column.font, color, anchor="middle", bold=bold
            )
        elif side == "query":
            x = column.across - PADDING
            body.text(x, middle, text, column.font, color, anchor="end", bold=bold)
        else:
            body.text(PADDING, middle, text, column.font, color, bold=bold)


def _rail(
    body: Layout,
    content: Content,
    columns: Columns,
    side: Side,
    axes: Axes,
    looked: Sequence[int],
    met: Sequence[Floats] | None,
    colors: Sequence[str],
) -> None:
    """What joins the labels in sight to the lines of the whole text."""
    column, palette, axis = columns[side], content.palette, axes[side]
    # From the labels to the strip: to the right of the queries, to the left of the keys.
    near, far = (0.0, float(FUNNEL)) if side == "query" else (float(FUNNEL + STRIP), float(STRIP))
    left = far if side == "query" else 0.0
    from_, to = column.ends[column.first], column.ends[column.end]
    body.rect(left, 0, STRIP, columns.length, fill=palette.panel)
    body.rect(
        *(left, from_, STRIP, to - from_), fill=palette.highlight, stroke=palette.accent, line=1.5
    )
    span = column.starts[column.end] - column.starts[column.first]

    def funnel(start: float, end: float, color: str, width: float, opacity: float = 1) -> None:
        middle = (near + far) / 2
        points = (near, start, middle, start, middle, end, far, end)
        body.curve(points, color, width, opacity=opacity)

    funnel(0, from_, palette.border, 1)
    funnel(span, to, palette.border, 1)
    for at in axis.borders:
        body.rect(left, column.ends[at] - 0.5, STRIP, 1, fill=palette.muted)
    for at in range(column.first, column.end):
        if met is None:
            continue
        weights = [strip[axis.shown[at]] for strip in met]
        weight = min(1.0, float(max(weights)))
        if weight >= 0.01:
            color = colors[weights.index(max(weights))]
            funnel(column.label(at), column.tip(at), color, 1.2 + 3 * weight, weight**0.75)
    for unit in looked:
        at = axis.places[unit]
        body.rect(left, column.tip(at) - 1.5, STRIP, 3, fill=palette.accent)
        if column.first <= at < column.end:
            funnel(column.label(at), column.tip(at), palette.text, 1.5)


def _windows(columns: Columns, axes: Axes) -> str:
    """Which labels there is room for, where not for all."""
    parts = []
    for side, what in zip(SIDES, ("queries", "keys"), strict=True):
        column, shown = columns[side], axes[side].shown
        if column.long:
            first, last = shown[column.first], shown[column.end - 1]
            parts.append(f"{what} {first}–{last} of {len(axes[side].labels)} are named")
    return ", ".join(parts)


def small_print(
    layout: Layout, width: float, height: float, notes: Sequence[str], content: Content
) -> float:
    """Lines of small print below all; returns the height with them."""
    lines: list[str] = []
    for note in filter(None, map(clean, notes)):
        longer = f"{lines[-1]} · {note}" if lines else note
        if lines and text_width(longer, _NOTE) <= width:
            lines[-1] = longer
        else:
            lines.append(shorten(note, width, _NOTE))
    for n, line in enumerate(lines):
        y = height + 24 + n * 18
        layout.text(0, y, line, _NOTE, content.palette.muted)
    return height + 24 + len(lines) * 18 - 6 if lines else height
