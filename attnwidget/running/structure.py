"""What the attention of a model reads, found by changing its inputs.

Names of modules and lengths of sequences do not always say which dimension is the head, which
sequence a query is of, or where its first token is. So the model runs on two items, and once more
for each of its inputs with two tokens of the first item changed: whatever changes with them was
made of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple
from weakref import WeakKeyDictionary

import torch

from attnwidget.tracing import (
    Address,
    Call,
    CallId,
    FunctionCall,
    Handler,
    Read,
    is_attention,
    trace,
    undisturbed,
)
from attnwidget.tracing.layout import Axes, dimensions_kept, learn

from .model import device_of, has_soft_prompt, is_foreign, is_offloaded, run
from .towers import media_of, tower

# Relative to the largest number. What depends on no changed input is equal to the last bit on most
# processors.
_CHANGED = 1e-5

# Scores below belong to keys that are masked.
_MASKED = -9e3

# Inputs that say how others are read.
_NOT_READ = re.compile(
    r"mask|position|type_ids|labels|cache|past_key|grid|sizes|lengths?$|ids_keep|bbox|boxes"
)


class Side(NamedTuple):
    """What one side of an attention is made of.

    Attributes:
        own: the input whose tokens it has in order; None for vectors that were learned, or if that
            is not known.
        offset: the number of positions before the first of these tokens.
    """

    own: str | None
    offset: int = 0


class Sides(NamedTuple):
    """What the queries and the keys of an attention call are made of.

    Attributes:
        queries, keys: either side.
        cross: True if they are of different sequences.
    """

    queries: Side
    keys: Side
    cross: bool


@dataclass(frozen=True)
class Structure:
    """What was read of a model.

    Attributes:
        sides: of each kind of call.
        items: the dimensions of the items in each input; none if it has a single item.
    """

    sides: Mapping[CallId, Sides]
    items: Mapping[str, tuple[int, ...]]

    def of(self, call: CallId) -> Sides | None:
        """The sides of a call, by those of the first one of its kind, or of its heads' modules."""
        kind = _kind(call)
        return self.sides.get(kind) or self.sides.get(CallId(f"{kind.module}.#", kind.call))


_structures: WeakKeyDictionary[torch.nn.Module, Structure] = WeakKeyDictionary()
# By the names of the inputs.
_unclear: WeakKeyDictionary[torch.nn.Module, dict[frozenset[str], bool]] = WeakKeyDictionary()


def known_structure(model: torch.nn.Module) -> Structure | None:
    """What was read of a model so far."""
    return _structures.get(model)


def _is_unclear(model: torch.nn.Module, names: Iterable[str]) -> bool:
    """True if the names of modules and inputs do not tell the parts of a model."""
    own_code = any(
        is_foreign(type(module))
        for module in model.modules()
        if next(module.children(), None) is not None  # more than a single layer
    )
    if own_code or has_soft_prompt(model):
        return True
    read = {media_of(name) or ("decoder" if _is_target(name) else "text") for name in names}
    if len(read) <= 1:
        return False
    towers = {tower(name) for name, module in model.named_modules() if is_attention(module)}
    if "decoder" in read:  # what an encoder reads may be text, an image or sound
        return not {"decoder"} <= towers <= {"encoder", "decoder", *read, "qformer"}
    # What a tower of sound reads may be text that stands for it.
    return "audio" in read or not read - {"text"} <= towers


def _is_target(name: str) -> bool:
    return name.startswith("decoder_input")


def structure_of(model: torch.nn.Module, tensors: Mapping[str, Any]) -> Structure | None:
    """What was read of a model, if names and shapes leave more than one way to read it."""
    names = frozenset(name for name, value in tensors.items() if is_read(name, value))
    if any(tensors[name].ndim > 2 and not tensors[name].is_floating_point() for name in names):
        return read_structure(model, tensors)  # several texts, or tokens, in one item
    unclear = _unclear.setdefault(model, {})
    if names not in unclear:
        unclear[names] = _is_unclear(model, names)
    return read_structure(model, tensors) if unclear[names] else None


