"""AttentionWidget: the notebook widget of a record, and its replies to the view."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex

import anywidget
import traitlets

from attnwidget.analysis import OwnLenses
from attnwidget.interventions import Rerun
from attnwidget.page import layers_within, numbers_within
from attnwidget.record import Arc, AttentionRecord
from attnwidget.view_state import CHOICES, ChoiceOptions, View, choice_values
from attnwidget.view_state.signature import CHOICE_DEFAULTS, with_options
from attnwidget.wire import HeadNames, Metrics, Replies, partner_stacks
from attnwidget.wire.compression import Quality

from .autoembed import do_not_embed, embed_after_cell
from .png_fallback import with_picture
from .record_view import RecordView

if TYPE_CHECKING:
    from typing_extensions import Unpack


class AttentionWidget(RecordView, anywidget.AnyWidget):
    """Four linked views of an AttentionRecord.

    Every choice is a trait that follows the view, and can be set from Python, observed, and linked
    to another widget's with `ipywidgets.link`:

    Attributes:
        view: "head", "model", "neuron" or "map".
        stack: the stack shown.
        compared: of a comparison (`attnwidget.compare(a, b).widget()`), what is shown: "a", "b", or
            the "difference" b - a; "a" of a single record.
        layer, head: the layer and head shown, counted from 0 as the model counts them.
        heads: the heads whose lines the head view draws; None for all.
        query, key: the locked query or key position (of several, the last), or None.
        also: more positions locked together with `query` (or, without one, with `key`). The head
            view sums their attention; the neuron view compares `query` with the first of them.
        segments: the attention shown of a text pair: "all", or "aa", "ab", "ba" and "bb" for
            queries of the first and keys of the second letter's text. Or segments that you name, as
            [(1, 5, "subject")]: positions of tokens, the last one excluded. The reader then chooses
            attention from or to one, which is "from:subject" or "to:subject" here.
        named_segments: these segments, to change them later.
        combine: the combination that the head view shows: the "mean" or "max" of the heads drawn,
            or "layers_mean" or "layers_max" of every head of every layer; "none" for single heads.
        lens: the numbers that the head view and the model view show: "attention"; "scores",
            which go into the softmax (not of layers that are weights alone); "values", the
            value-weighted norms ‖w f(x)‖ of Kobayashi et al. 2020 as shares of each row, of records
            of `capture(..., values=True)`; "rollout" of all layers up to the one shown (Abnar
            and Zuidema 2020), in the head view alone; or one of `lenses`. See
            `attnwidget.analysis.LENSES`.
        words: True if the head view joins the tokens of a word: the attention to a word is the
            sum over its tokens, that from a word the mean.
        arcs_shown: True if the head view draws `arcs`.
        orientation: "vertical" (tokens in columns) or "horizontal" (in lines).
        picture: True if the head view shows the patches of a vision model on its image, False if
            as a list; see `AttentionRecord.image`.
        thumbnails: the thumbnails of the model view, "matrix" or "lines".
        sort: the order of a layer's heads in the model view: "model", or, from the highest to the
            lowest, the weight of the locked "pair" of `query` and `key`, or a metric: "entropy"
            (nats), "distance" (tokens), the share on the "previous", "same", "next", "first" or
            "special" token, any other of `attnwidget.analysis.METRICS`, or one of `metrics`.
        color: the meaning of colours in the model view and on the map: "pattern", "layer", or a
            metric.
        opened: True if the current head is open in the model view.
        ranking: True if the model view lists the heads of all layers from the highest to the lowest
            number, in place of its grid.
        include_layers, include_heads: the layers and heads of the model view; None for all.
        neurons: the order of the neuron view's components: "model", by |q x k| of the selected
            "pair", or by its "sum" over the keys.
        muted: the neurons of this head that are left out of q.k in the neuron view.
        off: (layer, head) of the heads of this stack that are switched off: beside the views stands
            what the model does without them, for which the kernel runs it again. The views show
            the attention of the whole model. It needs the model: `attnwidget.show(model, tokenizer,
            text)` has the widget refer to it, weakly.
        cut: links of this stack that are cut, each an `attnwidget.KnockOut` of positions, layers
            and heads: their scores are -inf, and the softmax is taken anew. As `off` besides.
        expanded: True if the neuron view shows vectors, False for lines alone.
        map_x, map_y: the metrics on the axes of the map.
        map_size: the metric whose magnitude is the size of the map's points, or "none".
        theme: "auto" (as the notebook), "light" or "dark".
        head_names: words for heads by (layer, head) of the stack shown. They stand in the model
            view and the map in place of those for its pattern. No trait.

        lenses: lenses of your own: by name, numbers [layers, heads, Tq, Tk] of all heads,
            [layers, Tq, Tk] of whole layers, which the head view shows, or [layers, heads, Tk], a
            factor of each key, by which weights are multiplied and shown as shares of their row;
            for a record of several stacks, such arrays by stack. An array may be a list of one for
            each layer. A dict has it as "matrices" or "factors", and may have a "label", a
            "description" and a "unit". No trait.

    Two more traits are set from Python alone:

    Attributes:
        metrics: your own numbers, by which the model view can sort and colour heads, and the map
            can place them: by name, an array [layers, heads]; for a record of several stacks, such
            arrays by stack. NaN stands for no value. Layers with different numbers of heads are
            filled up with NaN, or are a list of one array per layer. A dict has the array as
            "values", and may have "null", the same number for heads of a null ("null_label" says of
            which, as "random weights"), and "low" and "high", the ends of an interval of each
            value. A new value replaces all metrics; an array that was changed in place has to be
            set again.
        arcs: links between tokens that somebody has annotated, such as a parse: a list of
            `attnwidget.Arc`. The head view draws them over its lines, solid where the current head
            finds them and dashed where it does not, and counts both.

    Raises:
        TypeError: `record` is no record, or no such choice exists.
        traitlets.TraitError: a value that this record does not have, or metrics of another shape.
    """

    _esm = Path(__file__).parents[1] / "static" / "widget.js"

    _replies: Replies | None = None

    _blocks = traitlets.Dict().tag(sync=True)
    _note = traitlets.Unicode().tag(sync=True)

    @with_options(ChoiceOptions, CHOICE_DEFAULTS)
    def __init__(
        self,
        record: AttentionRecord,
        *,
        view: View = "head",
        metrics: Metrics | None = None,
        arcs: Iterable[Arc] | None = None,
        head_names: HeadNames | None = None,
        lenses: OwnLenses | None = None,
        **choices: Unpack[ChoiceOptions],
    ) -> None:
        # Set first, because close() runs even if the constructor fails.
        replies = self._replies = Replies(self.send)
        super().__init__(
            record,
            view=view,
            metrics=metrics,
            arcs=arcs,
            head_names=head_names,
            lenses=lenses,
            **choices,
        )
        replies.lenses = self._lenses
        self.on_msg(lambda _widget, request, _buffers: replies.to(self._record, request))
        embed_after_cell(self)

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
            quality: the limit of rounding, as in `to_html`, with 2 MB for the layers; if None,
                "default", or "draft" if only that has room for all.
            budget: the most bytes that the layers may add to the notebook. The nearest to the
                current layer, or the first in `layers`, have precedence, and the view says which
                are saved, and why. What is left is for the numbers of lenses: rollout, if it is
                the `lens`, and those of `lenses`.

        Raises:
            TypeError, ValueError, IndexError: there is no such layer or quality.
        """
        packed, note = layers_within(
            self._record,
            self.stack,
            self.layer,
            lenses=self._lenses,
            layers=layers,
            quality=quality,
            budget=budget,
            method="embed",
            partners=partner_stacks(self._manifest),
        )
        blocks = {
            f"{stack}.{number}": layer.content | {"data": layer.data}
            for (stack, number), layer in packed.items()
        }
        numbers = numbers_within(self._record, self._lenses, self.lens, packed, budget, "embed")
        for (stack, number, lens), each in numbers.items():
            blocks[f"{stack}.{number}.{lens}"] = each.content | {"data": each.data}
        with self.hold_sync():
            self._blocks, self._note = blocks, note
        do_not_embed(self)
        return self

    def _measure_with(self, rerun: Rerun) -> None:
        """Let readers of the view switch heads of this model off."""
        super()._measure_with(rerun)
        assert self._replies
        self._replies.measure_with(rerun)

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
        return with_picture(
            anywidget.AnyWidget._repr_mimebundle_(self, **kwargs),
            self._record,
            choice_values(self),
            draw=self._preview,
            several_stacks=len(self._own_stacks) > 1,
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
        # It runs even if a constructor fails.
        if self._replies:
            self._replies.close()
        super().close()


def _rank(name: str) -> int:
    return CHOICES.index(name) if name in CHOICES else -1
