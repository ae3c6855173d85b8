"""The steps from a model and a text to the gradients of a loss by its attention weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from attnwidget.capture.weights import text_weights
from attnwidget.record import Floats, Tokens
from attnwidget.running.items import Item, Items
from attnwidget.running.model import is_encoder_decoder, traceable
from attnwidget.running.one_text import OneText, one_text
from attnwidget.running.stacks import Group, is_cross, tower
from attnwidget.tracing import Call, head_values

from .attention_gradients import AttentionGradients, LayerGradients
from .gradients import output_gradients
from .losses import Loss


def gradients_of_weights(
    model: torch.nn.Module,
    tokenizer: Any,
    text: str | Mapping[str, Any],
    text_pair: str | None,
    *,
    target: str | None,
    batch_index: int,
    loss: Loss | None,
) -> AttentionGradients:
    """See `attnwidget.attention_gradients`."""
    model = traceable(model)
    given = one_text(model, tokenizer, text, text_pair, target, batch_index)
    items = Items(given.row, two=is_encoder_decoder(model))
    total, found, missed = output_gradients(
        model, given.batch, loss, lambda name, call: _factors(call, items.of(name)[0], name)
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
        tokens[each.site.stack] = _tokens(given, each.site.module, layer.weights.shape[1:])
    if not layers:
        raise ValueError(f"no attention has gradients by its weights: {'; '.join(missing)}")
    return AttentionGradients(total, layers, tokens, tuple(missing))


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


def _factors(call: Call, item: Item, name: str) -> _Factors | str:
    """The factors of a call, or the reason why they are not known."""
    try:
        with torch.no_grad():
            values = head_values(call).detach()
            [weights] = text_weights(call, [item], name)
    except ValueError as error:
        return str(error)
    return _Factors(item, weights, values)


def _tokens(given: OneText, module: str, shape: tuple[int, ...]) -> tuple[Tokens, Tokens]:
    """The tokens of the queries and of the keys of a module's calls."""
    group = Group(tower(module), is_cross(module))
    queries = given.sequences.tokens(group, "query", shape[0])
    if not group.cross and shape[0] == shape[1]:
        return queries, queries
    return queries, given.sequences.tokens(group, "key", shape[1])