def rows_of(tensor: torch.Tensor, items: tuple[int, ...]) -> torch.Tensor:
    """An input as [items, tokens, ...], by the dimensions of its items."""
    if items == (0,):
        return tensor
    rest = [n for n in range(tensor.ndim) if n not in items]
    moved = tensor.permute(*items, *rest)
    return moved.reshape(-1, *moved.shape[len(items) :])


def is_read(name: str, value: Any) -> bool:
    """True if an input has the tokens, the pixels or the sound that a model reads."""
    if not isinstance(value, torch.Tensor) or value.ndim < 2 or value.dtype == torch.bool:
        return False
    return not _NOT_READ.search(name)


def read_structure(model: torch.nn.Module, tensors: Mapping[str, Any]) -> Structure:
    """Read what the attention of a model is made of, as far as it runs on changed inputs.

    What was read holds for all later inputs of the same names.

    Args:
        tensors: the model's inputs by name.
    """
    known = _structures.get(model, Structure({}, {}))
    names = [name for name, value in tensors.items() if is_read(name, value)]
    if known.items.keys() >= set(names):
        return known
    two = {name: _two_items(value) for name, value in tensors.items()}
    before = _vectors(model, two, None)
    if before is None:  # it takes one at a time
        two = dict(tensors)
        before = _vectors(model, two, None)
    changes: dict[str, list[_Change]] = {}
    for name in names if before else []:
        changed, ways = _changed(two[name], two.get("attention_mask"))
        # Where there was one item, its dimension is known.
        single = [n for n in (0, 1) if tensors[name].shape[n] == 1][:1]
        ways = [way for way in ways if not single or way.items[:1] == tuple(single)] or ways
        after = _vectors(model, {**two, name: changed}, before)
        if before is not None and after is not None and after.keys() == before.keys():
            changes[name] = [_Change(way, before, after) for way in ways]
    items: dict[str, tuple[int, ...]] = dict.fromkeys(names, (0,))
    sides: Mapping[CallId, Sides] = {}
    if before is not None and len(changes) == len(names):
        sides = _all_sides(before, changes)
        if any(side.own is None for each in sides.values() for side in each[:2]):
            sides = _by_length(model, two, before, sides)
        items |= {name: _items(before, ways) for name, ways in changes.items()}
        for call in before:
            _learn_axes(model, call, changes)
    read = Structure({**known.sides, **sides}, {**known.items, **items})
    _structures[model] = read
    return read


def _kind(call: CallId) -> CallId:
    """The call with the numbers in its module's name left out."""
    return CallId(re.sub(r"(?<![^.])\d+(?![^.])", "#", call.module), call.call)


def _two_items(value: Any) -> Any:
    """An input of a single item, twice."""
    if not isinstance(value, torch.Tensor) or value.ndim < 2:
        return value
    if value.shape[0] == 1:
        return torch.cat([value, value])
    # The sequence may come first.
    return torch.cat([value, value], dim=1) if value.shape[1] == 1 and value.ndim == 3 else value


class _Way(NamedTuple):
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


