"""Columns of layers that are too large to be sent: how much every query attends to one key.

A weight follows from its score and from what the softmax of its row divides by. For every row, that
takes the time of all scores, but only once: it is computed beside the kernel's other work.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from contextvars import copy_context
from itertools import product
from threading import Lock, Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnwidget.record import Floats, Layer

from .block import Block

Reply = Callable[[dict[str, Any], list[bytes]], None]

# How many scores are computed at a time: 16 MB of them.
_STEP = 1 << 22
# A view asks for one at a time, and takes back what it does not wait for any more.
_MOST_WAITING = 256


class Normalizers:
    """Per head, what the softmax of each row subtracts and divides by, in small steps."""

    def __init__(self, layer: Layer) -> None:
        num_queries, num_keys = layer.shape
        self.layer = layer
        # Not one logarithm: beside a large peak, that of the total would be rounded away.
        self._peaks, self._totals = np.empty((2, layer.num_heads, num_queries), np.float32)
        size = max(1, _STEP // num_keys)
        self._left = list(product(range(layer.num_heads), range(0, num_queries, size)))
        self._size = size

    @property
    def done(self) -> bool:
        return not self._left

    def step(self) -> None:
        """Do a part of the work. One that fails or is interrupted is left to be done."""
        head, first = self._left[-1]
        program = self.layer.program
        assert program is not None
        rows = np.arange(first, min(first + self._size, self._peaks.shape[1]))
        scores = _scores(self.layer, head, rows, program.reach(rows, self.layer.shape[1]))
        peaks, _, totals = program.exponentials(scores, head, out=scores)
        self._peaks[head, rows], self._totals[head, rows] = peaks, totals
        self._left.pop()

    def column(self, position: int) -> Block:
        """The weights of every query on a key, once all the work is done: [heads, Tq]."""
        rows, key = np.arange(self._peaks.shape[1]), range(position, position + 1)
        scores = np.stack(
            [_scores(self.layer, head, rows, key)[:, 0] for head in range(self.layer.num_heads)]
        )
        # None exceeds its row's peak, but a product of fewer keys may be rounded otherwise.
        return block_of("weights", np.exp(np.minimum(scores - self._peaks, 0)) / self._totals)


class Columns:
    """Replies to requests for columns, as soon as their layer's normalizers are there."""

    def __init__(self, reply: Reply) -> None:
        self._reply = reply
        self._known: dict[Hashable, Normalizers] = {}
        self._waiting: dict[str, tuple[Normalizers, int]] = {}
        self._lock = Lock()
        self._working = False

    def ask(self, id_: str, name: Hashable, layer: Layer, position: int) -> None:
        """Reply to a request, now or later.

        Args:
            name: of the layer, the same for every request for its columns.

        Raises:
            ValueError: too many are waited for already.
        """
        with self._lock:
            if len(self._waiting) >= _MOST_WAITING:
                raise ValueError(f"{_MOST_WAITING} columns are on their way; wait for them first")
            normalizers = self._known.get(name) or Normalizers(layer)
            self._known[name] = normalizers
            self._waiting[id_] = normalizers, position
            busy, self._working = self._working, True
        if not busy:
            try:
                # In the context of the request: ipykernel 7.0.0 sends nothing outside of one.
                Thread(target=copy_context().run, args=(self._work,), daemon=True).start()
            except RuntimeError:  # There are none in a browser's Python.
                self._work()

    def abort(self, ids: Iterable[str]) -> None:
        """Say that these will not be answered, and stop working for them."""
        for id_ in ids:
            self._answer(id_, {"aborted": True}, [])

    def close(self) -> None:
        """Nobody waits for anything any more."""
        with self._lock:
            self._waiting.clear()

    def _work(self) -> None:
        try:
            self._reply_to_all()
        except BaseException:
            # Nothing can be said, or somebody interrupted it: the next request begins anew.
            with self._lock:
                self._working = False
            raise

    def _reply_to_all(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._working = False
                    return
                # What was asked for last is what is looked at.
                id_, (normalizers, position) = next(reversed(self._waiting.items()))
            try:
                if normalizers.done:
                    block = normalizers.column(position)
                    self._answer(id_, {"parts": block.parts}, block.buffers)
                else:
                    normalizers.step()
            except Exception as error:  # Whoever waits must hear of it.
                with self._lock:
                    kept = {name: n for name, n in self._known.items() if n is not normalizers}
                    self._known = kept
                self._answer(id_, {"error": f"{type(error).__name__}: {error}"}, [])

    def _answer(self, id_: str, content: dict[str, Any], buffers: list[bytes]) -> None:
        with self._lock:
            wanted = self._waiting.pop(id_, None)
        if wanted:
            self._reply({"id": id_} | content, buffers)


def block_of(name: str, array: Floats) -> Block:
    """An array alone, as it is."""
    block = Block([], [])
    block.add(name, "f32", array, np.ascontiguousarray(array, "<f4").tobytes())
    return block


def _scores(layer: Layer, head: int, rows: NDArray[np.intp], keys: range) -> Floats:
    """What goes into the softmax of some rows, for some of the keys: [rows, keys]."""
    program = layer.program
    assert program is not None
    queries, all_keys = layer.head_queries(head), layer.head_keys(head)
    scores: Floats = queries[rows] @ all_keys[keys.start : keys.stop].T
    scores *= np.float32(program.head_scale(head))
    program.finish(scores, head, rows, len(queries), keys)
    return scores
