"""The numbers, patterns, colours and thumbnails of all heads of a stack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from attnwidget.analysis import ATTENTION, Lens, sampled_rows
from attnwidget.analysis.head_scores import null_range
from attnwidget.analysis.thumbnails import THUMBNAIL_SIZE, cell_bounds, signed_cells
from attnwidget.corpus import HeadProfile
from attnwidget.counted import counted
from attnwidget.progress import step_done
from attnwidget.record import AttentionRecord, Floats, Stack
from attnwidget.record.scores import spread_rows
from attnwidget.view_state import SIMILARITY
from attnwidget.view_state.segments import shown_positions
from attnwidget.wire import Metrics as OwnMetrics
from attnwidget.wire import (
    SentMetric,
    SentSimilarity,
    decode_overview,
    encode_overview,
    encode_own_metrics,
    encode_profile,
    heads_alone,
)
from attnwidget.wire.metrics import HeadNumbers
from attnwidget.wire.pairing import Partners, head_place, partners_of

from .attention import Viewed, recorded
from .colors import Palette, mixed, rgb

# matplotlib is imported where it is needed: the picture beside a widget is drawn without it.
if TYPE_CHECKING:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Colormap, Normalize

Numbers = NDArray[np.float64]
Range = tuple[float, float]
HeadRows = Sequence[tuple[int, Sequence[int]]]
"""The place of a layer, and its heads from left to right, as `Heads.order` returns them."""

# Pixels between two thumbnails.
_GAP = 3


@dataclass(frozen=True)
class Heads:
    """All heads of a stack, with their numbers.

    Attributes:
        overview: the result of `wire.encode_overview`.
        own: further metrics, as `wire.encode_own_metrics` returns them.
        similarity: as `wire.encode_similarity` returns it, if it has the stack.
    """

    record: AttentionRecord
    stack_name: str
    overview: tuple[Mapping[str, Any], bytes]
    own: Sequence[SentMetric] = ()
    similarity: SentSimilarity | None = None

    @classmethod
    def of(cls, source: HeadSource, stack: str | None, own: OwnMetrics | None = None) -> Heads:
        """The heads of a record; or of a profile, with its means over texts.

        Raises:
            KeyError: there is no such stack.
            TypeError, ValueError: it is no record, or `own` are no metrics of these heads.
        """
        if isinstance(source, Heads):
            return source
        if not isinstance(source, (AttentionRecord, HeadProfile)):
            source = getattr(source, "profile", None) or recorded(source)
        if isinstance(source, HeadProfile):
            record = heads_alone(source)
            overview = encode_overview(record, encode_profile(source, record))
        else:
            record, overview = source, encode_overview(source)
        name = record.stacks[0] if stack is None else stack
        record.stack(name)
        return cls(record, name, overview, encode_own_metrics(record, {} if own is None else own))

    @property
    def stack(self) -> Stack:
        return self.record.stack(self.stack_name)

    @property
    def of_texts(self) -> str:
        """The words for means over texts; "" where numbers are of a single text."""
        count = self.overview[0]["texts"]
        return "" if count is None else f"means of {counted(count, 'text')}"

    @property
    def of_what(self) -> str:
        """The words for what numbers are of, where they are not of the weights of one text."""
        return self.of_texts or ("of the magnitudes of coefficients" if self.stack.signed else "")

    def layers_without(self, lens: Lens) -> list[int]:
        """The numbers of the layers that lack a lens: of means over texts, all.

        Raises:
            ValueError: no layer has it.
        """
        found, numbers = {}, self.stack.numbers
        for number in numbers if lens.name != ATTENTION.name else ():
            why = lens.why_not(self.record, self.stack_name, number)
            if self.of_texts:
                found[number] = "is of many texts, with means of attention alone"
            elif why is not None:
                found[number] = why.sentence
        if len(found) == len(numbers):
            first = numbers[0]
            raise ValueError(f"lens {lens.name!r} is not known: layer {first} {found[first]}")
        return list(found)

    @cached_property
    def metrics(self) -> dict[str, SentMetric]:
        """The metrics that the stack has, by name."""
        return {
            metric["name"]: metric
            for metric in (*self.overview[0]["metrics"], *self.own)
            if self.stack_name in metric["values"]
        }

    def metric(self, name: str) -> SentMetric:
        """The metric of a name.

        Raises:
            ValueError: there is no such metric.
        """
        if name not in self.metrics:
            raise ValueError(f"no metric {name!r}; there are {', '.join(self.metrics)}")
        return self.metrics[name]

    @property
    def shape(self) -> tuple[int, int]:
        """(layers, the most heads of a layer)."""
        layers = self.stack.layers
        return len(layers), max(layer.num_heads for layer in layers)

    @cached_property
    def exist(self) -> NDArray[np.bool_]:
        """True for every head that there is, [layers, heads]."""
        counts = [layer.num_heads for layer in self.stack.layers]
        return np.arange(self.shape[1]) < np.array(counts)[:, None]

    @cached_property
    def names(self) -> list[str]:
        """The name of every head, layer by layer: "24-4"."""
        return [
            head_place(layer.number, head, self.partners(layer.number))
            for layer in self.stack.layers
            for head in range(layer.num_heads)
        ]

    def partners(self, layer: int) -> Partners:
        """The partners of a layer's heads in a comparison."""
        return partners_of(self.overview[0], self.stack_name, layer)

    def values(self, metric: SentMetric) -> Numbers:
        """The metric of every head, [layers, heads]; NaN for no value."""
        return self._table(metric["values"])

    def null(self, metric: SentMetric) -> Numbers:
        """The metric's null of every head, as `values`; NaN if it has none."""
        return self._table(metric["null"]["values"] if "null" in metric else {})

    def null_range(self, metric: SentMetric) -> Range | None:
        """The range of 95% of the null's heads; None where there is no null."""
        return null_range(self.null(metric))

    def points(self, x: str, y: str) -> tuple[Numbers, tuple[SentMetric, ...]]:
        """The place of each head on the map, [heads, 2], and the metrics on its axes, if any.

        A metric that the stack does not have is replaced by its first other.
        """
        if x == SIMILARITY and self.similarity is not None:
            rows = self.similarity["places"][self.stack_name]
            return np.concatenate([np.array(row) for row in rows]), ()

        def known(name: str, other: str) -> SentMetric:
            others = (metric for each, metric in self.metrics.items() if each != other)
            return self.metrics.get(name) or next(others)

        first = known(x, y)
        on = first, known(y, first["name"])
        return np.stack([self.values(each)[self.exist] for each in on], axis=1), on

    def _table(self, numbers: HeadNumbers) -> Numbers:
        table = np.full(self.shape, np.nan)
        for place, row in enumerate(numbers.get(self.stack_name, [])):
            table[place, : len(row)] = [np.nan if value is None else value for value in row]
        return table

    def order(
        self,
        sort: str,
        include_layers: Sequence[int] | None = None,
        include_heads: Sequence[int] | None = None,
    ) -> list[tuple[int, list[int]]]:
        """(place of a layer, its heads from left to right), as `model` takes them."""
        table = np.zeros(self.shape)
        if sort in self.metrics:
            # Heads without a value are the last.
            table = -np.nan_to_num(self.values(self.metrics[sort]), nan=-np.inf)
        rows = []
        for place, layer in enumerate(self.stack.layers):
            order = np.argsort(table[place, : layer.num_heads], kind="stable").tolist()
            heads = [head for head in order if include_heads is None or head in include_heads]
            if heads and (include_layers is None or layer.number in include_layers):
                rows.append((place, heads))
        return rows or self.order(sort)


