"""AttentionWidget: what the user chose, as traits, and the kernel's side of the conversation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal, get_args

import anywidget
import traitlets
from traitlets import TraitError

from attnwidget.record import AttentionRecord, Layer, Stack, spans
from attnwidget.wire import encode_block, encode_overview, reply_to

View = Literal["head", "model", "neuron"]
Segments = Literal["all", "aa", "ab", "ba", "bb"]
Theme = Literal["auto", "light", "dark"]


class AttentionWidget(anywidget.AnyWidget):
    """Three linked views of an AttentionRecord.

    Every choice is a trait that follows the view and can be set from Python:

    Attributes:
        view: "head", "model" or "neuron".
        stack: the stack shown.
        layer, head: the layer and head shown, counted from 0 as the model counts them.
        heads: the heads whose lines the head view draws; None for all.
        query, key: the locked query or key position, or None.
        segments: of a text pair, which attention the head view shows: "all", or "aa", "ab", "ba"
            and "bb" for queries of the first and keys of the second letter's text.
        theme: "auto" (as the notebook), "light" or "dark".

    Raises:
        traitlets.TraitError: a value that this record does not have.
    """

    _esm = Path(__file__).parent / "static" / "widget.js"

    view = traitlets.Enum(get_args(View), "head").tag(sync=True, choice=True)
    stack = traitlets.Unicode().tag(sync=True, choice=True)
    layer = traitlets.Int(0).tag(sync=True, choice=True)
    head = traitlets.Int(0).tag(sync=True, choice=True)
    heads = traitlets.List(traitlets.Int(), None, allow_none=True).tag(sync=True, choice=True)
    query = traitlets.Int(None, allow_none=True).tag(sync=True, choice=True)
    key = traitlets.Int(None, allow_none=True).tag(sync=True, choice=True)
    segments = traitlets.Enum(get_args(Segments), "all").tag(sync=True, choice=True)
    theme = traitlets.Enum(get_args(Theme), "auto").tag(sync=True, choice=True)

    _manifest = traitlets.Dict().tag(sync=True)
    _overview = traitlets.Bytes().tag(sync=True)
    _blocks = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        record: AttentionRecord,
        *,
        view: View = "head",
        stack: str | None = None,
        layer: int | None = None,
        head: int = 0,
        heads: Sequence[int] | None = None,
        query: int | None = None,
        key: int | None = None,
        segments: Segments = "all",
        theme: Theme = "auto",
    ) -> None:
        if not isinstance(record, AttentionRecord):
            raise TypeError(
                f"record is {type(record).__name__}; expected an AttentionRecord, as "
                "attnwidget.capture or AttentionRecord.from_arrays gives it"
            )
        self._record = record
        manifest, overview = encode_overview(record)
        shown = record.stacks[0] if stack is None else stack
        if layer is None:
            layer = record.stack(shown).numbers[0] if shown in record.stacks else 0
        super().__init__(
            view=view,
            stack=shown,
            layer=layer,
            head=head,
            heads=heads,
            query=query,
            key=key,
            segments=segments,
            theme=theme,
            _manifest=manifest,
            _overview=overview,
        )
        self.on_msg(self._answer)

    @property
    def record(self) -> AttentionRecord:
        """The record shown."""
        return self._record

    def embed(self, layers: Iterable[int] | None = None) -> AttentionWidget:
        """Put layers of the current stack into the widget's state, and return the widget.

        A notebook saved or converted with its widget state then shows them without a kernel.

        Args:
            layers: the layers' numbers; all of them if None.
        """
        chosen = self._record.stack(self.stack).numbers if layers is None else layers
        blocks = dict(self._blocks)
        for layer in chosen:
            block = encode_block(self._record.layer(layer, self.stack))
            blocks[f"{self.stack}.{layer}"] = {"parts": block.parts, "buffers": block.buffers}
        self._blocks = blocks
        return self

    def to_html(self) -> str:
        """One self-contained HTML page with every layer: no kernel, no network."""
        from attnwidget.export import page

        choices = {name: getattr(self, name) for name in self.trait_names(choice=True)}
        return page(self._record, self._manifest, self._overview, choices)

    def save_html(self, path: str | PathLike[str]) -> None:
        """Write `to_html()` to a file."""
        Path(path).write_text(self.to_html(), encoding="utf-8", errors="xmlcharrefreplace")

    def _answer(self, _widget: Any, content: Any, _buffers: Any) -> None:
        reply = reply_to(self._record, content)
        if reply is not None:
            self.send(*reply)

    @traitlets.validate("stack")
    def _valid_stack(self, proposal: Any) -> Any:
        if proposal.value not in self._record.stacks:
            raise TraitError(
                f"no stack {proposal.value!r}; this record has {', '.join(self._record.stacks)}"
            )
        return proposal.value

    @traitlets.validate("layer")
    def _valid_layer(self, proposal: Any) -> Any:
        numbers = self._shown.numbers
        if proposal.value not in numbers:
            raise TraitError(
                f"layer {proposal.value} does not exist: this stack has {spans(numbers)}"
            )
        return proposal.value

    @traitlets.validate("head")
    def _valid_head(self, proposal: Any) -> Any:
        return self._in_range("head", proposal.value, self._num_heads)

    @traitlets.validate("heads")
    def _valid_heads(self, proposal: Any) -> Any:
        if proposal.value is None:
            return None
        if not proposal.value:
            raise TraitError("heads is empty; give at least one head, or None for all")
        return sorted({self._in_range("head", h, self._num_heads) for h in proposal.value})

    @traitlets.validate("query")
    def _valid_query(self, proposal: Any) -> Any:
        return self._in_range("query position", proposal.value, len(self._shown.queries))

    @traitlets.validate("key")
    def _valid_key(self, proposal: Any) -> Any:
        return self._in_range("key position", proposal.value, len(self._shown.keys))

    @traitlets.observe("stack", "layer")
    def _keep_in_range(self, _change: Any) -> None:
        # Stacks may differ in layers and tokens, layers in heads.
        shown = self._shown
        self.layer = self._layer.number
        self.head = min(self.head, self._num_heads - 1)
        if self.heads is not None:
            kept = [head for head in self.heads if head < self._num_heads]
            self.set_trait("heads", kept or None)
        if self.query is not None and self.query >= len(shown.queries):
            self.query = None
        if self.key is not None and self.key >= len(shown.keys):
            self.key = None

    @property
    def _shown(self) -> Stack:
        # Traits set together are validated in any order, this one perhaps not yet.
        known = self.stack if self.stack in self._record.stacks else None
        return self._record.stack(known)

    @property
    def _layer(self) -> Layer:
        """The layer shown; where the stack has none of its number, the one before."""
        before = [layer for layer in self._shown.layers if layer.number <= self.layer]
        return before[-1] if before else self._shown.layers[0]

    @property
    def _num_heads(self) -> int:
        return self._layer.num_heads

    @staticmethod
    def _in_range(what: str, value: int | None, count: int) -> int | None:
        if value is not None and not 0 <= value < count:
            raise TraitError(f"{what} {value} does not exist: this record has 0 to {count - 1}")
        return value
