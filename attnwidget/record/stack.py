"""Layers over one pair of token sequences."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from .layer import Layer
from .tokens import Tokens


@dataclass(frozen=True)
class Stack:
    """Attention layers over one pair of token sequences: the queries' and the keys'.

    Their numbers increase, but need not be 0, 1, 2, ...: see `Layer.number`.
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
        numbers = self.numbers
        if any(a >= b for a, b in pairwise(numbers)):
            raise ValueError(f"layer numbers must increase, and are {list(numbers)}")

    @property
    def numbers(self) -> tuple[int, ...]:
        """The layers' numbers in the model."""
        return tuple(layer.number for layer in self.layers)

    def layer(self, number: int) -> Layer:
        """The layer of this number.

        Raises:
            IndexError: there is none.
        """
        for layer in self.layers:
            if layer.number == number:
                return layer
        raise IndexError(f"layer {number} does not exist: this stack has {spans(self.numbers)}")


def spans(numbers: tuple[int, ...]) -> str:
    """Increasing numbers as text, e.g. "layers 0 to 5" or "layers 3, 7, 11"."""
    first, last = numbers[0], numbers[-1]
    if len(numbers) == 1:
        return f"layer {first} alone"
    if last - first == len(numbers) - 1:
        return f"{len(numbers)} layers, {first} to {last}"
    return f"layers {', '.join(map(str, numbers))}"
