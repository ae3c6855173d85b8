"""The importance of every head: the change of a loss if its output grows or shrinks a little."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
import torch

from attnwidget.analysis import HeadScores, Numbers
from attnwidget.progress import step_done
from attnwidget.running.batches import text_batches
from attnwidget.running.model import traceable
from attnwidget.running.texts import Texts

from .gradients import check_gradients, output_gradients
from .losses import Loss
from .sites import Site, empty_rows

Per = Literal["text", "token", "batch"]

_DESCRIPTIONS: dict[Per, str] = {
    "text": "|∂L/∂ξ|, the mean over texts",
    "token": "|∂L/∂ξ| of each query position, the sum over a text's, the mean over texts",
    "batch": "|∂L/∂ξ| of a batch's mean loss, the mean over batches",
}


def importance_of_heads(
    model: torch.nn.Module,
    tokenizer: Any,
    texts: Texts,
    *,
    loss: Loss | None,
    per: Per,
    normalize: bool,
    batch_size: int,
    max_tokens: int | None,
) -> HeadScores:
    """See `attnwidget.head_importance`."""
    if per not in get_args(Per):
        expected = ", ".join(map(repr, get_args(Per)))
        raise ValueError(f"per is {per!r}; expected one of {expected}")
    model = traceable(model)
    check_gradients(model)
    sites: dict[tuple[str, int], Site] = {}
    sums: dict[tuple[str, int], Numbers] = {}
    missing: dict[str, None] = {}
    count = texts_read = 0
    for batch in text_batches(model, tokenizer, texts, batch_size, max_tokens):
        size = len(batch.texts)
        _, found, missed = output_gradients(model, batch, loss)
        missing |= dict.fromkeys(missed)
        for each in found:
            by_text = _by_text(each.output, each.gradient, size, each.site.module)
            key = each.site.stack, each.site.layer
            sites[key] = each.site
            sums[key] = sums.get(key, 0) + _importance(by_text, per)
        count += 1 if per == "batch" else size
        texts_read += size
        for _ in range(size):
            step_done()
    if not count:
        raise ValueError("there are no texts, or none with tokens but special ones")
    rows = empty_rows(sites.values())
    for (stack, layer), total in sums.items():
        own = total / count
        if normalize:
            own = own / max(float(np.linalg.norm(own)), np.finfo(float).tiny)
        rows[stack][layer] = own
    description = f"Importance (Michel et al. 2019): {_DESCRIPTIONS[per]}"
    if normalize:
        description += "; divided by the ℓ2 norm of its layer"
    return HeadScores(
        "importance", description, rows, measured_on=f"{texts_read} texts", missing=tuple(missing)
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
