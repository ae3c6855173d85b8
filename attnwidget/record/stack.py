"""Layers over one pair of token sequences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from attnwidget.arguments import instance

from .layer import Layer
from .tokens import Tokens

_LONGEST_NAME = 200

_T = TypeVar("_T")


@dataclass(frozen=True)
class Stack:
    """Attention layers over one pair of token sequences: the queries' and the keys'.

    The layers' numbers increase, but need not be 0, 1, 2, ...: see `Layer.number`.
    """

    queries: Tokens
    keys: Tokens
    layers: tuple[Layer, ...]

    def __post_init__(self) -> None:
        expected = (len(self.queries), len(self.keys))
        for layer in self.layers:
            if layer.shape != expected:
                raise ValueError(
                    f"layer {layer.number} attends from {layer.shape[0]} to {layer.shape[1]} "
                    f"tokens, but there are {expected[0]} query and {expected[1]} key tokens; "
                    "give as many tokens as the attention has positions"
                )
        if len({(layer.signed, layer.coefficients is None) for layer in self.layers}) > 1:
            raise ValueError(
                "layers with a softmax, with coefficients of heads and with those of channels are "
                "of stacks of their own"
            )
        numbers = self.numbers
        if any(a >= b for a, b in pairwise(numbers)):
            raise ValueError(f"layer numbers must increase, but are {list(numbers)}")

    @property
    def signed(self) -> bool:
        """True if its layers have no softmax, and so coefficients in place of weights."""
        return self.layers[0].signed

    @property
    def of_channels(self) -> bool:
        """True if its coefficients are contributions of channels: see `Layer.coefficients`."""
        return self.layers[0].of_channels

    @property
    def numbers(self) -> tuple[int, ...]:
        """The layers' numbers in the model."""
        return tuple(layer.number for layer in self.layers)

    def layer(self, number: int) -> Layer:
        """The layer of this number.

        Raises:
            IndexError: there is no such layer.
        """
        for layer in self.layers:
            if layer.number == number:
                return layer
        raise IndexError(f"layer {number} does not exist: this stack has {spans(self.numbers)}")


A_STACK = instance(Stack, "a Stack, as of record.stack()")
"""The check of an argument that is one, and no record of several."""


def of_stack(by_name: Mapping[str, _T], stack: str | None, owner: str) -> _T:
    """The entry of a stack; of the first one if `stack` is None.

    Args:
        owner: what the stacks are of, as "this record".

    Raises:
        KeyError: there is no such stack.
    """
    if stack is None:
        return next(iter(by_name.values()))
    if stack not in by_name:
        raise KeyError(f"no stack {stack!r:.200}; {owner} has {', '.join(by_name)}")
    return by_name[stack]


def check_name(name: object) -> None:
    """Raise a ValueError if menus and messages cannot show this name of a stack."""
    if not isinstance(name, str) or not 1 <= len(name) <= _LONGEST_NAME or not name.isprintable():
        raise ValueError(
            f"a stack is named {name!r:.100}; expected printable text of 1 to {_LONGEST_NAME} "
            "characters"
        )


def spans(numbers: tuple[int, ...]) -> str:
    """Describe increasing layer numbers, e.g. "6 layers, 0 to 5" or "layers 0–2, 5"."""
    first, last = numbers[0], numbers[-1]
    if len(numbers) == 1:
        return f"layer {first} alone"
    if last - first == len(numbers) - 1:
        return f"{len(numbers)} layers, {first} to {last}"
    return f"layers {runs(numbers)}"


def runs(numbers: Iterable[int]) -> str:
    """Format increasing numbers as "0–2, 5"."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][-1] == number - 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(f"{run[0]}–{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in parts)
