"""Grouping of attention calls into stacks: by towers, cross-attention and lengths."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal, NamedTuple

import torch

from attnwidget.record import Layer, ScoreProgram, Stack, Tokens
from attnwidget.tracing import CallId, is_shifted

from .model import traits
from .sides import Side, Sides
from .structure import Structure, known_structure
from .towers import is_cross, media_of, tower


class Kind(NamedTuple):
    """The part of a model that an attention call belongs to.

    Attributes:
        tower: the part.
        cross: True for cross-attention.
        sides: what queries and keys are made of.
        read: True if that was read from the model, False if names tell.
        assumed: True if names do not leave one reading alone, and not all was read.
    """

    tower: str
    cross: bool
    sides: Sides = Sides(Side(None), Side(None), False)
    read: bool = False
    assumed: bool = False

    @property
    def key(self) -> tuple[str, bool, str]:
        """The kind in plain values, for files: two are equal if the kinds are."""
        return self.tower, self.cross, str(tuple(self.sides)) if self.read else ""


def kind_of(model: torch.nn.Module, call: CallId) -> Kind:
    """The kind of a call: as it was read from the model, or by the name of the module."""
    structure, name = known_structure(model), tower(call.module)
    sides = None if structure is None else structure.of(call)
    if structure is None or sides is None:
        cross = is_cross(call.module)
        return Kind(name, cross, _sides_named(model, name, cross), False, structure is not None)
    named = _tower_read(name, sides, structure)
    return Kind(named, sides.cross, sides, True, structure.assumed)


def _sides_named(model: torch.nn.Module, name: str, cross: bool) -> Sides:
    """The inputs of a tower, by its name; keys of other sequences are an encoder's, if any."""
    kind = traits(model)
    if name == "decoder" and kind.has_decoder:
        own = Side("decoder_input_ids")
        return Sides(own, Side("input_ids") if cross else own, cross)
    read = {"vision": "pixel_values", "audio": "input_features", "qformer": None}
    own = Side(read.get(name, "input_ids"), 0 if name in read or cross else kind.global_tokens)
    return Sides(own, Side(None) if cross else own, cross)


def _tower_read(name: str, sides: Sides, structure: Structure) -> str:
    """The tower of queries that were read, where another one than the name says."""
    read = {each.queries.own or "" for each in structure.sides.values()}
    targets = {own for own in read if own.startswith("decoder_input")}
    own = sides.queries.own or ""
    if own in targets:
        return "decoder"
    media = media_of(own)
    if media is not None:
        return "encoder" if targets and name in ("self", "encoder", "text") else media
    if own and (name in ("vision", "audio") or (targets and name != "qformer")):
        return "encoder" if targets else "text"
    return name


@dataclass
class Group:
    """Layers over one pair of sequences.

    Attributes:
        kind: the part of the model.
        modules, layers: the layers in order, None for those that are not recorded.
        calls: the attention calls of those that are.
        windows: True if they attend within windows.
        shifted: True if the grid of tokens is rolled before.
        shares_tower: True if the tower also attends over sequences of other lengths.
        signed: True for layers without a softmax.
    """

    kind: Kind
    modules: list[str] = field(default_factory=list)
    layers: list[Layer | None] = field(default_factory=list)
    calls: list[CallId] = field(default_factory=list)
    windows: bool = False
    shifted: bool = False
    shares_tower: bool = False
    signed: bool = False

    @property
    def tower(self) -> str:
        """The tower of the queries."""
        return self.kind.tower

    @property
    def cross(self) -> bool:
        """True for cross-attention."""
        return self.kind.cross

    def add(self, modules: list[str], layer: Layer | None) -> None:
        self.modules += modules
        self.layers += [layer] * len(modules)


def grouped(
    model: torch.nn.Module,
    calls: Iterable[tuple[CallId, Layer | None]],
    mixing: Container[CallId] = (),
) -> list[Group]:
    """Group layers by kind and lengths, in the order of their calls.

    A module without a layer (left out, or not understood) is added to the others of its tower, so
    that it counts when layers are numbered.

    Args:
        mixing: the calls without a softmax, which are grouped by themselves.
    """
    groups: dict[tuple[object, ...], Group] = {}
    waiting: dict[tuple[Kind, bool], list[str]] = defaultdict(list)
    latest: dict[tuple[Kind, bool], Group] = {}
    for call, layer in calls:
        kind = kind_of(model, call)
        alike = kind, call in mixing
        if layer is None:
            waiting[alike].append(call.module)
            continue
        # Windows may have positions in another order than global attention.
        program = layer.program if isinstance(layer.program, ScoreProgram) else None
        windows = program is not None and bool(program.blocks) and program.mask != "causal"
        key = (alike, layer.shape, windows, layer.coefficients is None)
        group = latest[alike] = groups.setdefault(
            key, Group(kind, windows=windows, signed=layer.signed)
        )
        group.add(waiting.pop(alike, []), None)
        group.add([call.module], layer)
        group.calls.append(call)
    for alike, group in latest.items():
        group.add(waiting[alike], None)
    of_images = [part for group in groups.values() for part in _of_each_image(group)]
    out = [part for group in of_images for part in _of_each_order(model, group)]
    per_kind = Counter((group.kind, group.signed) for group in out)
    for group in out:
        group.shares_tower = per_kind[group.kind, group.signed] > 1
    return out


