"""Layers over one pair of token sequences."""

from __future__ import annotations

from dataclasses import dataclass

from .layer import Layer
from .tokens import Tokens


@dataclass(frozen=True)
class Stack:
    """Attention layers over one pair of token sequences: the queries' and the keys'."""

    queries: Tokens
    keys: Tokens
    layers: tuple[Layer, ...]

    def __post_init__(self) -> None:
        expected = (len(self.queries), len(self.keys))
        for index, layer in enumerate(self.layers):
            if layer.shape != expected:
                raise ValueError(
                    f"layer {index} attends from {layer.shape[0]} to {layer.shape[1]} tokens, but "
                    f"there are {expected[0]} query and {expected[1]} key tokens; give as many "
                    "tokens as the attention has positions"
                )
