"""A record with the choices of a view, which widgets and static views have in common."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from operator import itemgetter
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

import traitlets
from traitlets import TraitError

from attnwidget.analysis import LENSES, Comparison, GridScores, OwnLenses, own_lenses
from attnwidget.arguments import holds_entries, whole
from attnwidget.counted import counted
from attnwidget.interventions.edits import KnockOut
from attnwidget.page import frame_html, layers_within, page_html, title_of
from attnwidget.plot import require_matplotlib
from attnwidget.progress import progress_bar
from attnwidget.record import Arc, AttentionRecord
from attnwidget.record.files import printable, writable, write_whole
from attnwidget.view_state import (
    ChoiceOptions,
    Choices,
    ShownRecord,
    View,
    check_names,
    choice_values,
    no_choice,
)
from attnwidget.view_state.following import default_metric
from attnwidget.view_state.signature import CHOICE_DEFAULTS, with_options
from attnwidget.wire import (
    HeadNames,
    Metrics,
    OffSet,
    SavedEffect,
    SentMetric,
    checked_grids,
    compared_metrics,
    encode_arcs,
    encode_comparison,
    encode_effects,
    encode_grids,
    encode_overview,
    encode_own_metrics,
    grid_metrics,
    joined_record,
    partner_stacks,
    with_head_names,
    with_measured,
)
from attnwidget.wire.compression import Quality

from .autoembed import BUDGET
from .selection import Selection, select

if TYPE_CHECKING:
    from IPython.display import Image
    from typing_extensions import Unpack

    from attnwidget.interventions.rerun import Rerun
    from attnwidget.plot.figure import FigureKind, PanelName
    from attnwidget.plot.shown import Shown


_LAST = (
    *("heads", "also", "muted", "off", "cut"),
    *("named_segments", "segments", "parts", "part", "cut_part", "grid"),
)


class RecordOptions(ChoiceOptions, total=False):
    """The options of a view: its choices, and what it shows beside the record."""

    metrics: Metrics | None
    arcs: Iterable[Arc] | None
    grids: Iterable[GridScores] | None
    head_names: HeadNames | None
    lenses: OwnLenses | None


@dataclass(frozen=True)
class StaticCell:
    """A view as the output of a cell that needs no kernel, widget manager or network.

    Attributes:
        html: a sandboxed frame with the view, for any page of HTML.
    """

    html: str

    def __repr__(self) -> str:
        return f"StaticCell({len(self.html):,} characters of HTML)"

    def _repr_html_(self) -> str:
        return self.html


class RecordView(Choices):
    """A record with the choices of a view, which can be saved as a page and drawn as a figure.

    Of a comparison, it has the views of both records, and of their difference: `compared` says
    which is shown, by default "difference", b - a. Without `layer` and `head`, it opens at the head
    whose attention moves most. The numbers of `Comparison.metrics` are among its `metrics`. More of
    them, and `lenses`, are given by stack, those of b as "self of B".

    See `AttentionWidget` for the choices, `metrics` and `arcs`.

    Raises:
        TypeError: `record` is no record, or no such choice exists.
        ValueError: of a comparison, some heads of a layer have a partner, and others none.
        traitlets.TraitError: a value that this record does not have, or metrics of another shape.
    """

    _comparison: Comparison | None = None
    metrics = traitlets.Any()
    arcs = traitlets.Any()

    _manifest = traitlets.Dict().tag(sync=True)
    _overview = traitlets.Bytes().tag(sync=True)
    _metrics: Any = traitlets.List().tag(sync=True)
    _arcs: Any = traitlets.List().tag(sync=True)
    _similarity: Any = traitlets.Any(None, allow_none=True).tag(sync=True)

    @with_options(ChoiceOptions, CHOICE_DEFAULTS)
    def __init__(
        self,
        record: AttentionRecord | Comparison,
        *,
        view: View = "head",
        metrics: Metrics | None = None,
        arcs: Iterable[Arc] | None = None,
        grids: Iterable[GridScores] | None = None,
        head_names: HeadNames | None = None,
        lenses: OwnLenses | None = None,
        **choices: Unpack[ChoiceOptions],
    ) -> None:
        if isinstance(record, Comparison):
            self._comparison = record
            choices.setdefault("compared", "difference")
            choices.setdefault("color", "moved")
            metrics = {**compared_metrics(record), **({} if metrics is None else metrics)}
            record = joined_record(record)
        if not isinstance(record, AttentionRecord):
            raise TypeError(
                f"record is {type(record).__name__}; expected an AttentionRecord, as "
                "attnwidget.capture, AttentionRecord.from_arrays or AttentionRecord.load returns "
                "it"
            )
        check_names(choices)
        self._record = record
        self._grids = checked_grids(grids)
        self._lenses = (*LENSES, *own_lenses(record, {} if lenses is None else lenses, LENSES))
        # The model of the record, if it was shown from one.
        self._rerun: Rerun | None = None
        # Readers of a translation look at its attention to the source first.
        usual = "cross" if "cross" in record.stacks else record.stacks[0]
        chosen = choices.get("stack")
        stack = choices["stack"] = self._known_stack(usual if chosen is None else chosen)
        self._head_names = {} if head_names is None else {stack: head_names}
        count = sum(len(record.stack(name).layers) for name in record.stacks)
        with progress_bar("Summarizing heads", "layers", count):
            manifest, overview = self._named_overview(record)
        if of_heads := grid_metrics(record, self._grids, partner_stacks(manifest)):
            metrics = {**of_heads, **({} if metrics is None else metrics)}
        unnamed = choices.get("layer") is None and "head" not in choices
        if choices.get("layer") is None:
            choices["layer"] = record.stack(stack).numbers[0]
            if self._comparison is not None and unnamed:
                rows = self._comparison.metrics()["moved"].rows[stack]
                numbers = record.stack(stack).numbers
                heads = ((moved, at, head) for at in numbers for head, moved in enumerate(rows[at]))
                _, choices["layer"], choices["head"] = max(heads, key=itemgetter(0))
        # A profile may lack the usual metrics.
        names = [metric["name"] for metric in manifest["metrics"]]
        choices.setdefault("map_x", default_metric("map_x", names))
        choices.setdefault("map_y", default_metric("map_y", names, choices["map_x"]))
        # These follow from other choices, so they are made last.
        first: dict[str, Any] = {**choices}
        last: dict[str, Any] = {name: first.pop(name, CHOICE_DEFAULTS[name]) for name in _LAST}
        if not isinstance(last["segments"], str):
            last |= {"named_segments": last["segments"], "segments": "all"}
        super().__init__(
            view=view,
            metrics={} if metrics is None else metrics,
            _metrics=self._encoded(metrics),
            arcs=() if arcs is None else arcs,
            _manifest=manifest,
            _overview=overview,
            **first,
        )
        for name, value in last.items():
            setattr(self, name, value)
        if unnamed and self.off:
            self.layer, self.head = self.off[0]
        self._opened()

    def _opened(self) -> None:
        """Take further steps once all choices are made."""

    def __setattr__(self, name: str, value: object) -> None:
        # A misspelt choice would be a new attribute that changes nothing.
        if not (name.startswith("_") or hasattr(type(self), name)):
            raise AttributeError(no_choice(type(self).__name__, name))
        super().__setattr__(name, value)

    def __repr__(self) -> str:
        stack = self._record.stack(self.stack)
        place = "" if self.view in ("model", "map") else f", layer {self.layer}, head {self.head}"
        for side, position, tokens in (
            ("query", self.query, stack.queries),
            ("key", self.key, stack.keys),
        ):
            place += "" if position is None else f", {side} {position} {tokens.labels[position]!r}"
        layers = counted(len(stack.layers), "layer")
        shape = f"{layers}, {len(stack.queries)} x {len(stack.keys)} tokens"
        model = printable(self._record.model) or "an unnamed model"
        return (
            f"<{type(self).__name__} of {model}: {self.view} view{place} ({self.stack}: {shape})>"
        )

    def _encode_overview(self, record: AttentionRecord) -> tuple[dict[str, Any], bytes]:
        if self._comparison is not None:
            return encode_comparison(self._comparison, record, self._lenses)
        return encode_overview(record, lenses=self._lenses)

    def _named_overview(self, record: AttentionRecord) -> tuple[dict[str, Any], bytes]:
        """The record's (manifest, thumbnails), with the user's words for heads."""
        manifest, overview = self._encode_overview(record)
        for stack, names in self._head_names.items():
            manifest = with_head_names(manifest, stack, names)
        if self._grids:
            sent = encode_grids(record, self._grids, partner_stacks(manifest))
            manifest = {**manifest, "grids": sent}
        return manifest, overview

    def _encoded(self, metrics: Metrics | None) -> list[SentMetric]:
        try:
            return encode_own_metrics(self._record, {} if metrics is None else metrics)
        except (TypeError, ValueError) as error:
            raise TraitError(str(error)) from error

    @traitlets.validate("metrics")
    def _valid_metrics(self, proposal: Any) -> Any:
        # Not in an observer, which is not notified if the same arrays, changed in place, are set.
        self._metrics = self._encoded(proposal.value)
        return dict(proposal.value)

    @traitlets.observe("metrics", "arcs")
    def _remove(self, change: Any) -> None:
        # None is not validated.
        if change.new is None:
            setattr(self, f"_{change.name}", [])

    @traitlets.validate("arcs")
    def _valid_arcs(self, proposal: Any) -> tuple[Arc, ...]:
        try:
            # Read once: it may be an iterator.
            arcs = proposal.value
            arcs = tuple(arcs) if holds_entries(arcs) else arcs
            self._arcs = encode_arcs(self._record, arcs)
        except (TypeError, ValueError) as error:
            raise TraitError(str(error)) from error
        return arcs

    def _measure_with(self, rerun: Rerun) -> None:
        """Measure effects of what is off with this model."""
        self._rerun = rerun
        # Of an answer, those that Python has measured.
        if rerun.measured or rerun.shuffles:
            self._manifest = with_measured(self._manifest, rerun)

    @property
    def record(self) -> AttentionRecord:
        """The record shown; of a comparison, the stacks of both, those of b as "self of B"."""
        return self._record

    @property
    def comparison(self) -> Comparison | None:
        """The comparison that is shown; None for a record."""
        return self._comparison

    @property
    def selection(self) -> Selection:
        """The head shown, at its locked query and key: weights, scores, q and k as arrays.

        Raises:
            ValueError: a difference of two records is shown, which has no scores, q and k.
        """
        if self.compared == "difference":
            raise ValueError(
                "a difference has no scores, queries and keys: set compared to 'a' or 'b', or use "
                "widget.comparison.difference(layer, head)"
            )
        stack = self._partners[self.stack] if self.compared == "b" else self.stack
        return select(self._record, stack, self.layer, self.head, self.query, self.key)

    def to_html(
        self,
        *,
        views: Iterable[View] | None = None,
        layers: Iterable[SupportsIndex] | None = None,
        quality: Quality = "default",
        effects: Iterable[OffSet] = (),
    ) -> str:
        """One self-contained HTML page: no kernel, no network.

        See `attnwidget.to_html` for the arguments; it makes a page of several widgets.
        """
        shown = self.shown_record(effects)
        return page_html([shown], views=views, layers=layers, quality=quality)

    def save_html(
        self,
        path: str | PathLike[str],
        *,
        views: Iterable[View] | None = None,
        layers: Iterable[SupportsIndex] | None = None,
        quality: Quality = "default",
        effects: Iterable[OffSet] = (),
    ) -> None:
        """Write `to_html(…)` to a file, whole or not at all."""
        writable(path)
        html = self.to_html(views=views, layers=layers, quality=quality, effects=effects)
        write_whole(path, html.encode())

    def static(
        self,
        height: int | Literal["auto"] = "auto",
        *,
        layers: Iterable[SupportsIndex] | None = None,
        quality: Quality | None = None,
        budget: float | None = BUDGET,
    ) -> StaticCell:
        """The view as a cell's output that needs no kernel, widget manager or network.

        The output is a sandboxed frame with the whole view and its layers. It works in notebooks
        that are only read, in exported HTML, and wherever HTML is shown. Where HTML of others is
        sanitized, as on GitHub, there is only a sentence in its place.

        Args:
            height: in CSS pixels, or "auto" to follow the content where a host allows it.
            layers, quality, budget: the layers in the output, see `AttentionWidget.embed`.

        Raises:
            TypeError, ValueError, IndexError: there is no such height, layer or quality.
        """
        expected = '"auto" or pixels, as 600'
        pixels = None if height == "auto" else whole(1, expected)("height", height)
        shown = self.shown_record()
        blocks, note = layers_within(
            shown, layers=layers, quality=quality, budget=budget, method="static"
        )
        return StaticCell(frame_html(shown, blocks, note, pixels))

    def shown_record(self, effects: Iterable[OffSet] = ()) -> ShownRecord:
        """The record, and the current choices with which a page shows it.

        A page cannot run the model: it has the effects that are measured here. What is off now is
        off there, else the first of `effects`.

        Args:
            effects: further sets of heads and links whose effect the page has, see
                `attnwidget.to_html`.

        Warns:
            UserWarning: the effect of what is off now cannot be measured; nothing is off there.
        """
        saved = self._effect_now()
        for each in encode_effects(self._record, self._rerun, self.stack, effects, self.query):
            if each not in saved:
                saved.append(each)
        off = (
            {"off": saved[0]["heads"], "cut": saved[0]["cut"]} if saved else {"off": [], "cut": []}
        )
        return replace(self._shown_now(), choices=choice_values(self) | off, effects=saved)

    def _shown_now(self) -> ShownRecord:
        manifest = self._manifest
        return ShownRecord(
            self._record,
            manifest if self._rerun is None else with_measured(manifest, self._rerun),
            self._overview,
            choice_values(self),
            self._metrics,
            self._similarity,
            self._arcs,
            lenses=self._lenses,
            grids=self._grids,
            note=self._heads_alone,
        )

    def _effect_now(self) -> list[SavedEffect]:
        """The effect of what is off; none if nothing is, or if it cannot be measured."""
        off = [*self.off, *(KnockOut(*link) for link in self.cut)]
        if not off:
            return []
        try:
            return encode_effects(self._record, self._rerun, self.stack, [off], self.query)
        except (ReferenceError, ValueError) as error:
            # The frame of the caller of `save_html`, `to_html` or `static`.
            warnings.warn(f"what is off is not saved: {error}", stacklevel=4)
            return []

    def figure(
        self,
        *,
        panel: PanelName | None = None,
        size: tuple[float, float] | None = None,
        dpi: float | None = None,
        caption: bool = True,
    ) -> Image:
        """Draw the widget's view as a PNG that a notebook displays and keeps.

        Args:
            panel: the part of the view that is drawn, as `attnwidget.plot` names them: "head" (the
                lines) or "matrix" of the head view, "model", "neuron", "map", "text" or "grid"; all
                of the view if None. A model view with an opened head has the panels of the head
                view, too; a text view is drawn of an answer, without its lists.
            size: width and height in inches; fitting the tokens if None.
            dpi: pixels per inch; 240 if None.
            caption: False to leave out the small print on what is not drawn, and the model's name.

        Raises:
            TypeError, ValueError: the view has no such panel, or the size or resolution is none,
                or too small or large to be drawn.
            ImportError: matplotlib is not installed (`pip install 'attnwidget[figures]'`).
        """
        require_matplotlib()
        from IPython.display import Image

        from attnwidget.plot.figure import PRINT_DPI

        png = self._drawn("png", panel, size, dpi, caption)
        # The header of the file has its width; a notebook has 96 pixels per inch.
        width = int.from_bytes(png[16:20], "big") * 96 / (dpi or PRINT_DPI)
        alt = self._alternative(panel)
        return Image(  # type: ignore[no-untyped-call]
            png, format="png", width=round(width), metadata={"alt": alt}
        )

    def _said(self, part: str) -> str:
        """A description of the picture of this part, for those who do not see it."""
        of_stack = f" of {self.stack}" if len(self._own_stacks) > 1 else ""
        head = "" if part.startswith("model") else f", layer {self.layer}, head {self.head}"
        return f"{title_of([self._shown_now()])}: {part}{of_stack}{head}"

    def _alternative(self, panel: PanelName | None = None) -> str:
        """The same with the first numbers of what is shown."""
        from attnwidget.describe.views import alternative

        return alternative(self._said(panel or f"{self.view} view"), self._plotted())

    def describe(self) -> str:
        """Say in words what the view shows now: plain text of at most 60 lines.

        The first lines are its choices, as the view, the layer and what is locked; then come the
        numbers that the status line has of what is locked, with the tokens' names, or else the
        highest; and those of the current head. `attnwidget.describe(widget.record)` says what the
        whole record holds.
        """
        # Imported here, as plots are: a display is not delayed by what it may not need.
        from attnwidget.describe.views import describe_view

        return describe_view(self._plotted())

    def save_figure(
        self,
        path: str | PathLike[str],
        *,
        panel: PanelName | None = None,
        size: tuple[float, float] | None = None,
        dpi: float | None = None,
        caption: bool = True,
    ) -> None:
        """Draw the widget's view to a file, whole or not at all: .svg, .pdf or .png.

        SVG and PDF have lines and text; a PDF embeds its fonts. Each file has a description in
        words of what it shows, for those who do not see it.

        Args:
            panel, size, caption: as in `figure`.
            dpi: pixels per inch of a PNG; 240 if None.

        Raises:
            TypeError, ValueError: the path has another suffix; or see `figure`.
            OSError: the file cannot be written.
            ImportError: matplotlib is not installed (`pip install 'attnwidget[figures]'`).
        """
        require_matplotlib()
        from attnwidget.plot.figure import kind_of

        kind = kind_of(path)
        writable(path)
        write_whole(path, self._drawn(kind, panel, size, dpi, caption))

    def _preview(self) -> bytes:
        """The picture beside the widget."""
        if find_spec("PIL") is None:
            raise ImportError("a picture needs Pillow: pip install 'attnwidget[figures]'")
        from attnwidget.plot.preview import preview_bytes

        return preview_bytes(self._plotted())

    def _drawn(
        self,
        kind: FigureKind,
        panel: PanelName | None,
        size: tuple[float, float] | None,
        dpi: float | None,
        caption: bool = True,
    ) -> bytes:
        from attnwidget.plot.figure import figure_bytes

        style: dict[str, Any] = {"panel": panel, "size": size, "dpi": dpi, "caption": caption}
        with progress_bar("Drawing", "steps"):
            alt = self._alternative(panel)
            return figure_bytes(self._plotted(), kind, description=alt, **style)

    def _plotted(self) -> Shown:
        from attnwidget.plot.shown import Shown

        return Shown(**vars(self._shown_now()))
