"""AttentionWidget: the notebook widget of a record, and its replies to the view."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, SupportsIndex

import anywidget
import traitlets

from attnwidget.page import block_key, layers_within
from attnwidget.page.bundle import bundle
from attnwidget.record.files import printable
from attnwidget.session import ipython, read_in_a_notebook
from attnwidget.view_state import CHOICES
from attnwidget.view_state.table import described
from attnwidget.wire import Replies, check_state, in_pieces
from attnwidget.wire.compression import Quality

from .autoembed import do_not_embed, embed_after_cell
from .record_view import RecordView

if TYPE_CHECKING:
    from attnwidget.interventions.rerun import Rerun

_AGAIN = "Run the cell again for the live view."


class AttentionWidget(RecordView, anywidget.AnyWidget):
    """Five linked views of an AttentionRecord, or of a Comparison.

    Every choice is a trait that follows the view, and can be set from Python, observed, and linked
    to another widget's with `ipywidgets.link`:

    Attributes:
        view: "head", "model", "neuron", "map" or "text"; and "grid", where there are `grids`.
        ...: see `attnwidget.view_state.table.ChoiceOptions`.
        head_names: words for heads by (layer, head) of the stack shown. They stand in the model
            view and the map in place of those for its pattern. No trait.
        lenses: lenses of your own: by name, numbers [layers, heads, Tq, Tk] of all heads,
            [layers, Tq, Tk] of whole layers, which the head view shows, or [layers, heads, Tk], a
            factor of each key, by which weights are multiplied and shown as shares of their row;
            for a record of several stacks, such arrays by stack. An array may be a list of one for
            each layer. A dict has it as "matrices" or "factors", and may have a "label", a
            "description" and a "unit". No trait.
        grids: `GridScores` of the record's text, as `attnwidget.patch_scan` returns them, which the
            grid view shows; those of layers by heads are among the metrics, too. No trait.

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
        ValueError: the environment variable ATTNWIDGET_LARGEST_MESSAGE, the most bytes of a message
            that the host takes, is no such number, or less than the widget's state.
    """

    _replies: Replies | None = None
    # By which the outputs of cells that display the widget can be replaced.
    _display_ids: tuple[str, ...] = ()

    _keepable = traitlets.Bool().tag(sync=True)
    _blocks = traitlets.Dict().tag(sync=True)
    _note = traitlets.Unicode().tag(sync=True)

    @property
    def _esm(self) -> str:
        # A path would let anywidget hold every widget by its signal of a changed file. Not read on
        # import, so that what shows nothing, as `attnwidget doctor`, runs without it.
        return bundle("widget.js")

    def open(self) -> None:
        """Send the state to the page, in one message."""
        check_state(self.get_state(), "show it with static=True, or capture fewer layers")
        super().open()

    def _opened(self) -> None:
        replies = self._replies = Replies(in_pieces(self.send), self._lenses)
        self.on_msg(lambda _widget, request, _buffers: replies.to(self._record, request))
        self.on_msg(lambda _widget, request, _buffers: self._keep_asked(request))
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
                are saved, and why. What is left is for the numbers of lenses: of rollout, if it is
                the `lens`, and of `lenses`.

        Raises:
            TypeError, ValueError, IndexError: there is no such layer or quality, or the layers are
                more than ATTNWIDGET_LARGEST_MESSAGE has room for.
        """
        packed, note = layers_within(
            self._shown_now(), layers=layers, quality=quality, budget=budget, method="embed"
        )
        blocks = {
            block_key(place): each.content | {"data": each.data} for place, each in packed.items()
        }
        # A page that is loaded again gets all of the state in one message.
        state = {**self.get_state(), "_blocks": blocks}
        check_state(state, "embed fewer layers, with layers=… or budget=…")
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
        shown: Any = anywidget.AnyWidget._repr_mimebundle_(self, **kwargs)
        data, metadata = shown if isinstance(shown, tuple) else (shown, {})
        fallback, described = self._fallback()
        return {**data, **fallback}, {**metadata, **described}

    def _ipython_display_(self, **kwargs: Any) -> None:
        """Display the widget with an id where its reader can keep it in the notebook."""
        from IPython.display import display

        keepable = read_in_a_notebook(ipython())
        # ipywidgets 7, as in Colab, calls nothing else; later ones _repr_mimebundle_.
        earlier = getattr(anywidget.AnyWidget, "_ipython_display_", None)
        if self.comm is None or not (keepable or earlier):
            raise NotImplementedError
        options: dict[str, Any] = {}
        if keepable:
            options["display_id"] = uuid.uuid4().hex
            self._display_ids += (options["display_id"],)
            self._keepable = True
        data, metadata = self._repr_mimebundle_()
        display(data, metadata=metadata, raw=True, **options)  # type: ignore[no-untyped-call]
        if earlier:
            self._handle_displayed(**kwargs)

    def _keep_asked(self, request: Any) -> None:
        """Put a static cell in place of the live view: {op: "keep", choices}."""
        if not isinstance(request, dict) or request.get("op") != "keep":
            return
        from IPython.display import update_display

        try:
            self.set_state(request["choices"])
            html = f"{self.static().html}<p>Kept as it was left. {_AGAIN}</p>"
            data, metadata = self._fallback()
            data["text/html"] = html
            for each in self._display_ids:
                update_display(  # type: ignore[no-untyped-call]
                    data, metadata=metadata, raw=True, display_id=each
                )
        except Exception as error:
            self.send({"error": f"Not kept: {error}"})

    def _fallback(self) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
        """The text and PNG shown where no widget can run: GitHub, PDF, an untrusted notebook.

        With their metadata, from which nbconvert takes the PNG's alternative text.

        SVG is left out because untrusted notebooks do not show it, and HTML because it would be
        shown instead of the PNG.
        """
        said = self._said(f"{self.view} view")
        again = "Run the cell again, or save the notebook with its widgets, to see it here."
        words = f"{printable(said)}.\n{self._words()}{again}"
        try:
            alt = self._alternative()
            picture = base64.b64encode(self._preview()).decode()
        # The widget is displayed even if its picture fails.
        except Exception as error:
            kind = "" if isinstance(error, ImportError) else f"{type(error).__name__}: "
            no_picture = f"No picture of it was saved: {printable(f'{kind}{error}')}"
            return {"text/plain": f"{words}\n{no_picture}"}, {}
        return {"text/plain": words, "image/png": picture}, {"image/png": {"alt": alt}}

    def _words(self) -> str:
        """The description of the view, in lines; "" if it fails, for the widget is displayed."""
        from attnwidget.describe.views import describe_view

        try:
            return f"{describe_view(self._plotted(), at_display=True)}\n"
        except Exception:
            return ""

    def _get_embed_state(self, drop_defaults: bool = False) -> Any:
        """The state for a page of `ipywidgets.embed`, with defaults, which no kernel can add."""
        return super()._get_embed_state(drop_defaults=False)

    def close(self) -> None:
        """Remove the widget from the page, and stop its work in the kernel."""
        # It runs even if a constructor fails, and there are none yet.
        if self._replies:
            self._replies.close()
        super().close()


AttentionWidget.__doc__ = (AttentionWidget.__doc__ or "").replace(
    "...: see `attnwidget.view_state.table.ChoiceOptions`.", described()
)


def _rank(name: str) -> int:
    return CHOICES.index(name) if name in CHOICES else -1