HeadSource: TypeAlias = "AttentionRecord | HeadProfile | Heads | Viewed"


class HeadColors(NamedTuple):
    """The colours of all heads, and what they stand for.

    Attributes:
        rgba: of every head, [layers, heads, 4].
        legend: by their colours, the names of patterns; none if there is a colour bar.
        mappable: the numbers behind the colours, for a colour bar; None if there is a legend.
        label: that of the colour bar.
    """

    rgba: Numbers
    legend: Mapping[str, str] = {}
    mappable: ScalarMappable | None = None
    label: str = ""


def head_inks(heads: Heads, color: str, palette: Palette) -> HeadColors:
    """The colours of all heads.

    Args:
        color: "pattern", "layer", or the name of a metric.

    Raises:
        ValueError: there is no such metric.
    """
    if color == "pattern":
        return _pattern_inks(heads, palette)
    if color != "layer" and color not in heads.metrics:
        known = ", ".join(["pattern", "layer", *heads.metrics])
        raise ValueError(f"color is {color!r}; there are {known}")
    from matplotlib.cm import ScalarMappable

    if color == "layer":
        numbers = np.array(heads.stack.numbers, float)
        values, signed, label = np.where(heads.exist, numbers[:, None], np.nan), False, color
    else:
        metric = heads.metrics[color]
        values, signed, label = heads.values(metric), metric["signed"], metric_title(metric)
    middle = mixed(palette.background, palette.text, 0.5)
    norm, cmap = metric_scale(values, signed, palette, middle)
    grey = mixed(palette.background, palette.text, 0.2)
    mappable = ScalarMappable(norm, cmap.with_extremes(bad=grey))
    rgba: Numbers = mappable.to_rgba(np.ma.masked_invalid(values))
    return HeadColors(rgba, mappable=mappable, label=label)


