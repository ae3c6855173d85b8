"""Columns of layers that are too large for a view to hold: the attention of every query to one key.

A weight follows from its score and its row's normalizers. These need all scores of the layer, so
they are computed once, in a thread beside the kernel's other work.
"""

from __future__ import annotations

from collections.abc import Hashable
from itertools import product

import numpy as np
from numpy.typing import NDArray

from attnwidget.record import Floats, Layer, Recurrence, ScoreProgram

from .block import Block
from .later import LaterReplies, Reply

# The scores that are computed at a time: 16 MB.
_STEP = 1 << 22
# A view requests one column at a time, and aborts requests that it no longer needs.
_MAX_WAITING = 256


class Normalizers:
    """The peaks and totals of the softmax of each row, by head, computed in small steps."""

    def __init__(self, layer: Layer) -> None:
        num_queries, num_keys = layer.shape
        self.layer = layer
        # Two numbers, because a large peak would round away the logarithm of the total.
        self._peaks, self._totals = np.empty((2, layer.num_heads, num_queries), np.float32)
        self._size = max(1, _STEP // num_keys)
        self._steps = list(product(range(layer.num_heads), range(0, num_queries, self._size)))

    @property
    def done(self) -> bool:
        return not self._steps

    def step(self) -> None:
        """Compute some rows. A step that fails or is interrupted is repeated."""
        head, first = self._steps[-1]
        program = self.layer.program
        assert isinstance(program, ScoreProgram)
        rows = np.arange(first, min(first + self._size, self._peaks.shape[1]))
        scores = _scores(self.layer, head, rows, program.reach(rows, self.layer.shape[1]))
        peaks, _, totals = program.exponentials(scores, head, out=scores)
        self._peaks[head, rows], self._totals[head, rows] = peaks, totals
        self._steps.pop()

    def column(self, position: int) -> Block:
        """The weights of every query on a key, [heads, Tq], after all steps."""
        rows, key = np.arange(self._peaks.shape[1]), range(position, position + 1)
        scores = np.stack(
            [_scores(self.layer, head, rows, key)[:, 0] for head in range(self.layer.num_heads)]
        )
        # A score cannot exceed its row's peak, but a product of fewer keys may round differently.
        return block_of("weights", np.exp(np.minimum(scores - self._peaks, 0)) / self._totals)


class Columns:
    """Replies to requests for columns, as soon as their layer's normalizers are computed."""

    def __init__(self, reply: Reply) -> None:
        self._normalizers: dict[Hashable, Normalizers] = {}
        self.replies = LaterReplies(reply, self._work)

    def request(self, id_: str, name: Hashable, layer: Layer, position: int) -> None:
        """Reply to a request, now or later.

        Args:
            name: of the layer, the same for every request for its columns.

        Raises:
            ValueError: too many requests are waiting.
        """
        if len(self.replies.waiting) >= _MAX_WAITING:
            raise ValueError(f"{_MAX_WAITING} columns are being computed; wait for them first")
        normalizers = self._normalizers.get(name) or Normalizers(layer)
        self._normalizers[name] = normalizers
        self.replies.add(id_, (name, normalizers, position))

    def _work(self, id_: str, wanted: tuple[Hashable, Normalizers, int]) -> None:
        name, normalizers, position = wanted
        try:
            if normalizers.done:
                block = normalizers.column(position)
                self.replies.answer(id_, {"parts": block.parts}, block.buffers)
            else:
                normalizers.step()
        except Exception as error:  # the view shows it
            # The next request for the layer begins anew.
            self._normalizers.pop(name, None)
            self.replies.answer(id_, {"error": f"{type(error).__name__}: {error}"})


def block_of(name: str, array: Floats) -> Block:
    """A block of one float32 array."""
    block = Block([], [])
    block.add(name, "f32", array)
    return block


def coefficients_column(layer: Layer, position: int) -> Floats:
    """The coefficients of one token's value for every query, [heads, Tq].

    What was written is followed through the tokens after it, which erase and decay it.
    """
    if layer.coefficients is not None:
        kept: Floats = layer.coefficients[:, :, position]
        return kept
    program, heads = layer.program, range(layer.num_heads)
    assert isinstance(program, Recurrence)
    queries = np.stack([layer.head_queries(head) for head in heads])
    keys = np.stack([layer.head_keys(head) for head in heads])
    out = np.zeros(queries.shape[:2], np.float32)
    held = keys[:, position].astype(np.float64)
    for at in range(position, queries.shape[1]):
        if at > position and program.decay is not None:
            held *= np.exp(program.decay[:, at].astype(np.float64))
        if at > position and program.erase is not None:
            met = (held * keys[:, at]).sum(axis=1)
            held -= (program.erase[:, at] * met)[:, None] * keys[:, at]
        out[:, at] = (held * queries[:, at]).sum(axis=1)
    out *= np.float32(program.scale)
    if program.write is not None:
        out *= program.write[:, position, None]
    if program.own is not None:
        out[:, position] += program.own
    return out


def _scores(layer: Layer, head: int, rows: NDArray[np.intp], keys: range) -> Floats:
    """The softmax's input of some rows and some keys: [rows, keys]."""
    program = layer.program
    assert isinstance(program, ScoreProgram)
    queries, all_keys = layer.head_queries(head), layer.head_keys(head)
    scores: Floats = queries[rows] @ all_keys[keys.start : keys.stop].T
    scores *= np.float32(program.head_scale(head))
    program.finish(scores, head, rows, len(queries), keys)
    return scores
