"""The difference between a model's outputs, as one number for each text of a batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from attnwidget.analysis import Numbers
from attnwidget.running.one_text import OneText

from .skipping import row_of
from .text_output import answer_of, kept_positions, no_answer


class Difference:
    """The difference of outputs from a plain one.

    Args:
        model: the model.
        given: the text.
        plain: the output without a change; every row is the same text.
        rows: the number of rows.
        metric: from the output for one text to a number, of which the change is measured; None for
            the divergence of predictions, or the turn of hidden states.

    Attributes:
        name: what the number is, in a word.
        unit: of the number, as "nats"; "" for none.

    Raises:
        ValueError: the model returns neither logits nor hidden states, and there is no metric.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        given: OneText,
        plain: Any,
        rows: int,
        metric: Callable[[Any], float] | None,
    ) -> None:
        self._rows = rows
        self._metric = metric
        self.unit = ""
        if metric is not None:
            self.name = getattr(metric, "__name__", "metric")
            self._what = f"Change of {self.name} without {{}}"
            self._plain_metric = float(metric(row_of(plain, 0, rows)))
            return
        answer = answer_of(plain)
        if answer is None:
            raise no_answer(model)
        self._field = answer
        if answer == "logits":
            self.name, self.unit = "divergence", "nats"
            self._what = (
                "KL divergence of the predictions without {} from those of the whole model, in "
                "nats, the mean over positions"
            )
        else:
            self.name = "moved"
            self._what = (
                "One minus the cosine of the hidden states with and without {}, the mean over "
                "positions"
            )
        found = getattr(plain, self._field)
        self._kept = None
        if found.ndim == 3:
            self._kept = kept_positions(model, given.row, found.shape[1]).to(found.device)
        # All rows are equal.
        self._plain = self._compared(plain)[: 1 if len(found) == rows else None]

    def description(self, off: str) -> str:
        """The number in a sentence.

        Args:
            off: what is switched off.
        """
        return self._what.format(off)

    def __call__(self, output: Any) -> Numbers:
        """The difference of each row's output from the plain one, float64 [rows]."""
        found: Numbers
        if self._metric is not None:
            numbers = [self._metric(row_of(output, row, self._rows)) for row in range(self._rows)]
            found = torch.tensor(numbers, dtype=torch.float64).numpy() - self._plain_metric
            return found
        before, after = self._plain, self._compared(output)
        if self._field == "logits":
            # A masked class, -inf in both, counts nothing.
            change = torch.where(before > -torch.inf, before - after, 0)
            each = (before.exp() * change).sum(dim=-1).clamp(min=0)
        else:
            each = 1 - torch.cosine_similarity(before, after, dim=-1).clamp(-1, 1)
        found = each.reshape(self._rows, -1).mean(dim=1).cpu().double().numpy()
        return found

    def _compared(self, output: Any) -> torch.Tensor:
        """Log probabilities or states of the text's own positions, [rows, ..., n]."""
        found: torch.Tensor = getattr(output, self._field).detach()
        if self._kept is not None and len(self._kept) < found.shape[1]:
            found = found[:, self._kept]
        if self._field == "logits":
            return found.float().log_softmax(dim=-1)
        return found.cpu().double()
