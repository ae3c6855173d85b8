"""Passes of a model over changed inputs, and what changes in its attention with them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from typing import Any, NamedTuple, TypeAlias

import torch

from attnwidget.record.scores import MASKED
from attnwidget.tracing import (
    Address,
    Call,
    CallId,
    FunctionCall,
    Handler,
    PassEnded,
    Read,
    trace,
    undisturbed,
)
from attnwidget.tracing.layout import dimensions_kept

from .model import device_of, is_offloaded, run, state_kept
from .padding import kept_positions
from .towers import is_read

# Relative to the largest number. What depends on no changed input is equal to the last bit on most
# processors.
_CHANGED = 1e-5


class Way(NamedTuple):
    """One way to read the dimensions of an input that was changed.

    Attributes:
        items: the dimensions of the items.
        size: the number of items.
        changed: the items that were changed; none if there is one item without a dimension.
        tokens: the positions that were changed, or None for all.
        length: the number of positions; 0 if that is not known.
    """

    items: tuple[int, ...]
    size: int
    changed: tuple[int, ...]
    tokens: tuple[int, ...] | None
    length: int = 0


def two_items(value: Any) -> Any:
    """An input of a single item, twice."""
    if not isinstance(value, torch.Tensor) or value.ndim < 1:
        return value
    if value.shape[0] == 1:
        return torch.cat([value, value])
    # The sequence may come first.
    return torch.cat([value, value], dim=1) if value.ndim == 3 and value.shape[1] == 1 else value


def _changed(value: torch.Tensor, kept: Sequence[int]) -> tuple[torch.Tensor, list[Way]]:
    """An input with its first item changed at some positions, and the ways to read these.

    Args:
        kept: the positions of its tokens that are no padding.
    """
    if value.is_floating_point():
        return _changed_numbers(value)
    after = value.clone()
    row = after[(0,) * (value.ndim - 1)]
    places = _some_of(_of_words(row, kept))
    for place in places:
        others = row[row != row[place]]
        row[place] = others[0] if len(others) else row[place] + 1
    lead = value.shape[:-1]
    ways = [Way(tuple(range(len(lead))), lead.numel(), (0,), places, value.shape[-1])]
    if value.ndim == 2:
        ways.append(Way((1,), value.shape[1], places, (0,), value.shape[0]))
    else:
        ways.append(Way((0,), value.shape[0], (0,), places, value.shape[-1]))
    return after, ways


def _changed_numbers(value: torch.Tensor) -> tuple[torch.Tensor, list[Way]]:
    after, shape = value.clone(), value.shape
    noise = torch.rand(shape, generator=torch.Generator().manual_seed(0)).to(value) + 0.5
    noise *= max(1e-3, float(value.abs().max()))
    first = Way((0,), shape[0], (0,), None)
    if value.ndim > 3:  # a corner of an image, so that windows are told from heads
        height, width = (max(1, side // 8) for side in shape[-2:])
        after[0, ..., :height, :width] += noise[0, ..., :height, :width]
        return after, [first]
    if value.ndim == 2:
        after[0] += noise[0]
        return after, [first, Way((), 1, (), (0,))]
    places = _some_of(range(1, shape[1]) or [0])
    after[0, list(places)] += noise[0, list(places)]
    second = Way((1,), shape[1], places, (0,), shape[0])
    return after, [first._replace(tokens=places, length=shape[1]), second, first]


def _of_words(row: torch.Tensor, kept: Sequence[int]) -> Sequence[int]:
    """The positions of tokens that occur once: no padding, no place of an image.

    The first position is left out, unless there is no other: later ones do not see it as they see
    themselves.
    """
    _, group, counts = torch.unique(row.cpu(), return_inverse=True, return_counts=True)
    single = (counts[group] == 1).tolist()
    once = [place for place in kept if place < len(row) and single[place]]
    return [place for place in once if place > 0] or once or [len(row) - 1]


def _some_of(places: Sequence[int]) -> tuple[int, ...]:
    """The first, the last, and some between, which another order of tokens would move."""
    between = (places[1 << n] for n in range(1, len(places).bit_length() - 1))
    return tuple(sorted({places[0], places[-1], *between}))


class Vectors(NamedTuple):
    """The vectors of a call, in the dimensions that the model has them in, each as one number.

    Attributes:
        queries: [..., Tq], or [..., Tq, heads] where scores have such an order; or the scores
            [..., Tk] if vectors are not known.
        keys: [..., Tk], or None likewise.
        in_order: True if queries have their tokens last.
        apart: True if queries and keys are of sequences of their own.
    """

    queries: torch.Tensor
    keys: torch.Tensor | None
    in_order: bool = False
    apart: bool = False

    @property
    def lengths(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The numbers of queries that there may be, and of keys."""
        queries = tuple(self.queries.shape)
        if self.keys is None:
            return queries[:-1], queries[-1:]
        return queries[-1:] if self.in_order else queries, tuple(self.keys.shape[-1:])

    @property
    def sizes(self) -> tuple[torch.Size, torch.Size | None]:
        """The shapes of both sides."""
        return self.queries.shape, None if self.keys is None else self.keys.shape


class _Watch(Handler):
    """Keeps the vectors of the calls that are expected, or of all."""

    def __init__(self, model: torch.nn.Module, expected: Set[CallId] | None) -> None:
        self.found: dict[CallId, Vectors] = {}
        self._expected = expected
        self._whole = is_offloaded(model)

    def attention(self, address: Address, read: Read) -> None:
        call = address.id
        if address.step > 0 or (self._expected is not None and call not in self._expected):
            return
        with suppress(ValueError):
            self.found[call] = _vectors(read())
        if self.found.keys() == self._expected and not self._whole:
            raise PassEnded


