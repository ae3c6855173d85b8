"""Gradients of a loss by the attention weights of one text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from attnwidget.capture import text_weights
from attnwidget.record import Floats, Tokens
from attnwidget.running.items import Item, Items
from attnwidget.running.model import traceable
from attnwidget.running.one_text import one_text
from attnwidget.running.stacks import Group, kind_of
from attnwidget.tracing import Call, MixingCall, head_values

from .by_layer import ByLayer
from .gradients import Loss, output_gradients
from .left_out import coefficients


@dataclass(frozen=True)
class LayerGradients:
    """One attention layer.

    Attributes:
        weights: the attention weights A, float32 [heads, Tq, Tk]; coefficients without a softmax.
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
class AttentionGradients(ByLayer[LayerGradients]):
    """Attention weights of one text, and the gradients of a loss by each of them.

    Attributes:
        loss: the loss.
        tokens: by stack, the queries' tokens and the keys'.
    """

    loss: float = field(kw_only=True)
    tokens: Mapping[str, tuple[Tokens, Tokens]] = field(kw_only=True, repr=False)

    def weights(self, layer: int, head: int, stack: str | None = None) -> Floats:
        """The attention weights of a head, float32 [Tq, Tk].

        Raises:
            KeyError, IndexError: there is no such stack, layer or head.
        """
        return _of_head(self.layer(layer, stack).weights, layer, head)

    def gradients(self, layer: int, head: int, stack: str | None = None) -> Floats:
        """∂L/∂A of a head, float32 [Tq, Tk]; raises as `weights`."""
        return _of_head(self.layer(layer, stack).gradients, layer, head)

    def products(self, layer: int, head: int, stack: str | None = None) -> Floats:
        """A · ∂L/∂A of a head, float32 [Tq, Tk]; raises as `weights`."""
        return _of_head(self.layer(layer, stack).products, layer, head)


def _of_head(matrices: Floats, layer: int, head: int) -> Floats:
    if not 0 <= head < len(matrices):
        raise IndexError(f"head {head} does not exist: layer {layer} has {len(matrices)} heads")
    found: Floats = matrices[head]
    return found


def attention_gradients(
    model: torch.nn.Module,
    tokenizer: Any,
    text: str | Mapping[str, Any],
    text_pair: str | None = None,
    *,
    target: str | None = None,
    batch_index: int = 0,
    loss: Loss | None = None,
) -> AttentionGradients:
    """Differentiate a loss by every attention weight of one text, or coefficient.

    Clark et al. 2019, "What Does BERT Look At?", section 3.2: where ∂L/∂A is small, the model's
    loss hardly depends on the attention, however large it is.

    Args:
        model, tokenizer, text, text_pair, target, batch_index: see `attnwidget.capture`.
        loss: see `head_importance`.

    Returns:
        Weights, gradients and their products, [Tq, Tk] for each head.

    Raises:
        TypeError, ValueError, IndexError: see `attnwidget.capture` and `head_importance`.
    """
    model = traceable(model)
    given = one_text(model, tokenizer, text, text_pair, target, batch_index)
    items = Items(model, given.row)
    total, found, missed = output_gradients(
        model, given.batch, loss, lambda own, call: _factors(call, items.of(own), own.module)
    )
    missing = list(missed)
    layers: dict[str, dict[int, LayerGradients]] = {}
    tokens: dict[str, tuple[Tokens, Tokens]] = {}
    for each in found:
        if isinstance(each.kept, str):
            missing.append(f"{each.site.module}: {each.kept}")
            continue
        assert isinstance(each.kept, _Factors)
        layer = each.kept.gradients(each.gradient)
        layers.setdefault(each.site.stack, {})[each.site.layer] = layer
        group = Group(kind_of(model, each.site.id))
        _, num_queries, num_keys = layer.weights.shape
        labels = given.sequences.labels(group, (num_queries, num_keys))
        tokens[each.site.stack] = labels.queries, labels.keys
    if not layers:
        raise ValueError(f"no attention has gradients by its weights: {'; '.join(missing)}")
    return AttentionGradients(layers, tuple(missing), loss=total, tokens=tokens)


@dataclass(frozen=True)
class _Factors:
    """The factors of the gradient by weights, beside the gradient by head outputs.

    Attributes:
        item: the text.
        weights: [heads, Tq, Tk], without padding.
        values: [M, heads, Tk, d_v].
    """

    item: Item
    weights: Floats
    values: torch.Tensor

    def gradients(self, by_output: torch.Tensor) -> LayerGradients:
        """Outputs are weights times values, so the gradient is this one times the values."""
        whole = by_output.float() @ self.values.float().mT
        selection = self.item.select(len(whole), (whole.shape[2], whole.shape[3]))
        windows = whole[selection.windows].cpu()[:, :, selection.queries][..., selection.keys]
        count, heads, queries, keys = windows.shape
        # Windows attend within themselves: they are blocks on the diagonal of the whole.
        blocks = torch.zeros(heads, count, queries, count, keys)
        diagonal = torch.arange(count)
        blocks[:, diagonal, :, diagonal] = windows
        whole_rows = blocks.reshape(heads, count * queries, count * keys)
        return LayerGradients(self.weights, whole_rows.numpy())


def _factors(call: Call | MixingCall, item: Item, name: str) -> _Factors | str:
    """The factors of a call, or the reason why they are not known."""
    if isinstance(call, MixingCall):
        return _of_coefficients(call, item)
    try:
        with torch.no_grad():
            values = head_values(call).detach()
            [weights] = text_weights(call, [item], name)
    except ValueError as error:
        return str(error)
    return _Factors(item, weights, values)


def _of_coefficients(call: MixingCall, item: Item) -> _Factors | str:
    """The factors of a call without a softmax, whose outputs are coefficients times values."""
    if call.strengths is None:
        return "it mixes every channel by itself, so that no single number weighs a token's value"
    _, heads, tokens, _ = call.output.shape
    selection = item.select(len(call.value), (tokens, tokens))
    with torch.no_grad():
        found = coefficients(call.strengths, heads, torch.arange(tokens))[selection.windows]
    if len(found) != 1:
        return "it mixes several rows of an item, which are no one text"
    own = found[0].cpu()[:, selection.queries][..., selection.keys]
    return _Factors(item, own.float().numpy(), call.value.detach())
