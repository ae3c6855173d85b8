"""Stacks of layers out of calls of attention: by towers, cross-attention and lengths."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise

from attnwidget.record import Layer, Stack, Tokens

_CROSS = re.compile(r"cross|encoder_attn|encdec|enc_dec|encoder_decoder|encoder_attention", re.I)

# The first that a part of a module's name matches, from the outside in.
_TOWERS = (
    ("vision", re.compile(r"vision|visual|image|^vit$|pixel|siglip|video", re.I)),
    ("audio", re.compile(r"audio|speech|acoustic|wav", re.I)),
    ("qformer", re.compile(r"q_?former|perceiver|resampler", re.I)),
    ("text", re.compile(r"text|language_model|^llm$|^lm$", re.I)),
    ("decoder", re.compile(r"decoder", re.I)),
    ("encoder", re.compile(r"encoder", re.I)),
)


def tower(module: str) -> str:
    """The part of a model that a module belongs to, by its name; "self" if it does not say."""
    for part in module.split("."):
        for name, pattern in _TOWERS:
            if pattern.search(part) and not _CROSS.search(part):
                return name
    return "self"


def is_cross(module: str) -> bool:
    """True if a module attends from one sequence to another, by its name."""
    parts = module.split(".")[-3:]
    # Torch's own decoder layer has a self_attn and a multihead_attn.
    own = parts[-1] == "multihead_attn" and tower(module) == "decoder"
    return own or any(_CROSS.search(part) for part in parts)


@dataclass
class Group:
    """Layers over one pair of sequences.

    Attributes:
        tower: the part of the model.
        cross: whether they attend from one sequence to another.
        modules, layers: the layers, in order, None for those that are not recorded.
        windows: whether they attend within windows.
        shares_tower: whether the tower also attends over sequences of other lengths.
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
    """Layers by tower, kind and lengths, in the order in which they come.

    A module without a layer (not wanted, or not understood) goes with the others of its tower,
    so that it counts when layers are numbered.
    """
    groups: dict[tuple[object, ...], Group] = {}
    waiting: dict[tuple[str, bool], list[str]] = defaultdict(list)
    latest: dict[tuple[str, bool], Group] = {}
    for module, layer in calls:
        own = tower(module), is_cross(module)
        if layer is None:
            waiting[own].append(module)
            continue
        # Windows may take positions in another order than attention over all of them.
        program = layer.program
        windows = program is not None and bool(program.blocks) and program.mask != "causal"
        key = (*own, layer.shape, windows)
        group = latest[own] = groups.setdefault(key, Group(*own, windows=windows))
        group.add(waiting.pop(own, []), None)
        group.add([module], layer)
    for own, group in latest.items():
        group.add(waiting[own], None)
    found = list(groups.values())
    alike = Counter((group.tower, group.cross) for group in found)
    for group in found:
        group.shares_tower = alike[group.tower, group.cross] > 1
    return found


def numbers(modules: list[str]) -> list[int]:
    """The layers' numbers in the model: from the modules' names, where these increase.

    "encoder.block.2.layer.0.SelfAttention" is layer 2. Where the names tell nothing (layers
    that share their weights have one name), layers are counted.
    """
    found = [[int(part) for part in module.split(".") if part.isdigit()] for module in modules]
    for place in range(min(map(len, found), default=0)):
        column = [ints[place] for ints in found]
        if all(a < b for a, b in pairwise(column)):
            return column
    return list(range(len(modules)))


def stacks(groups: list[Group], tokens: Callable[[Group, str, int], Tokens]) -> dict[str, Stack]:
    """Named stacks. `tokens(group, side, length)` labels the "query" or "key" side of a group."""
    towers = {group.tower for group in groups}
    alone = len(towers) == 1 and not any(group.cross for group in groups)
    names = ["self" if alone else _name(group, towers) for group in groups]
    repeated, used = Counter(names), Counter[str]()
    out = {}
    for group, name in zip(groups, names, strict=True):
        used[name] += 1
        title = f"{name} {used[name]}" if repeated[name] > 1 else name
        layers = tuple(
            replace(layer, number=number)
            for layer, number in zip(group.layers, numbers(group.modules), strict=True)
            if layer is not None
        )
        queries, keys = layers[0].shape
        own = tokens(group, "query", queries)
        out[title] = Stack(own, own if not group.cross and queries == keys
                           else tokens(group, "key", keys), layers)  # fmt: skip
    # Towers feed the text, which is what one looks at first.
    last = [name for name in out if name.split()[0] in ("vision", "audio", "qformer")]
    return {name: out[name] for name in [*(n for n in out if n not in last), *last]}


def _name(group: Group, towers: set[str]) -> str:
    if not group.cross:
        return group.tower
    return (
        "cross"
        if group.tower in ("decoder", "self") or len(towers) == 1
        else f"{group.tower} cross"
    )