def vectors(
    model: torch.nn.Module, tensors: Mapping[str, Any], expected: Set[CallId] | None = None
) -> dict[CallId, Vectors] | None:
    """The vectors of each call of a pass; None if it fails.

    Args:
        expected: the calls that are read, after the last of which the pass ends; None for all.
    """
    watch, device = _Watch(model, expected), device_of(model)
    devices = [device] if device.type == "cuda" else []
    try:
        with torch.random.fork_rng(devices), undisturbed(model), state_kept(model):
            torch.manual_seed(0)
            with dimensions_kept(), suppress(PassEnded), trace(model, watch, None):
                run(model, tensors)
    except Exception:  # inputs that a model does not take; the pass that is recorded says why
        return None
    return watch.found


def _vectors(call: Call) -> Vectors:
    if isinstance(call, FunctionCall):
        return Vectors(_as_numbers(call.query), _as_numbers(call.key), True)
    if call.maps and call.value is not None:  # a query is where it looks
        apart = call.shape[2] != call.shape[3]
        return Vectors(_as_numbers(call.weights), _as_numbers(call.value), True, apart)
    scores = call.scores
    if scores is not None and scores.index.shape == call.logits.shape:
        scores = scores.oriented()
        rows = scores.index[..., 0]
        known = scores.vectors(rows)
        if known is not None and scores.key.shape[-2] == call.logits.shape[-1]:
            # Scores that are the product itself, [..., Tq, Tk].
            as_product = rows.ndim == scores.query.ndim - 1 and torch.equal(
                rows.flatten(), torch.arange(rows.numel())
            )
            queries, keys = map(_as_numbers, known)
            return Vectors(queries, keys, as_product)
    logits, count = call.logits.detach(), call.weights.shape[-1]
    if count < logits.shape[-1]:  # a sink before or after the keys
        behind = torch.allclose(logits.softmax(-1)[..., :count], call.weights.detach(), atol=1e-4)
        logits = logits[..., :count] if behind else logits[..., -count:]
    return Vectors(logits.clone(), None)


def _as_numbers(vectors: torch.Tensor) -> torch.Tensor:
    """A number for each vector, which changes with it."""
    directions = torch.arange(1.0, vectors.shape[-1] + 1, device=vectors.device).cos()
    return vectors.detach().float() @ directions


class Difference(NamedTuple):
    """The parts of a call that have changed: of the queries [..., Tq], and of the keys [..., Tk].

    Attributes:
        tokens: the dimension of the queries' tokens, or None if that is not known.
        of_scores: True if only the scores [..., Tk] are known.
    """

    queries: torch.Tensor
    keys: torch.Tensor
    tokens: int | None
    of_scores: bool


def _difference(before: Vectors, after: Vectors) -> Difference:
    """The parts of a call that have changed between two passes."""
    queries = _differs(before.queries, after.queries)
    if before.keys is not None and after.keys is not None:
        tokens = queries.ndim - 1 if before.in_order else None
        return Difference(queries, _differs(before.keys, after.keys), tokens, False)
    # A changed query changes all of its row, and a changed key some of each row.
    seen = before.queries > MASKED
    rows = (queries & seen).sum(-1) > 0.9 * seen.sum(-1)
    return Difference(rows, queries[~rows].any(0), None, True)


def _differs(before: torch.Tensor, after: torch.Tensor) -> torch.Tensor:
    if before.shape != after.shape:
        return torch.ones_like(before, dtype=torch.bool)
    before, after = before.float().nan_to_num(), after.float().nan_to_num()
    seen = before > MASKED
    largest = float(before[seen].abs().max()) if bool(seen.any()) else 1.0
    return (before - after).abs() > _CHANGED * max(largest, 1e-30)


class Change(NamedTuple):
    """The parts of calls that have changed with an input.

    Attributes:
        ways: to read its dimensions.
        of: of each call.
    """

    ways: Sequence[Way]
    of: Mapping[CallId, Difference]


Changes: TypeAlias = Mapping[str, Change]


def changes(
    model: torch.nn.Module,
    tensors: Mapping[str, Any],
    two: Mapping[str, Any],
    before: Mapping[CallId, Vectors],
) -> Changes | None:
    """The changes in calls with each input that the model reads; None if a pass fails.

    Args:
        model: the model.
        tensors: its inputs.
        two: those of two items.
        before: the vectors of the calls with these.
    """
    found = {}
    for name, value in tensors.items():
        if not is_read(name, value):
            continue
        padded = kept_positions(two, name, 0)
        assert padded is not None
        changed, ways = _changed(two[name], padded.kept.tolist())
        if value.shape[0] == 1:  # where there was one item, its dimension is known
            ways = [way for way in ways if way.items[:1] == (0,)] or ways
        after = vectors(model, {**two, name: changed}, before.keys())
        if after is None or after.keys() != before.keys():
            return None
        of = {call: _difference(before[call], after[call]) for call in before}
        found[name] = Change(ways, of)
    return found


def kind(call: CallId) -> CallId:
    """The call with the numbers in its module's name left out."""
    return CallId(re.sub(r"(?<![^.])\d+(?![^.])", "#", call.module), call.call)
