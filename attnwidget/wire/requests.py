"""Replies of the kernel to a view's requests; each reply has its request's id."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from attnwidget.analysis import LENSES, Lens, RunningText, factors_of
from attnwidget.interventions.off import Cut, Link, Off, check_head, check_position
from attnwidget.record import AttentionRecord, Layer, Stack

from .block import Block, encode_block, encode_combined
from .columns import Columns, block_of, coefficients_column
from .effects import CutRequest, EffectRequest, Effects, Op
from .later import Reply
from .lenses import LensNumbers
from .running_text import encode_shares, text_of

if TYPE_CHECKING:
    from attnwidget.interventions.rerun import Rerun

# In bytes; larger blocks that combine all layers are refused before they fill the memory.
_LARGEST_COMBINED = 1 << 28

_LONGEST_ID = 100

# More than the parts of a prompt that a view lists.
_MOST_CUTS = 5000

Request = Mapping[str, Any]


class Replies:
    """The replies of a widget. Every request with an id gets one reply: {id, error}, or else

    - to {id, op: "block", stack, layer}: the block of the layer of this number as
      {id, parts, rounding} and buffers; rounding is the block's `BlockError`.
    - to {id, op: "combined", stack}: the mean and the maximum over all heads of all layers, and
      the head of each maximum, likewise.
    - to {id, op: "lens", lens, stack, layer}: the numbers of a layer of a lens of matrices, by its
      name, likewise.
    - to {id, op: "text", stack}: what the rows of its running text attend to, see `encode_shares`,
      likewise.
    - to {id, op: "row", stack, layer, side, position}, with the side "query": the row of this query
      as {id, parts} and buffers, "scores" [heads, Tk], or "weights" if only those were recorded;
      with the side "key": the column of this key, "weights" [heads, Tq]. Layers without a softmax
      have "coefficients" of either. All are float32. A column may take long, and is sent later.

    - to {id, op: "effect", stack, heads, cut, query}, with heads a list of [layer, head], cut one
      of links [queries, keys, layers, heads], each a list or null for all, and query the position
      of the locked query or null: {id, effect}, what the model does without these heads and links.
      It takes a forward pass, the first one two, and is sent later.
    - to the same with op: "others": {id, others}, a list of the mean effects of as many other heads
      of the same layers, drawn at random, later, too.
    - to {id, op: "changed", stack, heads, cut}: the attention without them as {id, manifest} and
      the overview as a buffer, later, too. The first three requests with `without`,
      {stack, heads, cut}, are then for layers of that.

    - to {id, op: "cut", stack, cuts}, with cuts a list of {keys, heads}, positions and a list of
      [layer, head] or null for all: {id, changes}, the change of the log probability of each token
      of the answer without the links from its rows to these keys, [cuts, tokens] in nats, later,
      too.
    - to {id, op: "answer", stack, keys}: {id, text}, what the model writes without these links.
    - to {id, op: "shuffled", stack}: {id, ratios}, what places of the prompt get when its sentences
      stand in other orders, as multiples of an even share, [tokens of the answer][sentences].

    {op: "abort", of: [id, ...]} cancels requests; those not yet answered get {id, aborted}.

    Args:
        reply: sends a message with its buffers, from any thread.
        lenses: those of the package, and the user's own.
    """

    def __init__(self, reply: Reply, lenses: Sequence[Lens] = LENSES) -> None:
        self._lenses = {lens.name: lens for lens in lenses}
        self._numbers = LensNumbers()
        self._reply = reply
        self._columns = Columns(reply)
        self._effects = Effects(reply, lenses)
        self._handlers: Mapping[str, Callable[[str, AttentionRecord, Request], None]] = {
            "block": self._block,
            "combined": self._combined,
            "lens": self._lens,
            "text": self._text,
            "row": self._row,
            "effect": self._effect,
            "others": self._effect,
            "changed": self._effect,
            "cut": self._cut,
            "answer": self._cut,
            "shuffled": self._shuffled,
        }

    def measure_with(self, rerun: Rerun) -> None:
        """Reply to requests for effects with this model."""
        self._effects.rerun = rerun

    def to(self, record: AttentionRecord, request: Any) -> None:
        """Reply to a request now or later; a message without an id gets no reply.

        Every failure becomes an `error` that the reader of the view can act on.
        """
        if not isinstance(request, dict):
            return
        op, id_ = request.get("op"), request.get("id")
        if op == "abort" and isinstance(request.get("of"), list):
            ids = [each for each in request["of"] if isinstance(each, str)]
            self._columns.replies.abort(ids)
            self._effects.replies.abort(ids)
            return
        # Views send short printable ids; others could not always be sent back.
        if not isinstance(id_, str) or len(id_) > _LONGEST_ID or not id_.isprintable():
            return
        try:
            if op not in list(self._handlers):
                raise ValueError(
                    f"the kernel does not know the request {op!r:.100}; its attnwidget is older "
                    "than the page: restart the kernel and run the cell again"
                )
            self._handlers[op](id_, record, request)
        except Exception as error:
            # A KeyError prints its message in quotes.
            message = error.args[0] if error.args else type(error).__name__
            self._reply({"id": id_, "error": str(message)}, [])

    def close(self) -> None:
        """Drop all requests."""
        self._columns.replies.clear()
        self._effects.close()

    def _send(self, id_: str, block: Block) -> None:
        reply = {"id": id_, "parts": block.parts, "rounding": block.error}
        self._reply(reply, block.buffers)

    def _block(self, id_: str, record: AttentionRecord, request: Request) -> None:
        shown, _ = self._shown(record, request)
        layer, lenses = _layer(shown, request), self._lenses.values()
        factors = factors_of(lenses, shown, request["stack"], layer.number)
        self._send(id_, encode_block(layer, factors))

    def _combined(self, id_: str, record: AttentionRecord, request: Request) -> None:
        stack = _stack("layers are combined", self._shown(record, request)[0], request)
        if stack.signed:
            raise ValueError("layers without a softmax have coefficients of scales of their own")
        queries, keys = len(stack.queries), len(stack.keys)
        if 4 * queries * keys > _LARGEST_COMBINED:
            raise ValueError(
                f"{queries} x {keys} tokens are too many to show all layers as one; capture a "
                "shorter text for that"
            )
        self._send(id_, encode_combined(stack))

    def _lens(self, id_: str, record: AttentionRecord, request: Request) -> None:
        shown, _ = self._shown(record, request)
        layer, name = _layer(shown, request), request.get("lens")
        if name not in list(self._lenses):
            raise ValueError(f"there is no lens {name!r:.100}")
        lens, stack = self._lenses[name], request["stack"]
        self._send(id_, self._numbers.block(lens, shown, stack, layer.number))

    def _text(self, id_: str, record: AttentionRecord, request: Request) -> None:
        shown, _ = self._shown(record, request)
        _stack("a text is asked for by the name", shown, request)
        self._send(id_, encode_shares(shown, request["stack"]))

    def _row(self, id_: str, record: AttentionRecord, request: Request) -> None:
        shown, off = self._shown(record, request)
        layer = _layer(shown, request)
        side, position = _place(layer, request)
        if side == "query":
            self._send(id_, _row_of(layer, position))
        elif layer.signed:
            self._send(id_, block_of("coefficients", coefficients_column(layer, position)))
        elif layer.weights is not None and layer.program is None:
            self._send(id_, block_of("weights", layer.weights[:, :, position]))
        else:
            name = off, request["stack"], layer.number
            self._columns.request(id_, name, layer, position)

    def _effect(self, id_: str, record: AttentionRecord, request: Request) -> None:
        off = _off(record, request)
        asked = effect_request(record, request["op"], off, request.get("query"))
        self._effects.request(id_, asked)

    def _cut(self, id_: str, record: AttentionRecord, request: Request) -> None:
        stack = _stack("links are cut", record, request)
        sent = request.get("cuts", [{"keys": request.get("keys"), "heads": None}])
        if not isinstance(sent, list) or not sent or len(sent) > _MOST_CUTS:
            raise ValueError(f"{sent!r:.100} are no cuts")
        text = _answered(record, request["stack"])
        cuts = tuple(_cut_of(stack, each) for each in sent)
        self._effects.request(id_, CutRequest(request["op"], record, request["stack"], text, cuts))

    def _shuffled(self, id_: str, record: AttentionRecord, request: Request) -> None:
        _stack("orders are read", record, request)
        text = _answered(record, request["stack"])
        self._effects.request(id_, CutRequest("shuffled", record, request["stack"], text))

    def _shown(
        self, record: AttentionRecord, request: Request
    ) -> tuple[AttentionRecord, Off | None]:
        """The record that is asked about: that without what is off, if the request says so."""
        without = request.get("without")
        if not isinstance(without, dict):
            return record, None
        off = _off(record, without)
        return self._effects.changed(off), off


def _answered(record: AttentionRecord, stack: str) -> RunningText:
    """The running text of an answer."""
    found = text_of(record, stack)
    if found is None or not found.answered:
        raise ValueError("there is no answer here")
    return found


def _cut_of(stack: Stack, sent: Any) -> Cut:
    """Read a cut from `keys`, positions, and `heads`, [layer, head] or null for all."""
    keys = sent.get("keys") if isinstance(sent, dict) else None
    if not isinstance(keys, list) or not keys:
        raise ValueError(f"what is cut is told by keys, positions of tokens, not {sent!r:.100}")
    own = tuple(check_position("key", key, len(stack.keys)) for key in keys)
    heads = sent.get("heads")
    if heads is None:
        return Cut(own)
    of_heads = frozenset((int(layer), int(head)) for layer, head in heads)
    for layer, head in of_heads:
        check_head(stack, layer, head)
    return Cut(own, of_heads)


def _stack(what: str, record: AttentionRecord, request: Request) -> Stack:
    name = request.get("stack")
    if not isinstance(name, str):
        raise ValueError(f"{what} of a stack (a name), not of {name!r:.100}")
    return record.stack(name)


def _layer(record: AttentionRecord, request: Request) -> Layer:
    stack, layer = request.get("stack"), request.get("layer")
    if not isinstance(stack, str) or not isinstance(layer, int) or isinstance(layer, bool):
        raise ValueError(
            f"a {request['op']} is asked for by stack (a name) and layer (a number), not by stack "
            f"{stack!r:.100} and layer {layer!r:.100}"
        )
    return record.layer(layer, stack)


def _off(record: AttentionRecord, request: Request) -> Off:
    """Read the heads and links that are off from `stack`, `heads` and `cut`."""
    name, heads, cut = request.get("stack"), request.get("heads"), request.get("cut", [])
    if not (isinstance(name, str) and isinstance(heads, list) and isinstance(cut, list)) or not (
        heads or cut
    ):
        raise ValueError(
            f"what is off is told by stack, [layer, head] and cut links, not {heads!r:.100}"
        )
    return Off.of(record, name, heads, [Link.of(each, name) for each in cut])


def effect_request(record: AttentionRecord, op: Op, off: Off, query: Any) -> EffectRequest:
    """A request for an effect.

    Raises:
        ValueError: there is no such query.
    """
    queries = record.stack(off.stack).queries
    if query is not None:
        check_position("query", query, len(queries))
    return EffectRequest(op, off, query, queries.labels)


def _place(layer: Layer, request: Request) -> tuple[str, int]:
    side, position = request.get("side"), request.get("position")
    if side not in ("query", "key"):
        raise ValueError(f'a row is asked for by side, "query" or "key", not {side!r:.100}')
    return side, check_position(side, position, layer.shape[side == "key"])


def _row_of(layer: Layer, position: int) -> Block:
    row, heads = np.array([position]), range(layer.num_heads)
    if layer.signed:
        rows = [layer.head_coefficients(h, row) for h in heads]
        return block_of("coefficients", np.concatenate(rows))
    if layer.program is None:
        return block_of("weights", np.concatenate([layer.head_weights(h, row) for h in heads]))
    return block_of("scores", np.concatenate([layer.head_scores(h, row) for h in heads]))
