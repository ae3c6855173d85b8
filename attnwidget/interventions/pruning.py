"""The steps from a model and texts to the loss without more and more heads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch

from attnwidget.analysis import HeadScores
from attnwidget.arguments import whole_number
from attnwidget.progress import step_done
from attnwidget.running.batches import TextBatch, text_batches
from attnwidget.running.forward import run_model
from attnwidget.running.model import traceable
from attnwidget.running.texts import Texts
from attnwidget.tracing import undisturbed

from .editor import editing
from .edits import Ablate, Mode
from .losses import Loss, text_losses
from .prune_curve import Head, PruneCurve
from .sites import Site, find_sites


def curve(
    model: torch.nn.Module,
    tokenizer: Any,
    texts: Texts,
    order: HeadScores | Iterable[tuple[Any, ...]],
    *,
    loss: Loss | None,
    mode: Mode,
    points: int,
    random_orders: int,
    batch_size: int,
    max_tokens: int | None,
    seed: int,
) -> PruneCurve:
    """See `attnwidget.prune_curve`."""
    model = traceable(model)
    batches = list(text_batches(model, tokenizer, texts, batch_size, max_tokens))
    if not batches:
        raise ValueError("there are no texts, or none with tokens but special ones")
    sites = find_sites(model, batches[0]).found
    heads = _ordered(order, sites)
    counts = tuple(np.unique(np.linspace(0, len(heads), points).round().astype(int)).tolist())
    random = np.random.default_rng(seed)
    orders = [heads, *(_shuffled(heads, random) for _ in range(random_orders))]

    def mean_loss(off: Sequence[Head]) -> float:
        losses = [_losses(model, batch, off, sites, mode, loss) for batch in batches]
        step_done()
        return float(np.concatenate(losses).mean())

    whole = mean_loss([])
    found = np.array(
        [[whole, *(mean_loss(each[:count]) for count in counts[1:])] for each in orders]
    )
    return PruneCurve(tuple(heads), counts, found[0], found[1:])


def _losses(
    model: torch.nn.Module,
    batch: TextBatch,
    off: Sequence[Head],
    sites: Sequence[Site],
    mode: Mode,
    loss: Loss | None,
) -> Any:
    """The loss of each text of a batch without some heads."""
    of_layer: dict[tuple[str, int], list[int]] = {}
    for stack, layer, head in off:
        of_layer.setdefault((stack, layer), []).append(head)
    edits = [Ablate(layer, heads, stack, mode) for (stack, layer), heads in of_layer.items()]
    with undisturbed(model), editing(model, edits, sites):
        output = run_model(model, batch, all_logits=True)
        return text_losses(model, output, batch, loss).cpu().double().numpy()


def _ordered(order: HeadScores | Iterable[tuple[Any, ...]], sites: Sequence[Site]) -> list[Head]:
    """The heads in order: by the absolute numbers, the smallest first, or as they are listed."""
    stacks = list(dict.fromkeys(site.stack for site in sites))
    if isinstance(order, HeadScores):
        scores = [
            (abs(value), Head(stack, layer, head))
            for stack in order.stacks
            for layer, head, value in order.ranking(stack)
        ]
        heads = [head for _, head in sorted(scores, key=lambda each: each[0])]
    else:
        heads = _listed(order, stacks)
    counts = {(site.stack, site.layer): site.heads for site in sites}
    for stack, layer, head in heads:
        if not 0 <= head < counts.get((stack, layer), 0):
            raise ValueError(f"the model has no head {head} in layer {layer} of stack {stack!r}")
    if not heads or len(set(heads)) < len(heads):
        raise ValueError("order has no head" if not heads else "order has a head twice")
    return heads


def _listed(order: Any, stacks: Sequence[str]) -> list[Head]:
    """The heads of a list; where there is one stack, they need not name it."""
    try:
        entries = [tuple(entry) for entry in order]
        heads = [
            Head((stack or stacks)[0], whole_number(layer), whole_number(head))
            for *stack, layer, head in entries
        ]
    except (TypeError, ValueError):
        raise TypeError(
            f"order is {order!r:.100}; expected what head_importance or ablation_scan returns, or "
            "(layer, head) pairs, as [(1, 5), (0, 3)]"
        ) from None
    if len(stacks) > 1 and any(len(entry) == 2 for entry in entries):
        raise ValueError(f"the model has several stacks; give (stack, layer, head): {stacks}")
    return heads


def _shuffled(heads: Sequence[Head], random: np.random.Generator) -> list[Head]:
    return [heads[number] for number in random.permutation(len(heads))]
