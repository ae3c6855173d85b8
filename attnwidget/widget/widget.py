"""AttentionWidget: the notebook widget of a record, and its replies to the view."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex

import anywidget
import traitlets
from traitlets import TraitError

from attnwidget.page import ShownRecord, page_html, save_page
from attnwidget.plot import require_matplotlib
from attnwidget.record import AttentionRecord
from attnwidget.record.files import write_whole
from attnwidget.view_state import (
    CHOICES,
    ChoiceOptions,
    Choices,
    View,
    check_names,
    choice_values,
)
from attnwidget.wire import Metrics, Replies, SentMetric, encode_overview, encode_own_metrics
from attnwidget.wire.compression import Quality

from .autoembed import do_not_embed, embed_after_cell
from .embedding import embedded_layers
from .png_fallback import with_picture
from .selection import Selection, select

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from attnwidget.plot.figure import Figure, FigureKind, FigureQuality


class AttentionWidget(Choices, anywidget.AnyWidget):
    """Three linked views of an AttentionRecord.

    Every choice is a trait that follows the view, and can be set from Python, observed, and linked
    to another widget's with `ipywidgets.link`:

    Attributes:
        view: "head", "model" or "neuron".
        stack: the stack shown.
        layer, head: the layer and head shown, counted from 0 as the model counts them.
        heads: the heads whose lines the head view draws; None for all.
        query, key: the locked query or key position (of several, the last), or None.
        also: more positions locked together with `query` (or, without one, with `key`). The head
            view sums their attention; the neuron view compares `query` with the first of them.
        segments: the attention shown of a text pair: "all", or "aa", "ab", "ba" and "bb" for
            queries of the first and keys of the second letter's text.
        combine: the combination that the head view shows: the "mean" or "max" of the heads drawn,
            or "layers_mean" or "layers_max" of every head of every layer; "none" for single heads.
        words: True if the head view joins the tokens of a word: the attention to a word is the
            sum over its tokens, that from a word the mean.
        orientation: "vertical" (tokens in columns) or "horizontal" (in lines).
        picture: True if the head view shows the patches of a vision model on its image, False if
            as a list; see `AttentionRecord.image`.
        thumbnails: the thumbnails of the model view, "matrix" or "lines".
        sort: the order of a layer's heads in the model view: "model", or, from the highest to the
            lowest, a metric: "entropy" (nats), "distance" (tokens), the share on the "previous",
            "same", "next", "first" or "special" token, any other of `attnwidget.analysis.METRICS`,
            or one of `metrics`.
        color: the meaning of colours in the model view: "pattern", "layer", or a metric.
        opened: True if the current head is open in the model view.
        include_layers, include_heads: the layers and heads of the model view; None for all.
        neurons: the order of the neuron view's components: "model", by |q x k| of the selected
            "pair", or by its "sum" over the keys.
        muted: the neurons of this head that are left out of q.k in the neuron view.
        expanded: True if the neuron view shows vectors, False for lines alone.
        theme: "auto" (as the notebook), "light" or "dark".

    One more trait is set from Python alone:

    Attributes:
        metrics: your own numbers, by which the model view can sort and colour heads: by name, an
            array [layers, heads]; for a record of several stacks, such arrays by stack. NaN stands
            for no value. Layers with different numbers of heads are filled up with NaN, or are a
            list of one array per layer. A new value replaces all metrics; an array that was changed
            in place has to be set again.

    Raises:
        TypeError: `record` is no record, or no such choice exists.
        traitlets.TraitError: a value that this record does not have, or metrics of another shape.
    """

    _esm = Path(__file__).parents[1] / "static" / "widget.js"

    metrics = traitlets.Any()

    _manifest = traitlets.Dict().tag(sync=True)
    _overview = traitlets.Bytes().tag(sync=True)
    _blocks = traitlets.Dict().tag(sync=True)
    _note = traitlets.Unicode().tag(sync=True)
    _metrics: Any = traitlets.List().tag(sync=True)

    def __init__(
        self,
        record: AttentionRecord,
        *,
        view: View = "head",
        metrics: Metrics | None = None,
        **choices: Unpack[ChoiceOptions],
    ) -> None:
        # Set first, because close() runs even if the constructor fails.
        self._replies = Replies(self.send)
        if not isinstance(record, AttentionRecord):
            raise TypeError(
                f"record is {type(record).__name__}; expected an AttentionRecord, as "
                "attnwidget.capture or AttentionRecord.from_arrays gives it"
            )
        check_names(choices)
        self._record = record
        manifest, overview = encode_overview(record)
        # Readers of a translation look at its attention to the source first.
        first = "cross" if "cross" in record.stacks else record.stacks[0]
        chosen = choices.get("stack")
        stack = choices["stack"] = self._known_stack(first if chosen is None else chosen)
        if choices.get("layer") is None:
            choices["layer"] = record.stack(stack).numbers[0]
        # These are reset when another query or head is chosen, so they are set last.
        also, muted = choices.pop("also", []), choices.pop("muted", [])
        super().__init__(
            view=view,
            metrics={} if metrics is None else metrics,
            _metrics=self._encoded(metrics),
            _manifest=manifest,
            _overview=overview,
            **choices,
        )
        self.also, self.muted = also, muted
        self.on_msg(lambda _widget, request, _buffers: self._replies.to(self._record, request))
        embed_after_cell(self)

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

    @traitlets.observe("metrics")
    def _remove_metrics(self, change: Any) -> None:
        # None is not validated.
        if change.new is None:
            self._metrics = []

    @property
    def record(self) -> AttentionRecord:
        """The record shown."""
        return self._record

    @property
    def selection(self) -> Selection:
        """The head shown, at its locked query and key: weights, scores, q and k as arrays."""
        return select(self._record, self.stack, self.layer, self.head, self.query, self.key)

    def embed(
        self,
        layers: Iterable[SupportsIndex] | None = None,
        *,
        quality: Quality | None = None,
        budget: float | None = None,
    ) -> AttentionWidget:
        """Put layers into the widget's state, and return the widget.

        A notebook saved or converted with its widget state then shows them without a kernel. In a
        notebook that is executed without a reader (`jupyter nbconvert --execute`, papermill,
        Quarto), a widget embeds its layers automatically at the end of its cell, within a budget of
        8 MB; `embed` in the same cell replaces that, and `embed([])` embeds none. Each call
        replaces the layers of an earlier one.

        Args:
            layers: numbers of layers of the current stack; all layers of all stacks if None.
            quality: the most attention that rounding may move, as in `to_html`; if None, "default",
                or "draft" if only that has room for all.
            budget: the most bytes that the layers may add to the notebook. The nearest to the
                current layer, or the first in `layers`, have precedence, and the view says which
                are saved, and why.

        Raises:
            TypeError, ValueError, IndexError: there is no such layer or quality.
        """
        blocks, note = embedded_layers(
            self._record, self.stack, self.layer, layers=layers, quality=quality, budget=budget
        )
        with self.hold_sync():
            self._blocks, self._note = blocks, note
        do_not_embed(self)
        return self

    def to_html(
        self,
        *,
        views: Iterable[View] | None = None,
        layers: Iterable[SupportsIndex] | None = None,
        quality: Quality = "default",
    ) -> str:
        """One self-contained HTML page: no kernel, no network.

        See `attnwidget.to_html` for the arguments; it makes a page of several widgets.
        """
        return page_html([self._shown_record()], views=views, layers=layers, quality=quality)

    def save_html(
        self,
        path: str | PathLike[str],
        *,
        views: Iterable[View] | None = None,
        layers: Iterable[SupportsIndex] | None = None,
        quality: Quality = "default",
    ) -> None:
        """Write `to_html(…)` to a file, whole or not at all."""
        save_page(path, [self._shown_record()], views=views, layers=layers, quality=quality)

    def _shown_record(self) -> ShownRecord:
        return ShownRecord(
            self._record, self._manifest, self._overview, choice_values(self), self._metrics
        )

    def figure(self) -> Figure:
        """Draw the widget's view as a PNG that a notebook displays and keeps.

        Raises:
            ImportError: matplotlib is not installed (`pip install 'attnwidget[figures]'`).
        """
        require_matplotlib()
        from attnwidget.plot.figure import Figure

        return Figure(self._drawn("png", "print"))

    def save_figure(self, path: str | PathLike[str]) -> None:
        """Draw the widget's view to a file, whole or not at all: .svg, .pdf or .png.

        SVG and PDF have lines and text; a PDF embeds its fonts.

        Raises:
            ValueError: the path has another suffix.
            OSError: the file cannot be written.
            ImportError: matplotlib is not installed (`pip install 'attnwidget[figures]'`).
        """
        require_matplotlib()
        from attnwidget.plot.figure import kind_of

        write_whole(path, self._drawn(kind_of(path), "print"))

    def _drawn(self, kind: FigureKind, quality: FigureQuality) -> bytes:
        require_matplotlib()
        from attnwidget.plot.figure import figure_bytes
        from attnwidget.plot.shown import Shown

        overview = self._manifest, self._overview
        shown = Shown(self._record, **choice_values(self), overview=overview, metrics=self._metrics)
        return figure_bytes(shown, kind, quality)

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Apply the reader's choices. An error, for example of an observer, shows in the view."""
        names = [name for name in sync_data if name in self.keys]
        failed: list[Exception] = []
        with self.hold_sync():
            # In the order of choices, so that linked widgets can follow: a head exists only in the
            # right layer.
            for name in sorted(names, key=_rank):
                try:
                    super().set_state({name: sync_data[name]})
                except Exception as error:
                    failed.append(error)
        if failed:
            self.send({"error": f"{type(failed[0]).__name__}: {failed[0]}"})
            # The view goes back to the choices of the kernel.
            self.send_state(names)
            raise failed[0]

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        if self.comm is None:
            return None  # closed
        shown = super()._repr_mimebundle_(**kwargs)
        choices = choice_values(self)
        return with_picture(
            shown, self._record, choices, draw=lambda: self._drawn("png", "preview")
        )

    if hasattr(anywidget.AnyWidget, "_ipython_display_"):
        # ipywidgets 7, as in Colab, calls this instead of _repr_mimebundle_.
        def _ipython_display_(self, **kwargs: Any) -> None:
            from IPython.display import display

            data, metadata = self._repr_mimebundle_()
            display(data, metadata=metadata, raw=True)  # type: ignore[no-untyped-call]
            self._handle_displayed(**kwargs)

    def _get_embed_state(self, drop_defaults: bool = False) -> Any:
        """The state for a page of `ipywidgets.embed`, with defaults, which no kernel can add."""
        return super()._get_embed_state(drop_defaults=False)

    def close(self) -> None:
        """Remove the widget from the page, and stop its work in the kernel."""
        self._replies.close()
        super().close()


def _rank(name: str) -> int:
    return CHOICES.index(name) if name in CHOICES else -1
