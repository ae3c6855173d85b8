"""The attention calls of a model by stack and layer, as records and profiles name them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from attnwidget.record import spans
from attnwidget.running.batches import TextBatch
from attnwidget.running.forward import run_model
from attnwidget.running.missing import no_attention
from attnwidget.running.model import is_foreign
from attnwidget.running.stacks import Group, Kind, images_in_turn, kind_of, numbers, titles
from attnwidget.tracing import (
    Address,
    Call,
    CallId,
    FunctionCall,
    Handler,
    MixingCall,
    Piece,
    Read,
    ReadMixing,
    Sources,
    Trace,
    is_attention,
    is_shifted,
    joined_as,
    mixing_names,
    runs,
    trace,
)

from .edits import Chosen, listed

# Why the call of a module cannot be changed.
PIECE = "{}: it is a piece of a layer, or computes one in pieces, which interventions do not change"


@dataclass(frozen=True)
class Site:
    """An attention call of a model.

    Attributes:
        stack: the name of its stack.
        layer: its number in the model.
        module: the name of the module that calls.
        call: the number of the call among those of the module in a pass, from 0; None for all of
            them, where a module is known by its name alone.
        kind: of the call.
        heads: the number of its heads; 0 where only the name is known.
        key_heads: the number of heads with keys of their own, each for as many heads.
        signed: True for a call without a softmax.
        further: the numbers of later calls, each of one more head: of a layer that mixes channels.
    """

    stack: str
    layer: int
    module: str
    call: int | None
    kind: Kind
    heads: int = 0
    key_heads: int = 0
    signed: bool = False
    further: tuple[int, ...] = ()

    @property
    def id(self) -> CallId:
        """The call, if it is known from a pass; the first of several."""
        return self.ids[0]

    @property
    def ids(self) -> list[CallId]:
        """The calls, if they are known from a pass, one for each head if there are several."""
        assert self.call is not None
        return [CallId(self.module, call) for call in (self.call, *self.further)]

    def holds(self, address: Address, *, signed: bool = False) -> bool:
        """True if the call at this address is of the module, or of one within or around it.

        Args:
            signed: True if the call has no softmax.
        """
        if self.signed != signed:
            return False
        if self.call is not None and address.call not in (self.call, *self.further):
            return False
        own, other = f"{self.module}.", f"{address.module}."
        return own.startswith(other) or other.startswith(own)


@dataclass(frozen=True)
class Sites:
    """The attention calls of a model's forward pass whose head outputs can be changed.

    Attributes:
        found: in the order of the calls, those with a softmax first, as records have them.
        missing: the others, as "module: reason".
    """

    found: tuple[Site, ...]
    missing: tuple[str, ...]


def sites_by_name(model: torch.nn.Module) -> list[Site]:
    """The modules that mix tokens in the order of the model, from their names and code alone."""
    mixing = mixing_names(model)
    names = [
        name
        for name, module in model.named_modules()
        if is_attention(module) and not any(f"{n}.".startswith(f"{name}.") for n in mixing)
    ]
    inner = [n for n in names if not any(other.startswith(f"{n}.") for other in names)]
    kinds: defaultdict[tuple[Kind, bool], list[str]] = defaultdict(list)
    for name in inner + mixing:
        kinds[kind_of(model, CallId(name, 0)), name in mixing].append(name)
    alone = len(kinds) == 1 and not mixing
    named = ["self"] if alone else titles([Group(k, signed=s) for k, s in kinds])
    return [
        Site(title, number, module, None, kind, signed=signed)
        for title, ((kind, signed), modules) in zip(named, kinds.items(), strict=True)
        for module, number in zip(modules, numbers(modules), strict=True)
    ]


def sites_of(sites: Sequence[Site], stack: str | None, layers: Chosen = None) -> list[Site]:
    """The attention calls of a stack and of some layers, in order; None for all.

    Raises:
        ValueError: there is no such stack or layer.
    """
    stacks = dict.fromkeys(site.stack for site in sites)
    if stack is not None and stack not in stacks:
        raise ValueError(f"no stack {stack!r}; the model has {', '.join(map(repr, stacks))}")
    found = [site for site in sites if stack in (None, site.stack)]
    present = {site.layer for site in found}
    absent = sorted(set(listed(layers, [])) - present)
    if absent:
        where = "" if stack is None else f" in stack {stack!r}"
        others = {site.stack for site in sites if site.layer == absent[0]}
        hint = f"; stack {min(others)!r} has it" if others else ""
        there = f"there {'is' if len(present) == 1 else 'are'} {spans(tuple(sorted(present)))}"
        raise ValueError(f"no layer {absent[0]}{where}; {there}{hint}")
    return [site for site in found if site.layer in listed(layers, [site.layer])]


def with_those_beside(finder: SiteFinder, found: Sequence[Site], stack: str) -> list[Site]:
    """The calls of a stack, and of layers that mix the same tokens with, or without, a softmax.

    Raises:
        ValueError: there is no such stack.
    """
    own = sites_of(found, stack)
    part, lengths = own[0].kind[:2], finder.shapes[own[0].id][2:]
    return [
        site
        for site in found
        if site in own
        or (
            site.signed != own[0].signed
            and site.kind[:2] == part
            and finder.shapes[site.id][2:] == lengths
        )
    ]


def usual_stacks(sites: Sequence[Site]) -> list[str]:
    """The stacks among which the only one need not be named: those with a softmax, or else all."""
    usual = [site.stack for site in sites if not site.signed]
    return list(dict.fromkeys(usual or [site.stack for site in sites]))


def followed(
    model: torch.nn.Module, batch: TextBatch, finder: SiteFinder
) -> tuple[Any, Sites, Trace]:
    """Run a model over a batch: (its output, its attention calls, the trace).

    Raises:
        ValueError: the model has no attention whose head outputs can be changed.
    """
    with trace(model, finder, len(batch.texts)) as traced:
        output = run_model(model, batch, all_logits=True)
    return output, finder.sites(model, len(batch.texts)), traced


def is_step(call: MixingCall) -> bool:
    """True for a convolution that prepares what another function mixes."""
    return call.local and call.rerun is None


@dataclass(frozen=True)
class _Seen:
    """An attention call, with the shape [M, heads, Tq, Tk] of its scores."""

    id: CallId
    shape: Sequence[int]
    key_heads: int
    editable: bool
    piece: Piece
    signed: bool = False
    further: tuple[int, ...] = ()

    def group(self, kind: Kind, rows: int) -> tuple[object, ...]:
        """A key that is equal for the calls of one stack."""
        leading, _, num_queries, num_keys = self.shape
        windows = 1 if leading % rows else leading // rows
        lengths = windows * num_queries, windows * num_keys
        return kind, lengths, windows > 1, self.signed


class SiteFinder(Handler):
    """Lists the attention calls of a pass."""

    def __init__(self) -> None:
        self._calls: list[_Seen] = []
        self._sources = Sources(is_foreign)
        self._missing: list[str] = []

    @property
    def shapes(self) -> dict[CallId, Sequence[int]]:
        """The shapes [M, heads, Tq, Tk] of the scores of calls whose layout is known."""
        return {seen.id: seen.shape for seen in self._calls}

    def attention(self, address: Address, read: Read) -> torch.Tensor | None:
        try:
            call = read()
            shape = tuple(call.shape)
        except ValueError as error:
            self._missing.append(f"{address.module}: {error}")
            return self.found(address, None)
        output = call.passed_on
        key_heads = call.key.shape[1] if isinstance(call, FunctionCall) else shape[1]
        piece = self._sources.piece(address, call.module, call)
        self._calls.append(_Seen(address.id, shape, key_heads, output is not None, piece))
        return self.found(address, None if output is None else call)

    def mixing(self, address: Address, read: ReadMixing) -> torch.Tensor | None:
        try:
            call = read()
        except ValueError as error:
            self._missing.append(f"{address.module}: {error}")
            return None
        if is_step(call):
            return None
        leading, heads, tokens, _ = call.output.shape
        last = self._calls[-1] if self._calls else None
        key_heads = heads if call.strengths is None else call.strengths.key.shape[1]
        shape = (leading, heads, tokens, tokens)
        piece = self._sources.piece(address, call.module, None)
        seen = _Seen(address.id, shape, key_heads, True, piece, signed=True)
        same = last is not None and last.signed and last.id.module == address.module
        if call.strengths is None and last is not None and same:
            # Each call mixes some of the layer's channels.
            heads += last.shape[1]
            further = (*last.further, address.call)
            shape = (leading, heads, tokens, tokens)
            seen = replace(last, shape=shape, key_heads=heads, further=further)
            self._calls.pop()
        self._calls.append(seen)
        return self.found(address, call)

    def module_entered(self, module: torch.nn.Module, args: tuple[Any, ...]) -> None:
        self._sources.entered(module, args)

    def found(self, address: Address, call: Call | MixingCall | None) -> torch.Tensor | None:
        """Called for every call, without it if its head outputs are not known.

        Returns:
            Head outputs in place of those of the call, or None.
        """

    def _leave_out_pieces(self) -> None:
        """Name the calls that are pieces of a layer, such as heads in modules of their own."""
        pieces = {
            seen.id
            for run in runs(self._calls)
            if joined_as([each.piece for each in run]) is not None
            for seen in run
        }
        self._missing += [
            PIECE.format(module)
            for module in dict.fromkeys(s.id.module for s in self._calls if s.id in pieces)
        ]
        self._calls = [seen for seen in self._calls if seen.id not in pieces]

    def sites(self, model: torch.nn.Module, rows: int) -> Sites:
        """The calls of one pass over so many texts.

        Raises:
            ValueError: the model has no attention whose head outputs can be changed.
        """
        groups: dict[tuple[object, ...], list[_Seen]] = {}
        self._leave_out_pieces()
        for seen in self._calls:
            groups.setdefault(seen.group(kind_of(model, seen.id), rows), []).append(seen)
        parts: list[tuple[Group, list[tuple[int, _Seen]]]] = []
        for calls in groups.values():
            kind = kind_of(model, calls[0].id)
            images = images_in_turn(kind, [seen.id for seen in calls])
            for first in range(images):
                own = calls[first::images]
                numbered = zip(numbers([seen.id.module for seen in own]), own, strict=True)
                by_order: dict[bool, list[tuple[int, _Seen]]] = {}
                for number, seen in numbered:
                    shifted = is_shifted(model.get_submodule(seen.id.module))
                    by_order.setdefault(shifted, []).append((number, seen))
                for shifted, some in by_order.items():
                    group = Group(kind, shifted=shifted, signed=calls[0].signed)
                    parts.append((group, some))
        named = titles([group for group, _ in parts])
        by_call: dict[CallId, Site] = {}
        for name, (group, numbered_calls) in zip(named, parts, strict=True):
            for number, seen in numbered_calls:
                heads = seen.shape[1], seen.key_heads
                by_call[seen.id] = Site(
                    name, number, *seen.id, group.kind, *heads, seen.signed, seen.further
                )
        ordered = sorted(self._calls, key=lambda seen: seen.signed)
        found = tuple(by_call[seen.id] for seen in ordered if seen.editable)
        unknown = [
            f"{seen.id.module}: its head outputs are not known"
            for seen in self._calls
            if not seen.editable
        ]
        missing = (*self._missing, *unknown)
        if not found:
            raise ValueError(no_attention(model, missing))
        return Sites(found, missing)
