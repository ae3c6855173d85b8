"""The inputs that the sides of attention calls are made of: which tokens, and where."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

import torch

from attnwidget.tracing import CallId

from .changes import Changes, Vectors, kind, vectors
from .roles import ASTRAY, key_roles, query_roles
from .towers import is_read, is_target, stem

# The inputs that a side depends on, with the offset of each: see `Roles`.
_Reads: TypeAlias = Mapping[str, int | None]


class Side(NamedTuple):
    """The input that one side of an attention is made of.

    Attributes:
        own: the input whose tokens it has in order; None for vectors that were learned, or if that
            is not known.
        offset: the number of positions before the first of these tokens.
    """

    own: str | None
    offset: int = 0


class Sides(NamedTuple):
    """The inputs that the queries and the keys of an attention call are made of.

    Attributes:
        queries, keys: either side.
        cross: True if they are of different sequences.
    """

    queries: Side
    keys: Side
    cross: bool


def all_sides(
    model: torch.nn.Module,
    tensors: Mapping[str, Any],
    items: Mapping[str, tuple[int, ...]],
    calls: Mapping[CallId, Vectors],
    changes: Changes,
) -> tuple[dict[CallId, Sides], bool]:
    """(what the sides of all calls are made of, True if lengths alone say it of some).

    Args:
        model: the model.
        tensors: its inputs.
        items: the dimensions of the items in each input that it reads.
        calls: the vectors of its calls.
        changes: of these with each input.
    """
    reads = {call: _reads(call, changes) for call in calls}
    texts = _Texts(tensors, items)
    for call, pair in reads.items():
        for read, lengths in zip(pair, calls[call].lengths, strict=True):
            texts.add(read, lengths)
    mixed = any(texts.may_be_of(read) for pair in reads.values() for read in pair)
    shorter = (vectors(model, texts.shorter(), calls.keys()) if mixed else None) or {}
    found: dict[CallId, Sides] = {}
    first: dict[CallId, CallId] = {}
    assumed = mixed and not shorter
    for call, (of_queries, of_keys) in reads.items():
        lead = first.setdefault(kind(call), call)
        alike = lead is not call and reads[lead][0].keys() == of_queries.keys()
        if calls[call].keys is None and alike:  # scores do not tell queries and keys that mixed
            found[call], assumed = found[lead], True
            continue
        now = shorter[call].lengths if call in shorter else (None, None)
        queries, keys = map(texts.side, reads[call], calls[call].lengths, now)
        # Self-attention may have further keys. Where a changed key changes all of its row, as in a
        # softmax of weights, no key is seen to change, and their number alone tells.
        seen = bool(of_keys) or keys.own is None
        cross = queries.own != keys.own or (seen and not of_queries.keys() <= of_keys.keys())
        cross = cross or calls[call].apart
        found[call] = Sides(queries, keys, cross or bool(of_keys and not of_queries))
    for module in {call.module for call in calls}:
        chunks = [call for call in calls if call.module == module]
        if _are_chunks({call: calls[call] for call in chunks}, reads):
            whole = found[chunks[-1]].keys
            found |= dict.fromkeys(chunks, Sides(whole, whole, False))
    return found, assumed


def _are_chunks(
    calls: Mapping[CallId, Vectors], reads: Mapping[CallId, tuple[_Reads, _Reads]]
) -> bool:
    """True if a module's queries come in chunks, as many in all as it has keys at last."""
    sizes = [each.lengths for each in calls.values()]
    if len(sizes) < 2 or any(len(queries) > 1 for queries, _ in sizes):
        return False
    alike = all(reads[call][0].keys() == reads[call][1].keys() for call in calls)
    return alike and sum(queries[0] for queries, _ in sizes) == sizes[-1][1][0]


def _reads(call: CallId, changes: Changes) -> tuple[_Reads, _Reads]:
    """The inputs on which the queries and the keys of a call depend."""
    queries: dict[str, int | None] = {}
    keys: dict[str, int | None] = {}
    for name, change in changes.items():
        one = change.of[call]
        for reads, rows, roles_of in (
            (queries, one.queries, query_roles),
            (keys, one.keys, key_roles),
        ):
            if bool(rows.any()):
                roles = [roles_of(one, way) for way in change.ways]
                offsets = [each.offset for each in roles if each is not None]
                reads[name] = max((at for at in offsets if at is not None), default=None)
    return queries, keys


def _placed_at_once(reads: _Reads) -> dict[str, int]:
    """The inputs whose tokens a side has in order, at one position; none if at several."""
    placed = {name: at for name, at in reads.items() if at is not None and at != ASTRAY}
    return placed if len(set(placed.values())) == 1 else {}


