"""The numbers behind the words for a stack, in one pass over the weights of all its heads."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from attnwidget.analysis import (
    ALL_METRICS,
    METRICS,
    SIGNED_METRICS,
    HeadMetrics,
    Metric,
    Numbers,
    RowBatches,
    batch_of_weights,
    metrics_of,
)
from attnwidget.record import Floats, Layer, Stack, spread_rows

# The most weights that are read; of more queries, evenly spread ones. It takes two seconds or so.
_MOST_WEIGHTS = 1 << 24
_FEWEST_ROWS = 8

_DESCRIBED = {**METRICS, "punctuation": ALL_METRICS["punctuation"]}

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Measured:
    """The heads of a stack on its text.

    Attributes:
        stack: the stack.
        rows: the positions of the queries that were read.
        heads: (layer, head) of each head.
        metrics: by name, [heads]; NaN where none is defined. Without those that are 0 for all.
        even: the same, if each query gave as much to every key that any head of the layer sees.
        mean: the mean over heads, [rows, Tk]; without a softmax, of shares of magnitudes.
        largest: the weight, or the coefficient, that is the largest in magnitude of all heads',
            [rows, Tk].
        owner: the number in `heads` of the head that has it.
        visible: True where any head sees the key, [rows, Tk].
    """

    stack: Stack
    rows: NDArray[np.intp]
    heads: tuple[tuple[int, int], ...]
    metrics: dict[str, Numbers]
    even: dict[str, Numbers]
    mean: Numbers
    largest: Floats
    owner: NDArray[np.intp]
    visible: Bools

    @property
    def is_self(self) -> bool:
        return self.stack.queries == self.stack.keys

    @cached_property
    def received(self) -> Numbers:
        """The mean over heads and queries, [Tk]."""
        return np.asarray(self.mean.mean(axis=0))

    @cached_property
    def sinks(self) -> list[int]:
        """The keys of `sinks_by_place`."""
        return sinks_by_place(self.stack)

    @cached_property
    def linked(self) -> Bools:
        """True for the links that are ranked: to no sink, nor to the query itself, [rows, Tk]."""
        found = np.ones(self.mean.shape, np.bool_)
        found[:, self.sinks] = False
        if self.is_self:
            found[np.arange(len(self.rows)), self.rows] = False
        return found

    @cached_property
    def apart(self) -> Bools:
        """The same without neighbours."""
        near: Bools = np.abs(self.rows[:, None] - np.arange(self.mean.shape[1])) < 2
        found: Bools = self.linked & ~near
        return found

    def top(self, numbers: NDArray[np.floating], among: Bools, count: int) -> list[tuple[int, int]]:
        """(place of a row, key) of the numbers that are largest in magnitude, the first first."""
        sizes = np.where(among, np.abs(numbers), 0).ravel()
        count = min(count, len(sizes))
        # A sort of millions would take seconds.
        least = np.partition(sizes, len(sizes) - count)[len(sizes) - count]
        there = np.flatnonzero(sizes >= max(least, np.finfo(np.float32).tiny))
        order = there[np.argsort(-sizes[there], kind="stable")[:count]]
        width = numbers.shape[1]
        return [(int(at) // width, int(at) % width) for at in order if sizes[at] > 0]


def sinks_by_place(stack: Stack) -> list[int]:
    """Keys that heads rest on: special tokens, a chat's template, in self-attention the first.

    They are told by their place, not by their numbers.
    """
    keys = stack.keys
    template = [at for at, is_template in enumerate(keys.template or ()) if is_template]
    first = [0] if stack.queries == keys else []
    return sorted({*keys.special, *template, *first})


def measured(stack: Stack) -> Measured:
    """Read the weights of all heads of a stack once."""
    heads = tuple((each.number, h) for each in stack.layers for h in range(each.num_heads))
    num_queries, num_keys = len(stack.queries), len(stack.keys)
    most = max(_FEWEST_ROWS, _MOST_WEIGHTS // (len(heads) * num_keys))
    rows = spread_rows(num_queries, min(most, num_queries))
    shape = len(rows), num_keys
    total, visible = np.zeros(shape), np.zeros(shape, np.bool_)
    largest, owner = np.zeros(shape, np.float32), np.zeros(shape, np.intp)
    defined = metrics_of(stack, _DESCRIBED)
    # Even shares have no signs.
    of_even = {name: each for name, each in defined.items() if name not in SIGNED_METRICS}
    found: dict[str, list[Numbers]] = {name: [] for name in defined}
    even: dict[str, list[Numbers]] = {name: [] for name in of_even}
    first = 0
    for layer in stack.layers:
        seen = np.zeros(shape, np.bool_)
        batches = RowBatches(layer, rows)
        for group in batches.groups:
            summed = HeadMetrics(defined, stack.keys)
            for batch in batches.of(group):
                summed.add(batch)
                start = int(np.searchsorted(rows, batch.rows[0]))
                place = (
                    slice(start, start + len(batch.rows)),
                    slice(batch.keys.start, batch.keys.stop),
                )
                shares = batch.exps / batch.totals[..., None]
                total[place] += shares.sum(axis=0)
                seen[place] |= (batch.exps > 0).any(axis=0)
                numbers = shares if batch.coefficients is None else batch.coefficients
                best = np.abs(numbers).argmax(axis=0)
                value = np.take_along_axis(numbers, best[None], axis=0)[0]
                more = np.abs(value) > np.abs(largest[place])
                largest[place] = np.where(more, value, largest[place])
                owner[place] = np.where(more, first + group.start + best, owner[place])
            for name, numbers_of in summed.means().items():
                found[name].append(np.atleast_1d(numbers_of))
        for name, numbers_of in _even(layer, seen, rows, of_even, stack).items():
            even[name].append(numbers_of)
        first += layer.num_heads
        visible |= seen
    metrics = {name: np.concatenate(each) for name, each in found.items()}
    # What is zero for all, as of later tokens in a decoder, or not defined, is not told.
    told = [name for name, each in metrics.items() if np.nan_to_num(each).any()]
    if stack.keys.special == (0,) and "first" in told:
        told.remove("special")
    return Measured(
        stack,
        rows,
        heads,
        {name: metrics[name] for name in told},
        {name: np.concatenate(even[name]) for name in told if name in even},
        total / len(heads),
        largest,
        owner,
        visible,
    )


def _even(
    layer: Layer, seen: Bools, rows: NDArray[np.intp], defined: dict[str, Metric], stack: Stack
) -> dict[str, Numbers]:
    """The metrics of even shares, once for each head."""
    counts = np.maximum(seen.sum(axis=1, keepdims=True), 1)
    summed = HeadMetrics(defined, stack.keys)
    summed.add(batch_of_weights((seen / counts).astype(np.float32)[None], rows))
    return {name: np.repeat(each, layer.num_heads) for name, each in summed.means().items()}
