"""Grouping of attention calls into stacks: by towers, cross-attention and lengths."""

from __future__ import annotations

import functools
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise

from attnwidget.record import Layer, Stack, Tokens

_CROSS = re.compile(r"cross|encoder_attn|encdec|enc_dec|encoder_decoder|encoder_attention", re.I)

# A module belongs to the first tower that a component of its name matches, from the outside in.
_TOWERS = (
    ("vision", re.compile(r"vision|visual|image|^vit$|pixel|siglip|video", re.I)),
    ("audio", re.compile(r"audio|speech|acoustic|wav", re.I)),
    ("qformer", re.compile(r"q_?former|perceiver|resampler", re.I)),
    ("text", re.compile(r"text|language_model|^llm$|^lm$", re.I)),
    ("decoder", re.compile(r"decoder", re.I)),
    ("encoder", re.compile(r"encoder", re.I)),
)


@functools.lru_cache(maxsize=4096)
def tower(module: str) -> str:
    """The tower of a module, by its name; "self" if the name does not tell."""
    for part in module.split("."):
        for name, pattern in _TOWERS:
            if pattern.search(part) and not _CROSS.search(part):
                return name
    return "self"


@functools.lru_cache(maxsize=4096)
def is_cross(module: str) -> bool:
    """True if a module's name says that it attends from one sequence to another."""
    parts = module.split(".")[-3:]
    # torch's own decoder layer has a self_attn and a multihead_attn.
    is_torch = parts[-1] == "multihead_attn" and tower(module) == "decoder"
    return is_torch or any(_CROSS.search(part) for part in parts)


@dataclass
class Group:
    """Layers over one pair of sequences.

    Attributes:
        tower: the part of the model.
        cross: True for cross-attention.
        modules, layers: the layers in order, None for those that are not recorded.
        windows: True if they attend within windows.
        shares_tower: True if the tower also attends over sequences of other lengths.
    """

    tower: str
    cross: bool
    modules: list[str] = field(default_factory=list)
    layers: list[Layer | None] = field(default_factory=list)
    windows: bool = False
    shares_tower: bool = False

    def add(self, modules: list[str], layer: Layer | None) -> None:
        self.modules += modules
        self.layers += [layer] * len(modules)


def grouped(calls: Iterable[tuple[str, Layer | None]]) -> list[Group]:
    """Group layers by tower, kind and lengths, in the order of their calls.

    A module without a layer (left out, or not understood) is added to the others of its tower, so
    that it counts when layers are numbered.
    """
    groups: dict[tuple[object, ...], Group] = {}
    waiting: dict[tuple[str, bool], list[str]] = defaultdict(list)
    latest: dict[tuple[str, bool], Group] = {}
    for module, layer in calls:
        kind = tower(module), is_cross(module)
        if layer is None:
            waiting[kind].append(module)
            continue
        # Windows may have positions in another order than global attention.
        program = layer.program
        windows = program is not None and bool(program.blocks) and program.mask != "causal"
        key = (*kind, layer.shape, windows)
        group = latest[kind] = groups.setdefault(key, Group(*kind, windows=windows))
        group.add(waiting.pop(kind, []), None)
        group.add([module], layer)
    for kind, group in latest.items():
        group.add(waiting[kind], None)
    per_kind = Counter((group.tower, group.cross) for group in groups.values())
    for group in groups.values():
        group.shares_tower = per_kind[group.tower, group.cross] > 1
    return list(groups.values())


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


def stacks(groups: list[Group], tokens: Callable[[Group, str, int], Tokens]) -> dict[str, Stack]:
    """Name the groups and make stacks of them.

    Args:
        tokens: (group, "query" or "key", length) -> the labels of a side.
    """
    out = {}
    for group, title in zip(groups, titles(groups), strict=True):
        layers = tuple(
            replace(layer, number=number)
            for layer, number in zip(group.layers, numbers(group.modules), strict=True)
            if layer is not None
        )
        queries, keys = layers[0].shape
        query_tokens = tokens(group, "query", queries)
        one_sequence = not group.cross and queries == keys
        key_tokens = query_tokens if one_sequence else tokens(group, "key", keys)
        out[title] = Stack(query_tokens, key_tokens, layers)
    # Text comes before the towers that feed it, because readers look at it first.
    last = [name for name in out if name.split()[0] in ("vision", "audio", "qformer")]
    return {name: out[name] for name in [*(n for n in out if n not in last), *last]}


def titles(groups: list[Group]) -> list[str]:
    """A name for each group's stack, which no other has."""
    towers = {group.tower for group in groups}
    alone = len(towers) == 1 and not any(group.cross for group in groups)
    names = ["self" if alone else stack_name(g.tower, g.cross, towers) for g in groups]
    repeated, used = Counter(names), Counter[str]()
    numbered = []
    for name in names:
        used[name] += 1
        numbered.append(f"{name} {used[name]}" if repeated[name] > 1 else name)
    return numbered


def stack_name(tower: str, cross: bool, towers: set[str]) -> str:
    """The name of the stack of a tower's self-attention or cross-attention, among these towers."""
    if not cross:
        return tower
    alone = tower in ("decoder", "self") or len(towers) == 1
    return "cross" if alone else f"{tower} cross"