class _Texts:
    """The texts among a model's inputs, and where they are in its sequences.

    Args:
        tensors: the inputs by name.
        items: the dimensions of the items in those that are read.
    """

    def __init__(self, tensors: Mapping[str, Any], items: Mapping[str, tuple[int, ...]]) -> None:
        self._tensors = tensors
        # Of each text, the dimension of its tokens.
        self._along = {
            name: 0 if of == (1,) else 1
            for name, of in items.items()
            if tensors[name].ndim == 2 and not tensors[name].is_floating_point()
        }
        self._lengths: dict[str, int] = {n: tensors[n].shape[d] for n, d in self._along.items()}
        # The numbers of tokens by which texts are cut; sums of these are others.
        self._cuts = {name: 1 << n for n, name in enumerate(self._along)}
        # Where a text begins in a sequence of some length, as far as that was seen.
        self._offsets: dict[tuple[str, int], int] = {}
        # The lengths of vectors that were learned.
        self._learned: set[int] = set()

    def add(self, reads: _Reads, lengths: tuple[int, ...]) -> None:
        """Note what a side depends on, which has one of these lengths."""
        if not reads:
            self._learned |= set(lengths)
        for name in self._lengths.keys() & reads.keys():
            offset = reads[name]
            if offset is not None and len(lengths) == 1:
                same = self._offsets.setdefault((name, lengths[0]), offset) == offset
                self._offsets[name, lengths[0]] = offset if same else ASTRAY
        # Texts of one sequence, such as tokens and their tags, are equally long.
        together = [name for name in _placed_at_once(reads) if name in self._lengths]
        if together:
            self._cuts |= dict.fromkeys(together, self._cuts[together[0]])

    def may_be_of(self, reads: _Reads) -> bool:
        """True if lengths alone can tell of which text a side is."""
        if _placed_at_once(reads) or ASTRAY in reads.values():
            return False
        return not reads or not reads.keys().isdisjoint(self._lengths)

    def shorter(self) -> dict[str, Any]:
        """The inputs with shorter texts, and with masks and the like as short."""
        found = dict(self._tensors)
        for name, value in self._tensors.items():
            alike = [text for text in self._along if self._tensors[text].shape == _shape(value)]
            if name in self._along or (alike and not is_read(name, value)):
                of_name = [text for text in alike if stem(text) == stem(name)]
                own = name if name in self._along else (of_name or alike)[0]
                left = self._lengths[own] - self._cut(own)
                found[name] = value.narrow(self._along[own], 0, left)
        return found

    def _cut(self, name: str) -> int:
        """The number of tokens by which a text is cut; one is left."""
        return min(self._cuts[name], self._lengths[name] - 1)

    def side(self, reads: _Reads, lengths: tuple[int, ...], now: tuple[int, ...] | None) -> Side:
        """The input that a side is made of.

        Args:
            reads: the inputs that it depends on.
            lengths: the numbers of positions that it may have.
            now: those with shorter texts, or None if there was no such pass.
        """
        placed = _placed_at_once(reads)
        if placed:
            own = self._one_of(placed)
            return Side(None) if own is None else Side(own, placed[own])
        if self.may_be_of(reads):
            own, length = self._of_length(reads, lengths, now)
            if own is not None:
                plain = 0 if length == self._lengths[own] else ASTRAY
                offset = self._offsets.get((own, length), plain)
                return Side(None) if offset == ASTRAY else Side(own, offset)
        others = [name for name in reads if name not in self._lengths]
        alone = len(others) == 1 and ASTRAY not in reads.values()
        return Side(others[0] if alone and self._learned.isdisjoint(lengths) else None)

    def _of_length(
        self, reads: _Reads, lengths: tuple[int, ...], now: tuple[int, ...] | None
    ) -> tuple[str | None, int]:
        """(the text that a side is as long as, the length), as far as that is known."""
        if now is None:
            known = len(lengths) == 1
            return self._one_of(self._lengths.keys() & reads.keys()) if known else None, lengths[0]
        cuts = [(a, a - b) for a, b in zip(lengths, now, strict=True) if a != b]
        if len(cuts) != 1:
            return None, 0
        [(length, cut)] = cuts
        names = [name for name in self._cuts if self._cut(name) == cut]
        return self._one_of(name for name in names if name in (reads or names)), length

    def _one_of(self, names: Iterable[str]) -> str | None:
        """One of several inputs: the only one, a decoder's, the usual one, the only text; or None.

        Only a decoder depends on its own tokens, and tokens may have boxes or tags beside them.
        """
        names = list(names)
        targets = list(filter(is_target, names))
        usual = [name for name in names if name in ("input_ids", "inputs_embeds")]
        texts = [name for name in names if name in self._lengths]
        return next((each[0] for each in (names, targets, usual, texts) if len(each) == 1), None)


def _shape(value: Any) -> torch.Size | None:
    return value.shape if isinstance(value, torch.Tensor) else None
