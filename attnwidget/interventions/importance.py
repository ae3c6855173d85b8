"""The importance of every head: the change of a loss if its output grows or shrinks a little."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import torch

from attnwidget.analysis import HeadScores, Numbers
from attnwidget.arguments import checked, one_of
from attnwidget.counted import counted
from attnwidget.progress import progress_bar, step_done
from attnwidget.running.batches import text_batches
from attnwidget.running.model import traceable
from attnwidget.running.texts import Texts

from .gradients import Loss, check_gradients, output_gradients

Per = Literal["text", "token", "batch"]

_DESCRIPTIONS: dict[Per, str] = {
    "text": "|∂L/∂ξ|, the mean over texts",
    "token": "|∂L/∂ξ| of each query position, the sum over a text's, the mean over texts",
    "batch": "|∂L/∂ξ| of a batch's mean loss, the mean over batches",
}


@checked(per=one_of(Per))
def head_importance(
    model: torch.nn.Module,
    tokenizer: Any,
    texts: Texts,
    *,
    loss: Loss | None = None,
    per: Per = "text",
    normalize: bool = False,
    batch_size: int = 16,
    max_tokens: int | None = None,
) -> HeadScores:
    """Estimate how much a loss depends on each head, for all heads in one backward pass.

    Michel et al. 2019, "Are Sixteen Heads Really Better than One?", section 4: |∂L/∂ξ|, where ξ is
    a factor of the head's output before the output projection, at ξ = 1. To first order, the loss
    of a text changes by -∂L/∂ξ if the head is switched off.

    Args:
        model, tokenizer, texts, batch_size, max_tokens: see `attnwidget.profile`.
        loss: `loss(output, inputs)` gets the model's output and its inputs by name, and returns
            the loss of each text, a tensor [texts]. None for the mean cross-entropy of the next
            token, in nats, which only language models have.
        per: "text" takes the absolute value for each text (the paper's formula), "token" for each
            query position (the paper's code), "batch" of the mean over a batch. The order of heads
            depends on it, because signs of several texts cancel each other.
        normalize: True to divide by the ℓ2 norm over the heads of the same layer, as the paper
            does before it compares layers.

    Returns:
        The importance of every head. The parameters' `grad` stays as it is.

    Raises:
        TypeError: see `attnwidget.profile`, or `loss` returned no tensor.
        ValueError: there are no texts, the model has no loss of its own and `loss` is None, `loss`
            returned another shape, or gradients cannot be computed (torch.inference_mode).
    """
    model = traceable(model)
    check_gradients(model)
    sums: dict[tuple[str, int], Numbers] = {}
    missing: dict[str, None] = {}
    count = texts_read = 0
    num_texts = len(texts) if isinstance(texts, (list, tuple)) else None
    with progress_bar("Differentiating", "texts", num_texts):
        for batch in text_batches(model, tokenizer, texts, batch_size, max_tokens):
            size = len(batch.texts)
            _, found, missed = output_gradients(model, batch, loss)
            missing |= dict.fromkeys(missed)
            for each in found:
                by_text = _by_text(each.output, each.gradient, size, each.site.module)
                key = each.site.stack, each.site.layer
                sums[key] = sums.get(key, 0) + _importance(by_text, per)
            count += 1 if per == "batch" else size
            texts_read += size
            for _ in range(size):
                step_done()
    if not count:
        raise ValueError("there are no texts, or none with tokens but special ones")
    rows: dict[str, dict[int, Numbers]] = {}
    for (stack, layer), total in sums.items():
        own = total / count
        if normalize:
            own = own / max(float(np.linalg.norm(own)), np.finfo(float).tiny)
        rows.setdefault(stack, {})[layer] = own
    description = f"Importance (Michel et al. 2019): {_DESCRIPTIONS[per]}"
    if normalize:
        description += "; divided by the ℓ2 norm of its layer"
    return HeadScores(
        "importance",
        description,
        rows,
        measured_on=counted(texts_read, "text"),
        missing=tuple(missing),
    )


def _by_text(output: torch.Tensor, gradient: torch.Tensor, rows: int, module: str) -> Numbers:
    """∂L/∂ξ of each head at each query position of each text: [texts, heads, positions]."""
    products = (output.float() * gradient.float()).sum(dim=-1)
    if len(products) % rows:
        raise ValueError(
            f"{module} attends within {len(products)} windows of {rows} texts, of which it is not "
            "known which belong to which: give batch_size=1"
        )
    windows = products.reshape(rows, -1, *products.shape[1:]).transpose(1, 2).flatten(2)
    found: Numbers = windows.cpu().double().numpy()
    return found


def _importance(by_text: Numbers, per: Per) -> Numbers:
    """The sum of the importance over texts, or that of the batch: [heads]."""
    found: Numbers
    if per == "token":
        found = np.abs(by_text).sum(axis=(0, 2))
    elif per == "text":
        found = np.abs(by_text.sum(axis=2)).sum(axis=0)
    else:
        found = np.abs(by_text.sum(axis=2).mean(axis=0))
    return found
