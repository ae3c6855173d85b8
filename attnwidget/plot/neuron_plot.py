"""The neuron view as a figure: query, key, their products, q.k and softmax of one query."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from attnwidget.record import Floats

from .bars import bars, hatch
from .colors import head_colors, mixed
from .columns import Column, Columns, font_size
from .content import Axis, Content
from .explained import Facts
from .head import MARGIN, small_print
from .heads import Head, heads_of
from .lines import all_lines, ribbons
from .places import IN_FULL, MARKS, Places, in_rows, places_of
from .scene import Layout, Scene
from .sheets import head_sheet
from .text import number, shorten, text_width

_TOP = 78
_FAINT = 0.4
_FAINTEST = 0.01
_TRIANGLES = 5


def neuron_scene(content: Content) -> Scene:
    palette = content.palette
    scene = Scene(0, 0, palette.background)
    layout = Layout(scene.shapes, MARGIN, MARGIN)
    title = f"Layer {content.layer.number} · Head {content.head}"
    layout.text(0, 7, title, 14, palette.text, bold=True)
    if content.layer.queries is None:
        said = (
            "This layer was recorded as attention weights alone, without the query and key "
            "vectors that this view explains them by."
        )
        layout.text(0, 34, said, 12, palette.muted)
        scene.width, scene.height = text_width(said, 12) + 2 * MARGIN, 50 + 2 * MARGIN
        return scene
    facts = Facts(content)
    expanded = bool(content.choices["expanded"])
    places = places_of(facts, expanded)
    body = layout.at(0, _TOP)
    if expanded:
        _focus(body, facts, places)
        _strips(body, facts, places)
        _marks(body, facts, places)
    bars(body, facts, places)
    if expanded or len(facts.axes.key.shown) > IN_FULL:
        _curves(body, facts, places)
    else:
        _lines(body, facts, places)
    _labels(body, facts, places)
    _heads(layout, heads_of(facts, places, expanded), content)
    bottom = _TOP + places.top(places.end) + 10
    bottom = _legend(layout, facts, places, expanded, bottom)
    width = places.weights.end
    scene.width = width + 2 * MARGIN
    notes = [*_notes(facts, places, expanded), content.record.model]
    scene.height = small_print(layout, width, bottom - 12, notes, content) + 2 * MARGIN
    return scene


def _focus(body: Layout, facts: Facts, places: Places) -> None:
    """Around the row of the key that is locked."""
    if facts.focus_key is None:
        return
    row = facts.axes.key.places[facts.focus_key]
    if places.drawn(row):
        x = places.key_labels + 1
        body.rect(
            *(x, places.top(row) + 1, places.weights.end - x - 1, places.row - 2),
            stroke=facts.content.palette.accent,
            line=1.5,
        )


def _strips(body: Layout, facts: Facts, places: Places) -> None:
    vector, product = facts.scales()
    explained = [one for one in (facts.explanation, facts.comparison) if one is not None]
    queries = [one.query for one in explained]
    for row, query in in_rows(facts.axes.query, places):
        opacity = 1 if query in queries else _FAINT
        _strip(
            body,
            places.queries,
            places.band(row),
            places,
            facts.queries[query],
            vector,
            opacity,
            facts,
        )
    for row, key in in_rows(facts.axes.key, places):
        opacity = 1 if any(one.sees(key) for one in explained) else _FAINT
        _strip(body, places.keys, places.band(row), places, facts.keys[key], vector, opacity, facts)
        for part, one in enumerate(explained):
            if one.sees(key):
                terms = facts.queries[one.query] * facts.keys[key]
                band = places.band(row, part, len(explained))
                _strip(body, places.products, band, places, terms, product, 1, facts)


def _strip(
    body: Layout,
    x: float,
    band: tuple[float, float],
    places: Places,
    vector: Floats,
    scale: float,
    opacity: float,
    facts: Facts,
) -> None:
    palette = facts.content.palette
    pixels = "".join(
        mixed(
            palette.background,
            palette.negative if vector[n] < 0 else palette.positive,
            min(1, abs(float(vector[n])) / scale) * opacity,
        )
        for n in facts.order
    )
    body.cells(x, band[0], places.strip, band[1], facts.dim, pixels)


def _marks(body: Layout, facts: Facts, places: Places) -> None:
    palette, dim = facts.content.palette, facts.dim
    cell = places.strip / dim
    shown = facts.axes.query.shown, facts.axes.key.shown
    rows = [min(len(side), places.end) - places.first for side in shown]
    strips = [(places.queries, rows[0]), (places.keys, rows[1]), (places.products, rows[1])]

    rotary = facts.layer.rotary
    if rotary is not None and facts.order == list(range(dim)):
        end = rotary.start + rotary.dims
        for x, count in strips:
            borders = [n for n in (rotary.start, end) if 0 < n < dim]
            if rotary.pairs == "halves":
                borders.append(rotary.start + rotary.dims // 2)
            else:
                for n in range(rotary.start, end, 2):
                    width = max(1, 2 * cell - 1.5)
                    body.rect(x + n * cell + 0.5, MARKS, width, 1.5, fill=palette.muted)
            for n in borders:
                body.rect(x + n * cell - 0.5, MARKS, 1, count * places.row, fill=palette.muted)

    for n in facts.muted:
        for x, count in strips:
            box = x + facts.order.index(n) * cell, MARKS, cell, count * places.row
            body.rect(*box, fill=palette.background, opacity=0.7)
            body.lines(hatch(*box), palette.muted, 1.2, opacity=0.55)

    for one in (facts.explanation, facts.comparison):
        row = -1 if one is None else facts.axes.query.places[one.query]
        if not places.drawn(row):
            continue
        top, height = places.band(row)
        body.rect(
            *(places.queries - 2, top - 2, places.strip + 4, height + 4),
            stroke=palette.accent,
            line=2,
            dash=(6, 4) if one is facts.comparison else (),
        )

    half = min(4, cell * 0.45)
    for n in facts.telling or ():
        x = places.products + (facts.order.index(n) + 0.5) * cell
        if cell < _TRIANGLES:
            width = 1 if cell < 3 else 2
            body.rect(x - width / 2, MARKS - 8, width, 6, fill=palette.text)
        else:
            points = (x - half, MARKS - 8, x + half, MARKS - 8, x, MARKS - 2)
            body.polygon(points, palette.text)


def _curves(body: Layout, facts: Facts, places: Places) -> None:
    """From the query to each key, as opaque as the weight; dashed from the query compared with."""
    left, right = places.curves
    middle = (left + right) / 2

    def centre(row: int) -> float:
        within = max(places.first - 1, min(places.end, row))
        return places.top(within) + places.row / 2

    for one in (facts.explanation, facts.comparison):
        if one is None:
            continue
        from_ = facts.axes.query.places[one.query]
        for to, key in enumerate(facts.axes.key.shown):
            value = float(one.shown.weights[key])
            if value < _FAINTEST or not (places.drawn(from_) or places.drawn(to)):
                continue
            start, end = centre(from_), centre(to)
            points = (left, start, middle, start, middle, end, right, end)
            dash = (5.0, 4.0) if one is facts.comparison else ()
            color = facts.content.palette.positive
            body.curve(points, color, 2.5, opacity=min(1.0, value), dash=dash)


def _lines(body: Layout, facts: Facts, places: Places) -> None:
    """Without vectors: the lines of all queries, or of the locked one."""
    content, axes = facts.content, facts.axes
    left, right = places.curves

    def column(axis: Axis) -> Column:
        starts = list(accumulate([places.row] * len(axis.shown), initial=0.0))
        return Column(starts, starts, 0, len(axis.shown), False, 0, 14)

    sides = column(axes.query), column(axes.key)
    columns = Columns(*sides, max(side.ends[-1] for side in sides), right - left)
    between = body.at(left, MARKS)
    sheets = [head_sheet(content, axes, facts.head)]
    colors = [head_colors(facts.layer.num_heads, content.palette.dark)[facts.head]]
    looked = axes.query.looked(content.locked("query")[:1])
    if looked:
        strip = sheets[0].weights()[looked[0]]
        ribbons(between, axes, columns, "query", looked, [strip], colors, content.palette)
    else:
        all_lines(between, axes, columns, sheets, colors)


def _labels(body: Layout, facts: Facts, places: Places) -> None:
    content, font = facts.content, font_size(places.row)
    palette = content.palette
    explained = [one.query for one in (facts.explanation, facts.comparison) if one is not None]
    for axis, x in ((facts.axes.query, 0.0), (facts.axes.key, places.key_labels)):
        locked = content.locked(axis.side)
        for row, position in in_rows(axis, places):
            top, bold = places.top(row), position in locked
            if bold:
                body.rect(
                    *(x, top, places.labels, places.row),
                    fill=palette.highlight,
                    stroke=palette.accent,
                    line=1.5,
                    radius=4,
                )
            color = palette.text
            if axis.side == "query":
                kept = 1.0 if position in explained else 0.62
                color = f"#{mixed(palette.background, palette.text, kept)}"
            elif position in axis.special and not bold:
                color = palette.muted
            text = shorten(axis.labels[position], places.labels - 14, font, bold=True)
            side = axis.side == "query"
            place = x + (places.labels - 8 if side else 8), top + places.row / 2
            anchor = "end" if side else "start"
            body.text(*place, text, font, color, anchor=anchor, bold=bold)
    row = len(facts.axes.key.shown)
    if facts.sink is not None and places.drawn(row):
        place = places.key_labels + 8, places.top(row) + places.row / 2
        body.text(*place, "sink", font, palette.muted)


def _heads(layout: Layout, heads: Sequence[Head], content: Content) -> None:
    """The names of the columns, and what is to be said of each, as far as there is room."""
    palette = content.palette
    for head in heads:
        name = next((n for n in head.names if text_width(n, 13) <= head.width), head.names[-1])
        layout.text(head.left, _TOP - 34, name, 13, palette.muted)
        found = (d for d in head.details if text_width(d, 12) <= head.width)
        detail = next(found, "")
        color = palette.negative if head.altered else palette.text
        if detail:
            layout.text(head.left, _TOP - 16, detail, 12, color)


def _legend(layout: Layout, facts: Facts, places: Places, expanded: bool, bottom: float) -> float:
    if not expanded:
        return bottom
    palette, x = facts.content.palette, 0.0
    vector, product = facts.scales()
    strongest = f"strongest colour ±{number(vector)} (q, k), ±{number(product)} (q × k)"
    y = bottom + 12
    for color, words in ((palette.positive, "positive"), (palette.negative, "negative")):
        layout.rect(x, y - 5, 10, 10, fill=color)
        layout.text(x + 14, y, words, 12, palette.muted)
        x += 14 + text_width(words, 12) + 16
    layout.text(x, y, strongest, 12, palette.muted)
    return y + 8


def _notes(facts: Facts, places: Places, expanded: bool) -> list[str]:
    notes = []
    axes, rotary = facts.axes, facts.layer.rotary
    total = max(len(axes.query.shown), len(axes.key.shown))
    if total > IN_FULL:
        last = min(places.end, total) - 1
        notes.append(f"rows {places.first}–{last} of {total}")
    if facts.muted:
        notes.append("hatched: muted, outlined: the model’s own")
    if facts.comparison:
        notes.append("hatched bars: compared query")
    if rotary is not None and expanded:
        pairs = f"n pairs with n + {rotary.dims // 2}"
        notes.append(f"rotary: {pairs if rotary.pairs == 'halves' else 'neighbours are pairs'}")
    if facts.layer.program is None:
        notes.append("kept as weights")
    return notes
