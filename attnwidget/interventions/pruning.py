"""The loss of a model on texts without more and more heads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from attnwidget.analysis import HeadScores, Numbers, Tabular, data_frame
from attnwidget.arguments import checked, entries, whole, whole_number
from attnwidget.progress import progress_bar, step_done
from attnwidget.running.batches import TextBatch, text_batches
from attnwidget.running.forward import run_model
from attnwidget.running.model import traceable
from attnwidget.running.texts import Texts
from attnwidget.tracing import undisturbed

from .editor import editing
from .edits import Ablate, Mode, known_mode
from .gradients import Loss, text_losses
from .sites import Site, SiteFinder, followed, usual_stacks

if TYPE_CHECKING:
    import pandas as pd


class Head(NamedTuple):
    """A head of a model."""

    stack: str
    layer: int
    head: int


@dataclass(frozen=True)
class PruneCurve(Tabular):
    """The loss as heads are switched off one after the other, beside random orders.

    Attributes:
        order: the heads in the order in which they go.
        counts: the numbers of heads that are off, [points].
        losses: the mean loss of the texts, float64 [points].
        random: the same for heads in random orders, float64 [orders, points].
    """

    order: tuple[Head, ...] = field(repr=False)
    counts: tuple[int, ...]
    losses: Numbers
    random: Numbers = field(repr=False)

    @property
    def shares(self) -> tuple[float, ...]:
        """The shares of heads that are off, [points]."""
        return tuple(count / len(self.order) for count in self.counts)

    def removable(self, tolerance: float = 0.05) -> int:
        """The number of heads that can go until the loss first grows by more than this share."""
        limit = self.losses[0] + tolerance * abs(self.losses[0])
        within = 0
        for count, loss in zip(self.counts, self.losses, strict=True):
            if loss > limit:
                break
            within = count
        return within

    def table(self) -> pd.DataFrame:
        """The curve as a table of pandas: heads off, their share, loss, and random orders' mean,
        lowest and highest loss.

        Raises:
            ModuleNotFoundError: pandas is not installed.
        """
        columns: dict[str, Any] = {
            "heads": self.counts,
            "share": self.shares,
            "loss": self.losses,
        }
        if len(self.random):
            columns |= {
                "random": self.random.mean(axis=0),
                "random_low": self.random.min(axis=0),
                "random_high": self.random.max(axis=0),
            }
        return data_frame(columns)


@checked(mode=known_mode, points=whole(2), random_orders=whole(0), seed=whole(0))
def prune_curve(
    model: torch.nn.Module,
    tokenizer: Any,
    texts: Texts,
    order: HeadScores | Iterable[tuple[Any, ...]],
    *,
    loss: Loss | None = None,
    mode: Mode = "zero",
    points: int = 11,
    random_orders: int = 3,
    batch_size: int = 16,
    max_tokens: int | None = None,
    seed: int = 0,
) -> PruneCurve:
    """Switch off more and more heads, and measure the loss, beside heads in random order.

    Michel et al. 2019, figure 3.

    Args:
        model, tokenizer, texts, batch_size, max_tokens: see `attnwidget.profile`.
        order: numbers of all heads (`head_importance`, `ablation_scan`), the smallest absolute one
            goes first; or the heads in order, each (layer, head), or (stack, layer, head).
        loss: see `head_importance`.
        mode: what replaces a head's output, see `Ablate`.
        points: the number of points, evenly spread from no head to all that are in the order.
        random_orders: the number of random orders of the same heads; 0 for none.
        seed: of the random orders.

    Raises:
        TypeError, ValueError: see `head_importance`; or the model lacks a head of the order, or
            the order has one twice.
    """
    model = traceable(model)
    batches = list(text_batches(model, tokenizer, texts, batch_size, max_tokens))
    if not batches:
        raise ValueError("there are no texts, or none with tokens but special ones")
    with undisturbed(model):
        _, sites, _ = followed(model, batches[0], SiteFinder())
    heads = _ordered(order, sites.found)
    counts = tuple(np.unique(np.linspace(0, len(heads), points).round().astype(int)).tolist())
    random = np.random.default_rng(seed)
    drawn = (random.permutation(len(heads)) for _ in range(random_orders))
    orders = [heads, *([heads[number] for number in each] for each in drawn)]

    def mean_loss(off: Sequence[Head]) -> float:
        losses = [_losses(model, batch, off, sites.found, mode, loss) for batch in batches]
        step_done()
        return float(np.concatenate(losses).mean())

    with progress_bar("Pruning", "points", 1 + (points - 1) * (1 + random_orders)):
        whole_model = mean_loss([])
        found = np.array(
            [[whole_model, *(mean_loss(each[:count]) for count in counts[1:])] for each in orders]
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
    stacks = usual_stacks(sites)
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
    expected = (
        "what head_importance or ablation_scan returns, or (layer, head) pairs, as [(1, 5), (0, 3)]"
    )
    given = entries("order", order, expected)
    try:
        listed = [tuple(entry) for entry in given]
        heads = [
            Head((stack or stacks)[0], whole_number(layer), whole_number(head))
            for *stack, layer, head in listed
        ]
    except (TypeError, ValueError):
        raise TypeError(f"order is {order!r:.100}; expected {expected}") from None
    if len(stacks) > 1 and any(len(entry) == 2 for entry in listed):
        raise ValueError(f"the model has several stacks; give (stack, layer, head): {stacks}")
    return heads
