"""The inputs that the attention of a model reads, found by changing them.

Names of modules and lengths of sequences do not always say which dimension is the head, which
sequence a query is of, or where its first token is. So the model runs on two items, and once more
for each of its inputs with some tokens of the first item changed: whatever changes with them was
made of them. Where tokens have mixed before an attention, one more pass over shorter texts tells
which of them it has the length of.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import torch

from attnwidget.tracing import CallId, is_attention
from attnwidget.tracing.layout import Axes, learn

from .changes import Change, Changes, changes, kind, two_items, vectors
from .model import has_soft_prompt, is_foreign
from .roles import key_roles, query_roles
from .sides import Sides, all_sides
from .towers import is_cross, is_read, is_target, media_of, tower

# The inputs of other shapes of which a model's structure is read, where the first do not tell all.
_MOST_READ = 4


@dataclass(frozen=True)
class Structure:
    """The structure that was read of a model.

    Attributes:
        sides: of each call, or of each kind of call if all of a kind are alike.
        items: the dimensions of the items in each input; none if it has a single item.
        assumed: True if lengths alone say of some sides whose tokens they are.
        complete: True if inputs of other shapes would not tell more.
        shapes: of the inputs of which it was read.
    """

    sides: Mapping[CallId, Sides]
    items: Mapping[str, tuple[int, ...]]
    assumed: bool = False
    complete: bool = False
    shapes: frozenset[frozenset[torch.Size]] = frozenset()

    def of(self, call: CallId) -> Sides | None:
        """The sides of a call, or of its first piece if its heads are modules of their own."""
        found = self.sides.get(call) or self.sides.get(kind(call))
        if found is not None:
            return found
        pieces = tuple(each.module and f"{each.module}." for each in (call, kind(call)))
        return next((s for id, s in self.sides.items() if id.module.startswith(pieces)), None)


# What was read of a model by its inputs, with the numbers of their dimensions; None where names
# tell all.
_Known: TypeAlias = "dict[frozenset[tuple[str, int]], Structure | None]"
_known: WeakKeyDictionary[torch.nn.Module, _Known] = WeakKeyDictionary()
_latest: WeakKeyDictionary[torch.nn.Module, Structure | None] = WeakKeyDictionary()


def known_structure(model: torch.nn.Module) -> Structure | None:
    """The structure that was read of a model with the latest inputs, if it was asked for."""
    return _latest.get(model)


def _is_unclear(model: torch.nn.Module, names: Collection[str]) -> bool:
    """True if the names of modules and inputs do not tell the parts of a model."""
    own_code = any(
        is_foreign(type(module))
        for module in model.modules()
        if next(module.children(), None) is not None  # more than a single layer
    )
    if own_code or has_soft_prompt(model):
        return True
    if len(names) <= 1:
        return False
    read = {media_of(name) or ("decoder" if is_target(name) else "text") for name in names}
    attention = [name for name, module in model.named_modules() if is_attention(module)]
    towers = set(map(tower, attention))
    if "decoder" in read:  # what an encoder reads may be text, an image or sound
        return not {"decoder"} <= towers <= {"encoder", "decoder", *read, "qformer"}
    # What a tower of sound reads may be text that stands for it.
    return "audio" in read or any(map(is_cross, attention)) or not towers <= {"text", *read}


def structure_of(model: torch.nn.Module, tensors: Mapping[str, Any]) -> Structure | None:
    """The structure of a model, if names and shapes leave more than one way to read it.

    It is read once for inputs of some names, and again where other shapes may tell more.
    """
    read = {name: value for name, value in tensors.items() if is_read(name, value)}
    inputs = frozenset((name, value.ndim) for name, value in read.items())
    known = _known.setdefault(model, {})
    if inputs not in known:
        # Several texts, or tokens, may be in one item.
        deep = any(each.ndim > 2 and not each.is_floating_point() for each in read.values())
        known[inputs] = Structure({}, {}) if deep or _is_unclear(model, read) else None
    structure = known[inputs]
    if structure is not None and not structure.complete:
        shapes = frozenset(value.shape for value in read.values())
        if shapes not in structure.shapes and len(structure.shapes) < _MOST_READ:
            tried = structure.shapes | {shapes}
            structure = known[inputs] = replace(_read(model, tensors, list(read)), shapes=tried)
    _latest[model] = structure
    return structure


def _read(model: torch.nn.Module, tensors: Mapping[str, Any], names: Sequence[str]) -> Structure:
    """The structure of a model's attention, as far as it runs on changed inputs.

    Args:
        model: the model.
        tensors: its inputs by name.
        names: those that it reads.
    """
    items: dict[str, tuple[int, ...]] = dict.fromkeys(names, (0,))
    two = {name: two_items(value) for name, value in tensors.items()}
    before = vectors(model, two)
    if before is None:  # it takes one at a time
        two = dict(tensors)
        before = vectors(model, two) or {}
    first = {kind(call): call for call in reversed(before)}
    some = {call: before[call] for call in before if call in first.values()}
    # Of a single input, the first layers may tell all.
    alike = all(before[first[kind(call)]].sizes == each.sizes for call, each in before.items())
    found: Changes = {}
    for calls in [some, before] if alike and len(names) == 1 else [before]:
        changed = changes(model, tensors, two, calls)
        if not calls or changed is None:
            return Structure({}, items)
        found = changed
        items = {name: _items(change) for name, change in found.items()}
        sides, assumed = all_sides(model, two, items, calls, found)
        if alike and all(_is_of(each, names[0]) for each in sides.values()):
            sides = {kind(call): each for call, each in sides.items()}
            break
    known = _learn_axes(model, found)
    complete = known and all(min(two[name].shape[:2]) > 1 for name in names)
    return Structure(sides, items, assumed, complete)


def _is_of(sides: Sides, name: str) -> bool:
    """True for self-attention over the tokens of an input."""
    return not sides.cross and sides.queries.own == sides.keys.own == name


def _learn_axes(model: torch.nn.Module, found: Changes) -> bool:
    """Tell the trace the axes of all modules whose calls were read; True if all are known."""
    calls = [call for change in found.values() for call in change.of]
    axes = {call: _axes(call, found) for call in dict.fromkeys(calls)}
    of_kind: dict[CallId, Axes | None] = {}
    for call, own in axes.items():
        of_kind[kind(call)] = of_kind.get(kind(call)) or own
    known = True
    for name, module in model.named_modules():
        if is_foreign(type(module)):
            alike = kind(CallId(name, 0)).module
            for each, first in of_kind.items():
                if each.module == alike:
                    own = axes.get(CallId(name, each.call)) or first
                    known = known and own is not None
                    if own is not None:
                        learn(module, own)
    return known


def _axes(call: CallId, found: Changes) -> Axes | None:
    """The axes of a call, if what has changed leaves one way alone to read them."""
    fitting = set()
    for change in found.values():
        one = change.of[call]
        for way in change.ways:
            roles = query_roles(one, way)
            if roles is None and one.tokens is not None:
                roles = key_roles(one, way)
            if roles is not None and (roles.axes.batch or roles.axes.folded or not way.items):
                fitting.add(roles.axes)
    return fitting.pop() if len(fitting) == 1 else None


def _items(change: Change) -> tuple[int, ...]:
    """The dimensions of the items in an input, by the first call that tells; the first if none."""
    for one in change.of.values():
        found = {way.items for way in change.ways if query_roles(one, way) is not None}
        if len(found) == 1:
            return found.pop()
    return (0,)
