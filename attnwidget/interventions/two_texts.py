"""Two texts of as many tokens, a metric of both, and patches of one into the run on the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, SupportsIndex

import torch

from attnwidget.counted import with_minus
from attnwidget.running.forward import run_model
from attnwidget.running.one_text import OneText, one_text

from .by_layer import HeadOutputs, Place
from .difference import row_of
from .patch_scan import (
    Text,
    _Cell,
    _check_differs,
    _Editor,
    _labels,
    _like,
    _metric,
    _read,
    _stack,
)
from .scan import repeated
from .sites import SiteFinder, Sites, followed

Measured = Callable[[Any], Any] | Literal["logit difference"]


@dataclass(frozen=True)
class TwoTexts:
    """A clean and a corrupt text, and a metric that differs between both.

    Attributes:
        model: the model, to be used undisturbed.
        clean, corrupt: the texts.
        metric: from the output for one text to a number.
        name: of the metric.
        before, after: the metric of the corrupt text, and of the clean one.
        sites: the attention calls of the model.
        stack: the name of the chosen stack.
    """

    model: torch.nn.Module
    clean: OneText
    corrupt: OneText
    metric: Callable[[Any], Any]
    name: str
    before: float
    after: float
    sites: Sites
    stack: str

    def share(self, number: float) -> float:
        """A change of the metric as a share of that from the corrupt text to the clean one."""
        return number / (self.after - self.before)

    @property
    def both(self) -> str:
        """The meaning of the numbers 0 and 1, in words."""
        return (
            f"0 is that of the corrupt text, {with_minus(self.before, '.4g')}, and 1 that of the "
            f"clean one, {with_minus(self.after, '.4g')}"
        )

    def labels(self, length: int) -> tuple[str, ...]:
        """The labels of positions."""
        return _labels(self.corrupt, self.clean, length)

    def read(self, at: Place, text: OneText) -> HeadOutputs:
        """The numbers at a place of all layers for a text.

        Raises:
            ValueError: the model has no such place.
        """
        return _read(self.model, at, self.sites.found, self.stack, text.batch)

    def patched(
        self,
        cells: Sequence[_Cell],
        at: Place,
        source: HeadOutputs,
        batch_size: int,
        editor_of: Callable[..., _Editor] = _Editor,
    ) -> Iterator[float]:
        """The share of the metric that each cell restores, patched exactly."""
        batch, rows = repeated(self.corrupt.batch, min(batch_size, max(1, len(cells))))
        editor = editor_of(self.model, self.sites.found, self.stack, at, rows, [source])
        for first in range(0, len(cells), rows):
            editor.cells = list(cells[first : first + rows])
            with editor.following(interface_only=False):
                output = run_model(self.model, batch, all_logits=True)
            for row in range(len(editor.cells)):
                yield self.share(float(self.metric(row_of(output, row, rows))) - self.before)


def two_texts(
    model: torch.nn.Module,
    tokenizer: Any,
    clean: Text,
    corrupt: Text,
    metric: Measured,
    token: str | SupportsIndex | None,
    against: str | SupportsIndex | None,
    position: int,
    stack: str | None,
) -> TwoTexts:
    """Run an undisturbed model on both texts.

    Raises:
        TypeError, ValueError, IndexError: see `attnwidget.patch_scan`.
    """
    given = one_text(model, tokenizer, corrupt, None, None, 0)
    other = _like(model, tokenizer, clean, given, "clean")
    measure, name = _metric(model, tokenizer, given, metric, token, against, position)
    plain, sites, _ = followed(model, given.batch, SiteFinder())
    before = float(measure(plain))
    after = float(measure(run_model(model, other.batch, all_logits=True)))
    _check_differs(name, before, after)
    return TwoTexts(
        model, other, given, measure, name, before, after, sites, _stack(sites.found, stack)
    )
