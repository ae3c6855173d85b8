"""Arrays of every layer from one pass of a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

from attnwidget.counted import counted
from attnwidget.record import Floats, of_stack, spans

T = TypeVar("T")

AtHeads = Literal["head", "projection", "queries", "keys", "values", "weights"]

AtStream = Literal["embedding", "residual pre", "residual mid", "residual post", "attention", "mlp"]

Place = AtHeads | AtStream


@dataclass(frozen=True)
class ByLayer(Generic[T]):
    """The findings of every layer.

    Attributes:
        layers: by stack, by the layer's number in the model.
        missing: attention of which it is not known, as "module: reason".
    """

    layers: Mapping[str, Mapping[int, T]] = field(repr=False)
    missing: tuple[str, ...] = ()

    @property
    def stacks(self) -> tuple[str, ...]:
        """Names of the stacks, as those of `AttentionRecord.stacks`."""
        return tuple(self.layers)

    def layer(self, layer: int, stack: str | None = None) -> T:
        """Look up the findings of a layer; of the first stack if `stack` is None.

        Raises:
            KeyError, IndexError: there is no such stack or layer.
        """
        layers = of_stack(self.layers, stack, "this pass")
        if layer not in layers:
            raise IndexError(f"layer {layer} does not exist: this stack has {spans(tuple(layers))}")
        return layers[layer]


@dataclass(frozen=True, repr=False)
class HeadOutputs(ByLayer[Floats]):
    """The outputs of heads before the output projection, or what is at another place.

    Of each layer, float32 [texts, heads, queries, d_v] (of a model that attends within windows,
    [texts * windows, ...]); of a place without heads, [texts, 1, tokens, width].

    Attributes:
        at: the place, as of `Ablate`.
        over: what they are the mean of, as "12 texts, by position"; "" for those of one run.
    """

    at: Place = "head"
    over: str = ""

    def __repr__(self) -> str:
        stacks = "; ".join(
            f"{name}: {counted(len(layers), 'layer')}" for name, layers in self.layers.items()
        )
        at = "" if self.at == "head" else f"{self.at}, "
        mean = f", the mean over {self.over}" if self.over else ""
        return f"<HeadOutputs {at}{stacks}{mean}>"
