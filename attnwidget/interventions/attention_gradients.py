"""Gradients of a loss by attention weights, as numpy arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from attnwidget.record import Floats, Tokens, spans


@dataclass(frozen=True)
class LayerGradients:
    """One attention layer.

    Attributes:
        weights: the attention weights A, float32 [heads, Tq, Tk].
        gradients: ∂L/∂A, of each weight as if it could change alone, in the same shape.
    """

    weights: Floats
    gradients: Floats

    @property
    def products(self) -> Floats:
        """A · ∂L/∂A: to first order, the loss falls by so much if the weight is zero.

        Its sum over a head's weights is ∂L/∂ξ of `head_importance`.
        """
        return self.weights * self.gradients


@dataclass(frozen=True)
class AttentionGradients:
    """Attention weights of one text, and the gradients of a loss by each of them.

    Attributes:
        loss: the loss.
        layers: by stack, by the layer's number in the model.
        tokens: by stack, the queries' tokens and the keys'.
        missing: attention without gradients, as "module: reason".
    """

    loss: float
    layers: Mapping[str, Mapping[int, LayerGradients]] = field(repr=False)
    tokens: Mapping[str, tuple[Tokens, Tokens]] = field(repr=False)
    missing: tuple[str, ...]

    @property
    def stacks(self) -> tuple[str, ...]:
        """Names of the stacks, as those of `AttentionRecord.stacks`."""
        return tuple(self.layers)

    def weights(self, layer: int, head: int, stack: str | None = None) -> Floats:
        """The attention weights of a head, float32 [Tq, Tk].

        Raises:
            KeyError, IndexError: there is no such stack, layer or head.
        """
        return self._of_head(self.layer(layer, stack).weights, layer, head)

    def gradients(self, layer: int, head: int, stack: str | None = None) -> Floats:
        """∂L/∂A of a head, float32 [Tq, Tk]; raises as `weights`."""
        return self._of_head(self.layer(layer, stack).gradients, layer, head)

    def products(self, layer: int, head: int, stack: str | None = None) -> Floats:
        """A · ∂L/∂A of a head, float32 [Tq, Tk]; raises as `weights`."""
        return self._of_head(self.layer(layer, stack).products, layer, head)

    def layer(self, layer: int, stack: str | None = None) -> LayerGradients:
        """A layer of a stack; of the first stack if `stack` is None.

        Raises:
            KeyError, IndexError: there is no such stack or layer.
        """
        name = self.stacks[0] if stack is None else stack
        if name not in self.layers:
            raise KeyError(f"no stack {name!r:.200}; there are {', '.join(self.stacks)}")
        layers = self.layers[name]
        if layer not in layers:
            raise IndexError(f"layer {layer} does not exist: this stack has {spans(tuple(layers))}")
        return layers[layer]

    def _of_head(self, matrices: Floats, layer: int, head: int) -> Floats:
        if not 0 <= head < len(matrices):
            raise IndexError(f"head {head} does not exist: layer {layer} has {len(matrices)} heads")
        found: Floats = matrices[head]
        return found