def _of_each_image(group: Group) -> list[Group]:
    images = images_in_turn(group.kind, group.calls) if None not in group.layers else 1
    return [
        replace(
            group,
            modules=group.modules[number::images],
            layers=group.layers[number::images],
            calls=group.calls[number::images],
        )
        for number in range(images)
    ]


def _of_each_order(model: torch.nn.Module, group: Group) -> list[Group]:
    """Layers whose windows are shifted have their tokens in another order than the others.

    Either part has all modules, so that its layers are numbered among these.
    """
    shifted = [is_shifted(model.get_submodule(module)) for module in group.modules]
    recorded = [layer is not None for layer in group.layers]
    return [
        replace(
            group,
            layers=[
                layer if of == part else None
                for of, layer in zip(shifted, group.layers, strict=True)
            ],
            calls=[
                call for call in group.calls if is_shifted(model.get_submodule(call.module)) == part
            ],
            shifted=part,
        )
        for part in dict.fromkeys(of for of, kept in zip(shifted, recorded, strict=True) if kept)
    ]


def images_in_turn(kind: Kind, calls: Sequence[CallId]) -> int:
    """The number of images of one length that the layers of a tower read one after the other.

    Their attention is of as many stacks: it is no further layer.
    """
    per_module = Counter(call.module for call in calls)
    counts = set(per_module.values())
    images = counts.pop() if len(counts) == 1 else 1
    in_turn = all(
        len({call.module for call in calls[n : n + images]}) == 1
        for n in range(0, len(calls), images)
    )
    return images if kind.tower == "vision" and len(per_module) > 1 and in_turn else 1


def numbers(modules: list[str]) -> list[int]:
    """The layers' numbers in the model: the first numbers in the modules' names that increase.

    "encoder.block.2.layer.0.SelfAttention" is layer 2. If none increase (layers that share their
    weights have one name), layers are counted.
    """
    in_names = [[int(part) for part in module.split(".") if part.isdigit()] for module in modules]
    for place in range(min(map(len, in_names), default=0)):
        column = [ints[place] for ints in in_names]
        if all(a < b for a, b in pairwise(column)):
            return column
    return list(range(len(modules)))


def numbers_of(modules: Iterable[str]) -> tuple[int, ...]:
    """The numbers of the layers of all towers, by the names of their modules."""
    by_tower: dict[tuple[str, bool], list[str]] = defaultdict(list)
    for module in modules:
        by_tower[tower(module), is_cross(module)].append(module)
    return tuple(sorted({number for each in by_tower.values() for number in numbers(each)}))


class Labels(NamedTuple):
    """The labels of both sides of an attention.

    Attributes:
        queries, keys: either side; the same object if they are one sequence.
        assumed: True if these, or the part of the model, were not read from it.
    """

    queries: Tokens
    keys: Tokens
    assumed: bool


def stacks(
    groups: list[Group], labels: Callable[[Group, tuple[int, int]], Labels]
) -> dict[str, Stack]:
    """Name the groups and make stacks of them.

    Args:
        labels: (group, (Tq, Tk)) -> its labels.
    """
    out = {}
    for group, title in zip(groups, titles(groups), strict=True):
        layers = [layer for layer in group.layers if layer is not None]
        queries, keys, assumed = labels(group, layers[0].shape)
        said: Literal["checked", "assumed"] = "assumed" if assumed else "checked"
        named = tuple(
            replace(layer, number=number, fidelity=replace(layer.fidelity, labels=said))
            for layer, number in zip(group.layers, numbers(group.modules), strict=True)
            if layer is not None
        )
        out[title] = Stack(queries, keys, named)
    # Text comes before the towers that feed it, because readers look at it first, and attention
    # before what is none.
    media = ("vision", "audio", "qformer")
    order = sorted(out, key=lambda name: (name.split()[0] in media, out[name].signed))
    return {name: out[name] for name in order}


def titles(groups: list[Group]) -> list[str]:
    """A name for each group's stack, which no other has."""
    towers = {group.tower for group in groups}
    alone = len(towers) == 1 and not any(group.cross for group in groups)
    names = [
        _with_kind(g, "self" if alone else stack_name(g.tower, g.cross, towers)) for g in groups
    ]
    repeated, used = Counter(names), Counter[str]()
    numbered = []
    for name in names:
        used[name] += 1
        numbered.append(f"{name} {used[name]}" if repeated[name] > 1 else name)
    return numbered


def _with_kind(group: Group, name: str) -> str:
    """The name of a stack, which says that its layers are linear in their values, or shifted."""
    if group.shifted:
        name = f"{name} shifted"
    if not group.signed:
        return name
    return "linear" if name == "self" else f"{name} linear"


def stack_name(tower: str, cross: bool, towers: set[str]) -> str:
    """The name of the stack of a tower's self-attention or cross-attention, among these towers."""
    if not cross:
        return tower
    alone = tower in ("decoder", "self") or len(towers) == 1
    return "cross" if alone else f"{tower} cross"
