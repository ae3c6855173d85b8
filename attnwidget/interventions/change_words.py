"""The words for what is changed in a model, which its records carry in their names."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple, cast

from .edits import Ablate, Chosen, Edit, Intervention, KnockOut, Mode, Scale, listed

# More heads, or whole layers, are counted.
_MOST = 4

_WORDS: dict[Mode, str] = {
    "zero": "without",
    "mean": "with the mean of",
    "uniform": "with uniform attention in",
    "self": "with attention to itself in",
}


class Change(NamedTuple):
    """An intervention, and where it is.

    Attributes:
        layers: the numbers of its layers.
        stack: the name of its stack; "" if the model has no other.
        signed: True if that has no softmax.
    """

    intervention: Intervention
    layers: tuple[int, ...]
    stack: str
    signed: bool = False


def in_words(changes: Iterable[Change]) -> str:
    """The changes as "without 1-5, 1-6 (encoder) and with 2 cut links"."""
    units: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    links: defaultdict[tuple[str, str], float] = defaultdict(float)
    for edit, layers, stack, signed in changes:
        if isinstance(edit, KnockOut):
            links[f", {edit.meaning}" if signed else "", stack] += _pairs(edit)
        elif edit.heads is None:
            units[_word(edit), stack] += [f"layer {layer}" for layer in layers]
        else:
            heads = listed(edit.heads, [])
            units[_word(edit), stack] += [f"{layer}-{head}" for layer in layers for head in heads]
    words = [f"{word} {_list(names)}{_of(stack)}" for (word, stack), names in units.items()]
    for (how, stack), count in links.items():
        many = "cut links" if math.isinf(count) else f"{count:.0f} cut links"
        words.append(f"with {'a cut link' if count == 1 else many}{how}{_of(stack)}")
    return " and ".join(words)


def _pairs(edit: KnockOut) -> float:
    """The number of pairs of tokens that it cuts; infinite if a side is all tokens."""
    return math.prod(math.inf if side is None else len(listed(side, [])) for side in edit.sides)


def _word(edit: Edit) -> str:
    if isinstance(edit, Ablate):
        word = _WORDS[edit.mode]
        word = word if edit.over is None else f"with the mean over {edit.over.over} of"
    else:
        word = f"with {edit.factor:g} times" if isinstance(edit, Scale) else "with patched"
    at = "" if edit.at in ("head", "projection") else f" the {edit.at} of"
    if edit.positions is None:
        return f"{word}{at}"
    where = "the last position"
    if edit.positions != "last":
        chosen = listed(cast("Chosen", edit.positions), [])
        where = f"position {chosen[0]}" if len(chosen) == 1 else f"{len(chosen)} positions"
    return f"at {where} {word}{at}"


def _list(names: list[str]) -> str:
    if len(names) <= _MOST:
        return ", ".join(names)
    whole = sum(name.startswith("layer") for name in names)
    counts = {"layers": whole, "heads": len(names) - whole}
    return ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)


def _of(stack: str) -> str:
    return f" ({stack})" if stack else ""
