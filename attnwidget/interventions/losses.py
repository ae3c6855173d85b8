"""Losses of a model on each text of a batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import torch
import torch.nn.functional as F

from attnwidget.running.batches import TextBatch
from attnwidget.tracing import can_generate

Loss: TypeAlias = Callable[[Any, Mapping[str, Any]], torch.Tensor]
"""(the model's output, its inputs by name) -> the loss of each text, [texts]."""


def text_losses(
    model: torch.nn.Module, output: Any, batch: TextBatch, loss: Loss | None
) -> torch.Tensor:
    """The loss of each text, [texts]; by default the mean cross-entropy of the next token.

    Raises:
        TypeError: `loss` returned no tensor.
        ValueError: it has another shape, or the model is no language model and there is no `loss`.
    """
    if loss is None:
        return _next_token_losses(model, output, batch)
    found = loss(output, batch.tensors)
    if not isinstance(found, torch.Tensor):
        raise TypeError(f"loss returned {type(found).__name__}; expected a tensor [texts]")
    count = len(batch.texts)
    if found.ndim == 0 and count == 1:
        return found[None]
    if found.shape != (count,):
        raise ValueError(
            f"loss returned a tensor of shape {list(found.shape)} for a batch of {count} texts; "
            'expected one number per text, as of cross_entropy(..., reduction="none"), or give '
            "batch_size=1"
        )
    return found


def _next_token_losses(model: torch.nn.Module, output: Any, batch: TextBatch) -> torch.Tensor:
    logits = getattr(output, "logits", None)
    if not isinstance(logits, torch.Tensor) or logits.ndim != 3 or not can_generate(model):
        raise ValueError(
            f"{type(model).__name__} predicts no next token, so it has no loss of its own; give "
            "loss=, a function (output, inputs) -> the loss of each text [texts]"
        )
    losses = []
    for text, row in zip(batch.texts, batch.rows, strict=True):
        name, padded = ("input_ids", row.text)
        if row.target is not None:
            name, padded = ("decoder_input_ids", row.target)
        if padded is None or len(padded.kept) < 2:
            raise ValueError(f"text {text.index} has no next token to predict: it has one token")
        kept = padded.kept.to(logits.device)
        ids = batch.tensors[name][row.index, kept]
        losses.append(F.cross_entropy(logits[row.index, kept[:-1]].float(), ids[1:]))
    return torch.stack(losses)