def _pattern_inks(heads: Heads, palette: Palette) -> HeadColors:
    patterns = heads.overview[0]["patterns"]
    rgba = np.ones((*heads.shape, 4))
    counts: Counter[int] = Counter()
    colors = np.array([rgb(color) for color in palette.patterns])
    for place, row in enumerate(patterns["values"][heads.stack_name]):
        rgba[place, : len(row), :3] = colors[row]
        counts.update(row)
    legend = {
        palette.patterns[kind]: f"{patterns['kinds'][kind]} ({count})"
        for kind, count in counts.most_common()
    }
    return HeadColors(rgba, legend)


def metric_scale(
    values: Numbers, signed: bool, palette: Palette, middle: str | None = None
) -> tuple[Normalize, Colormap]:
    """The scale of a metric; one with a sign diverges at zero, from the middle's colour."""
    import matplotlib
    from matplotlib.colors import Normalize

    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    if not signed:
        return Normalize(low, high), matplotlib.colormaps[matplotlib.rcParams["image.cmap"]]
    most = max(abs(low), abs(high)) or 1.0
    return Normalize(-most, most), palette.colormap(signed=True, middle=middle)


def metric_title(metric: SentMetric) -> str:
    """The metric with its unit."""
    return f"{metric['label']} ({metric['unit']})" if metric["unit"] else metric["label"]


def thumbnails_picture(
    heads: Heads,
    rows: HeadRows,
    inks: Numbers,
    palette: Palette,
    lens: Lens,
    segments: str,
) -> tuple[NDArray[np.uint8], tuple[int, int]]:
    """(the pixels of all thumbnails, [height, width, 3]; the height and width of each, with a gap).

    Layers that lack the lens have attention.

    Args:
        lens: a reading of this stack.
        inks: the colours of heads, [layers, heads, 4].

    Raises:
        ValueError: no layer has the lens.
    """
    found = _thumbnails(heads, lens, segments)
    down, across = (side + _GAP for side in found[0][0].shape)
    columns = max(len(chosen) for _, chosen in rows)
    paper = rgb(mixed(palette.background, palette.text, 0.03))
    picture = np.tile(rgb(palette.background), (len(rows) * down, columns * across, 1))
    for n, (place, chosen) in enumerate(rows):
        for column, head in enumerate(chosen):
            shares = found[place][head][..., None]
            ink: Numbers = inks[place, head, :3]
            if lens.signed:
                ink = np.where(shares < 0, rgb(palette.negative), rgb(palette.positive))
            top, left = n * down, column * across
            box = slice(top, top + down - _GAP), slice(left, left + across - _GAP)
            picture[box] = paper + (ink - paper) * np.abs(shares)
        step_done()
    return (255 * picture).round().astype(np.uint8), (down, across)


def _thumbnails(heads: Heads, lens: Lens, segments: str) -> list[list[Numbers]]:
    """The thumbnail of every head, by layer: numbers from -1 to 1, magnified to about 32 cells."""
    levels = decode_overview(heads.record, *heads.overview)[heads.stack_name]
    # Means over texts are of whole texts.
    shown = shown_positions(heads.stack, "all" if heads.of_texts else segments)
    cells_of = [
        np.unique(np.searchsorted(cell_bounds(len(side), side.split)[1:], positions, "right"))
        for side, positions in zip((heads.stack.queries, heads.stack.keys), shown, strict=True)
    ]
    box = np.ix_(*cells_of) if not heads.of_texts else ...
    without, found = heads.layers_without(lens), []
    for layer, cells in zip(heads.stack.layers, levels, strict=True):
        # Those of coefficients are 8 for zero.
        signed = heads.stack.signed
        shares = [(each - 8.0) / 7 if signed else each / 15 for each in cells]
        if lens.name != ATTENTION.name and layer.number not in without:
            matrices = lens.heads(heads.record, heads.stack_name, layer.number)
            shares = [_seen(heads.stack, each) for each in matrices]
        shares = [each[box] for each in shares]
        zoom = max(1, THUMBNAIL_SIZE // max(shares[0].shape))
        found.append([each.repeat(zoom, 0).repeat(zoom, 1) for each in shares])
    return found


def _seen(stack: Stack, numbers: Floats) -> Numbers:
    """The thumbnail of a head's numbers, of the queries that other thumbnails read."""
    rows = spread_rows(len(numbers), sampled_rows(len(numbers)) or len(numbers))
    cells = signed_cells(stack, lambda chosen: numbers[chosen], rows)
    peak = float(np.abs(cells).max()) or 1.0
    shares: Numbers = np.sign(cells) * np.sqrt(np.abs(cells) / peak)
    return shares