def _changed(value: torch.Tensor, mask: Any) -> tuple[torch.Tensor, list[_Way]]:
    """An input with its first item changed at two positions, and the ways to read these."""
    changed, shape = value.clone(), value.shape
    if value.is_floating_point():
        noise = torch.rand(shape, generator=torch.Generator().manual_seed(0)).to(value) + 0.5
        noise *= max(1e-3, float(value.abs().max()))
        if value.ndim > 3:  # a corner of an image, so that windows are told from heads
            height, width = (max(1, side // 8) for side in shape[-2:])
            changed[0, ..., :height, :width] += noise[0, ..., :height, :width]
            return changed, [_Way((0,), shape[0], (0,), None)]
        if value.ndim != 3:
            changed[0] += noise[0]
            rows = [_Way((), 1, (), (0,))] if value.ndim == 2 else []
            return changed, [_Way((0,), shape[0], (0,), None), *rows]
        places = _two_of(range(1, shape[1]) or [0])
        changed[0, places] += noise[0, places]
        first = _Way((0,), shape[0], (0,), tuple(places), shape[1])
        second = _Way((1,), shape[1], tuple(places), (0,), shape[0])
        return changed, [first, second, first._replace(tokens=None, length=0)]
    row = changed[(0,) * (value.ndim - 1)]
    places = _two_of(_of_words(row, mask))
    for place in places:
        others = row[row != row[place]]
        row[place] = others[0] if len(others) else row[place] + 1
    lead = value.shape[:-1]
    ways = [_Way(tuple(range(len(lead))), lead.numel(), (0,), tuple(places), shape[-1])]
    if value.ndim == 2:
        ways.append(_Way((1,), shape[1], tuple(places), (0,), shape[0]))
    else:
        ways.append(_Way((0,), shape[0], (0,), tuple(places), shape[-1]))
    return changed, ways


def _of_words(row: torch.Tensor, mask: Any) -> Sequence[int]:
    """The positions of tokens that are not masked and occur once: no padding, no place of an image.

    The first position is left out, unless there is no other: later ones do not see it as they see
    themselves.
    """
    seen = torch.ones(len(row), dtype=torch.bool)
    if isinstance(mask, torch.Tensor) and mask.ndim == 2 and mask.shape[1] == len(row):
        seen = mask[0].bool().cpu()
    _, group, counts = torch.unique(row.cpu(), return_inverse=True, return_counts=True)
    once = ((counts[group] == 1) & seen).nonzero()[:, 0].tolist()
    return [place for place in once if place > 0] or once or [len(row) - 1]


def _two_of(places: Sequence[int]) -> list[int]:
    return sorted({places[0], places[-1]})


class _Vectors(NamedTuple):
    """The vectors of a call, in the dimensions that the model has them in.

    Attributes:
        module: the name of the module that called.
        queries: [..., Tq, d], or [..., Tq, heads, d] where scores have such an order; or the scores
            [..., Tk] if vectors are not known.
        keys: [..., Tk, d], or None likewise.
        in_order: True if queries have their tokens last.
    """

    module: str
    queries: torch.Tensor
    keys: torch.Tensor | None
    in_order: bool = False

    @property
    def lengths(self) -> tuple[int, ...]:
        """The numbers of queries that there may be."""
        return tuple(self.queries.shape[-2:-1] if self.in_order else self.queries.shape[:-1])

    @property
    def num_keys(self) -> int:
        """The number of keys."""
        return self.queries.shape[-1] if self.keys is None else self.keys.shape[-2]


class _AllSeen(BaseException):
    """Ends a forward pass. No Exception, which a model might catch."""


class _Watch(Handler):
    """Keeps the vectors of the first call of each kind."""

    def __init__(self, expected: Mapping[CallId, _Vectors] | None) -> None:
        self.found: dict[CallId, _Vectors] = {}
        self._expected = expected

    def attention(self, address: Address, read: Read) -> None:
        call = _kind(CallId(address.module, address.call))
        if call in self.found or address.step > 0:
            return
        with suppress(ValueError):
            vectors = _of_call(read(), address.module)
            if vectors is not None:
                self.found[call] = vectors
        if self._expected is not None and self.found.keys() == self._expected.keys():
            raise _AllSeen


def _of_call(call: Call, module: str) -> _Vectors | None:
    if isinstance(call, FunctionCall):
        return _Vectors(module, call.query.detach().clone(), call.key.detach().clone(), True)
    scores = call.scores
    if scores is not None and scores.index.shape == call.logits.shape:
        scores = scores.oriented()
        rows = scores.index[..., 0]
        vectors = scores.vectors(rows)
        if vectors is not None and scores.key.shape[-2] == call.logits.shape[-1]:
            queries, keys = (each.detach().clone() for each in vectors)
            # Scores that are the product itself, [..., Tq, Tk].
            as_product = rows.ndim == scores.query.ndim - 1 and torch.equal(
                rows.flatten(), torch.arange(rows.numel())
            )
            return _Vectors(module, queries, keys, as_product)
    return _Vectors(module, call.logits.detach().clone(), None)


def _vectors(
    model: torch.nn.Module,
    tensors: Mapping[str, Any],
    expected: Mapping[CallId, _Vectors] | None,
) -> dict[CallId, _Vectors] | None:
    """The vectors of a pass, which ends with the last one that is expected; None if it fails."""
    watch, device = _Watch(None if is_offloaded(model) else expected), device_of(model)
    devices = [device] if device.type == "cuda" else []
    try:
        with torch.random.fork_rng(devices), undisturbed(model), dimensions_kept():
            torch.manual_seed(0)
            with suppress(_AllSeen), trace(model, watch, None):
                run(model, tensors)
    except Exception:  # inputs that a model does not take; the pass that is recorded says why
        return None
    return watch.found


class _Difference(NamedTuple):
    """What of a call has changed: of the queries [..., Tq], and of the keys [..., Tk].

    Attributes:
        tokens: the dimension of the queries' tokens, or None if that is not known.
        of_scores: True if only the scores [..., Tk] are known.
    """

    queries: torch.Tensor
    keys: torch.Tensor
    tokens: int | None
    of_scores: bool


class _Change:
    """What has changed in all calls with one input, which is read in one way."""

    def __init__(
        self, way: _Way, before: Mapping[CallId, _Vectors], after: Mapping[CallId, _Vectors]
    ) -> None:
        self.way = way
        self.of = {call: _difference(before[call], after[call]) for call in before}


def _difference(before: _Vectors, after: _Vectors) -> _Difference:
    if before.keys is not None and after.keys is not None:
        queries, keys = _differs(before.queries, after.queries), _differs(before.keys, after.keys)
        tokens = queries.ndim - 2 if before.in_order else None
        return _Difference(queries.any(-1), keys.any(-1), tokens, False)
    scores = _differs(before.queries, after.queries)
    # A changed query changes all of its row, and a changed key some of each row.
    seen = before.queries > _MASKED
    queries = (scores & seen).sum(-1) > 0.9 * seen.sum(-1)
    return _Difference(queries, scores[~queries].any(0), None, True)


def _differs(before: torch.Tensor, after: torch.Tensor) -> torch.Tensor:
    if before.shape != after.shape:
        return torch.ones_like(before, dtype=torch.bool)
    before, after = before.float().nan_to_num(), after.float().nan_to_num()
    seen = before > _MASKED
    largest = float(before[seen].abs().max()) if bool(seen.any()) else 1.0
    return (before - after).abs() > _CHANGED * max(largest, 1e-30)


class _Roles(NamedTuple):
    """The roles of the dimensions of what has changed.

    Attributes:
        batch, heads: the dimensions.
        folded, folded_heads: the order and the number of heads that share a dimension with the
            batch, as in `Axes`.
        tokens: the dimension of the tokens.
        offset: the position of the input's first token; None if tokens have mixed.
    """

    batch: tuple[int, ...]
    heads: tuple[int, ...]
    folded: Any
    tokens: int
    offset: int | None
    folded_heads: int = 0


def _roles(changed: torch.Tensor, tokens: int | None, way: _Way) -> _Roles | None:
    """The one assignment of roles that fits what has changed, or None."""
    if not bool(changed.any()):
        return None
    seen = [set(each.unique().tolist()) for each in changed.nonzero().T]
    found = []
    for of_tokens in range(changed.ndim) if tokens is None else [tokens]:
        rest = [n for n in range(changed.ndim) if n != of_tokens]
        offset = None
        if way.tokens is not None:
            offset = min(seen[of_tokens]) - way.tokens[0]
            if offset < 0 or seen[of_tokens] != {t + offset for t in way.tokens}:
                if tokens is None or len(seen[of_tokens]) < changed.shape[of_tokens]:
                    continue
                offset = None  # they have mixed
        elif tokens is None:
            continue
        whole = [n for n in rest if len(seen[n]) == changed.shape[n]]
        items = [n for n in rest if changed.shape[n] == way.size and seen[n] == set(way.changed)]
        partial = [n for n in rest if n not in whole]
        # Part of an image is in some of the windows.
        windows = [n for n in partial if n not in items] if way.tokens is None else []
        if not partial and (not way.items or (way.size == 1 and len(items) > 1)):
            found.append(_Roles((), tuple(rest), None, of_tokens, offset))
        elif len(items) == 1 and set(partial) <= {*items, *windows}:
            heads = tuple(n for n in rest if n not in items and n not in windows)
            found.append(_Roles((*items, *windows), heads, None, of_tokens, offset))
        elif len(windows) == 1 and _of_first(seen[windows[0]], changed.shape[windows[0]], way):
            heads = tuple(n for n in rest if n not in windows)
            found.append(_Roles(tuple(windows), heads, None, of_tokens, offset))
        elif len(rest) == 1 and changed.shape[rest[0]] % way.size == 0:
            size = changed.shape[rest[0]]
            count = size // way.size
            first = {item * count + head for item in way.changed for head in range(count)}
            last = {head * way.size + item for item in way.changed for head in range(count)}
            for order, expected in (("batch first", first), ("heads first", last)):
                if seen[rest[0]] == expected:
                    found.append(_Roles((), (), order, of_tokens, offset, count))
    return found[0] if len(found) == 1 else None


def _of_first(seen: set[int], size: int, way: _Way) -> bool:
    """True if what was seen, of all items' windows in one dimension, is of the first item."""
    return size % way.size == 0 and max(seen) < size // way.size


class _Dependence(NamedTuple):
    """What a side depends on: the inputs, and the position of the first token of some of them."""

    inputs: frozenset[str]
    offsets: Mapping[str, int]

    @property
    def own(self) -> str | None:
        """The input whose tokens the side has in order, or None."""
        if self.offsets:  # of several, such as tokens and their boxes, the first one given
            return next(iter(self.offsets))
        if len(self.inputs) == 1:
            return next(iter(self.inputs))
        # Only a decoder depends on its own tokens, whatever else it reads.
        return next(filter(_is_target, self.inputs), None)


def _all_sides(
    calls: Mapping[CallId, _Vectors], changes: Mapping[str, Sequence[_Change]]
) -> dict[CallId, Sides]:
    """What the sides of all calls are made of."""
    found = {
        call: (_dependence(call, "queries", changes), _dependence(call, "keys", changes))
        for call in calls
    }
    # Where tokens have mixed, those of the same input are where they were before.
    offsets = {
        name: at for pair in found.values() for each in pair for name, at in each.offsets.items()
    }
    # The lengths of vectors that were learned, which read the input's tokens later.
    learned = {
        length
        for call, (queries, _) in found.items()
        if not queries.inputs
        for length in calls[call].lengths
    }

    def side(of: _Dependence, lengths: Iterable[int]) -> Side:
        own = of.own
        if own is not None and own in of.offsets:
            return Side(own, of.offsets[own])
        known = own is not None and learned.isdisjoint(lengths)
        return Side(own, offsets.get(own or "", 0)) if known else Side(None)

    return {
        call: Sides(
            side(queries, calls[call].lengths),
            side(keys, [calls[call].num_keys]),
            # Self-attention may have further keys.
            not queries.inputs <= keys.inputs or bool(keys.inputs and not queries.inputs),
        )
        for call, (queries, keys) in found.items()
    }


def _by_length(
    model: torch.nn.Module,
    tensors: Mapping[str, Any],
    before: Mapping[CallId, _Vectors],
    sides: Mapping[CallId, Sides],
) -> Mapping[CallId, Sides]:
    """The sides, where those that depend on no input are of the tokens that they are as many as.

    Vectors of positions alone have the length of a text, also of a shorter one; vectors that were
    learned have not.
    """
    ids = [name for name, value in tensors.items() if is_read(name, value) and value.ndim == 2]
    length = tensors[ids[0]].shape[1] if len(ids) == 1 else 0
    if length < 2:
        return sides
    shorter = {
        name: value[:, :-1]
        if isinstance(value, torch.Tensor) and value.ndim == 2 and value.shape[1] == length
        else value
        for name, value in tensors.items()
    }
    after = _vectors(model, shorter, before) or {}

    def followed(side: Side, was: torch.Tensor | None, now: torch.Tensor | None) -> Side:
        if side.own is not None or was is None or now is None:
            return side
        follows = was.shape[-2] == now.shape[-2] + 1 >= length
        return Side(ids[0], was.shape[-2] - length) if follows else side

    found = dict(sides)
    for call, each in sides.items():
        if call in after:
            queries = followed(each.queries, before[call].queries, after[call].queries)
            keys = followed(each.keys, before[call].keys, after[call].keys)
            found[call] = Sides(queries, keys, each.cross and queries.own != keys.own)
    return found


def _dependence(
    call: CallId, side: Literal["queries", "keys"], changes: Mapping[str, Sequence[_Change]]
) -> _Dependence:
    inputs, offsets = set(), {}
    for name, ways in changes.items():
        for change in ways:
            difference = change.of[call]
            if side == "queries":
                changed, roles = difference.queries, _of_queries(difference, change.way)
            else:
                changed, roles = difference.keys, _of_keys(difference, change.way)
            if bool(changed.any()):
                inputs.add(name)
            if roles is not None and roles.offset is not None:
                offsets[name] = roles.offset
    return _Dependence(frozenset(inputs), offsets)


def _of_queries(difference: _Difference, way: _Way) -> _Roles | None:
    """The roles of the dimensions of queries, in a way that keys do not contradict."""
    if bool(difference.keys.any()) and _of_keys(difference, way) is None:
        return None
    queries = difference.queries
    roles = _roles(queries, difference.tokens, way)
    if roles is None and difference.tokens is None:  # tokens have mixed; their number may tell
        as_many = [n for n in range(queries.ndim) if queries.shape[n] == way.length]
        return _roles(queries, as_many[0], way) if len(as_many) == 1 else None
    return roles


def _of_keys(difference: _Difference, way: _Way) -> _Roles | None:
    """The roles of the dimensions of keys, whose tokens are the last."""
    keys = difference.keys
    if difference.of_scores:  # the columns alone
        way = way._replace(items=())
    return _roles(keys, keys.ndim - 1, way)


def _learn_axes(
    model: torch.nn.Module, call: CallId, changes: Mapping[str, Sequence[_Change]]
) -> None:
    """Tell the trace the axes of all modules that make such calls."""
    found = {}
    for ways in changes.values():
        for change in ways:
            difference = change.of[call]
            roles, last = _of_queries(difference, change.way), difference.queries.ndim
            if roles is None and difference.tokens is not None:
                roles = _of_keys(difference, change.way)
            if roles is not None and (roles.batch or roles.folded or not change.way.items):
                order = (*roles.batch, *roles.heads, roles.tokens, last)
                if roles.folded is not None:
                    order = tuple(range(last + 1))
                found[Axes(order, len(roles.batch), roles.folded, roles.folded_heads)] = True
    if len(found) != 1:
        return
    [axes] = found
    for name, module in model.named_modules():
        if is_foreign(type(module)) and _kind(CallId(name, call.call)) == call:
            learn(module, axes)


def _items(before: Mapping[CallId, _Vectors], ways: Sequence[_Change]) -> tuple[int, ...]:
    """The dimensions of the items in an input, by the first call that tells; the first if none."""
    for call in before:
        found = {
            change.way.items
            for change in ways
            if _of_queries(change.of[call], change.way) is not None
        }
        if len(found) == 1:
            return found.pop()
    return (0,)
