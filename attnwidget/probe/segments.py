"""Heads that attend to the segments that somebody has marked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from attnwidget.analysis import Numbers
from attnwidget.corpus import Estimate
from attnwidget.corpus.accumulators import Means
from attnwidget.progress import progress_bar
from attnwidget.record import Floats

from .annotated import Annotated
from .directions import as_metric
from .shares import heads_table
from .source import Null, Pairs, opened
from .word_attention import Heads

if TYPE_CHECKING:
    import pandas as pd
    import torch


@dataclass(frozen=True)
class SegmentScores:
    """The attention of each head to marked words, less that to others; see `segments`.

    Attributes:
        values: the mean weight on a word of a segment, minus that on another word: arrays
            [layers, heads], NaN where a layer has fewer heads than another.
        null_values: the same of random weights, or None.
        numbers: the layers' numbers in the model.
        num_texts: the number of texts with segments.
        left_out: the number of texts with none, or with nothing else.
        lost: the number of words without tokens, because a tokenizer cut them off or dropped them.
        missing: attention that could not be read, as "module: reason".
    """

    values: Estimate = field(repr=False)
    null_values: Estimate | None = field(repr=False)
    numbers: tuple[int, ...]
    num_texts: int
    left_out: int
    lost: int
    missing: tuple[str, ...]

    @property
    def head_weights(self) -> Numbers:
        """The share of each head in a sum of heads that favours those which attend to segments.

        float64 [layers, heads], which sum to 1: the values above 0, divided by their sum; 0 for
        all others.
        """
        positive = np.nan_to_num(self.values.mean).clip(0)
        weights: Numbers = positive / (positive.sum() or 1)
        return weights

    def table(self) -> pd.DataFrame:
        """All heads as a table of pandas, those that attend most to segments first.

        Columns: layer, head, difference, low, high, and null if there is one.

        Raises:
            ModuleNotFoundError: pandas is not installed.
        """
        beside = {} if self.null_values is None else {"null": self.null_values.mean}
        return heads_table("difference", self.values, self.numbers, beside)

    def metrics(self) -> dict[str, dict[str, Any]]:
        """The difference of every head, as `metrics` of `attnwidget.show`.

        Beside it stands that of random weights, or without these 0.
        """
        if self.null_values is not None:
            null, label = self.null_values.mean, "random weights"
        else:
            null, label = np.where(np.isnan(self.values.mean), np.nan, 0.0), "no difference"
        return {"attends to segments": as_metric(self.values, null, label)}


def segments(
    model: torch.nn.Module | Pairs,
    tokenizer: Any = None,
    texts: Iterable[Any] | None = None,
    *,
    null: Null | None = "random weights",
    batch_size: int = 16,
    max_tokens: int | None = None,
    seed: int = 0,
) -> SegmentScores:
    """Measure how much more each head attends to marked segments than to the rest.

    Of each text, the mean weight from all words to those of the segments, minus the mean weight
    from all words to the others. Each text counts once. Nothing is chosen here: whoever picks the
    best of many heads should look at it on other texts.

    Args:
        texts: Annotated texts with segments; the other arguments are those of `relations`.

    Returns:
        The differences with 95% intervals by a bootstrap over texts.

    Raises:
        TypeError: an argument is of the wrong kind.
        ValueError: no text has segments and other words; a text is too long for the model; an
            array has a wrong shape.
    """
    source, texts = opened(
        model,
        tokenizer,
        texts,
        null=null,
        seed=seed,
        batch_size=batch_size,
        max_tokens=max_tokens,
    )
    own: Means | None = None
    of_null: Means | None = None
    num_texts = left_out = 0
    with progress_bar("Probing", "texts"):
        for read in source.read(texts):
            inside = _inside(read.text)
            if inside.all() or not inside.any():
                left_out += 1
                continue
            num_texts += 1
            own = own or Means(source.heads.shape, seed)
            own.add({read.index: _difference(read.weights, inside)})
            if read.null is not None:
                of_null = of_null or Means(source.heads.shape, seed)
                of_null.add({read.index: _difference(read.null, inside)})
    if own is None:
        raise ValueError(
            f"no text has segments and other words: {left_out} texts have none, or nothing else"
        )
    return SegmentScores(
        _existing(own.estimate(), source.heads),
        None if of_null is None else _existing(of_null.estimate(), source.heads),
        source.heads.numbers,
        num_texts,
        left_out,
        source.heads.lost,
        tuple(source.heads.missing),
    )


def _inside(text: Annotated) -> NDArray[np.bool_]:
    """True for the words of segments."""
    inside = np.zeros(len(text), bool)
    for start, end in text.segments:
        inside[start:end] = True
    return inside


def _difference(weights: Floats, inside: NDArray[np.bool_]) -> Numbers:
    received = weights.mean(axis=2, dtype=np.float64)
    difference: Numbers = received[..., inside].mean(axis=-1) - received[..., ~inside].mean(axis=-1)
    return difference


def _existing(found: Estimate, heads: Heads) -> Estimate:
    mean, low, high = (
        np.where(heads.exists, n, np.nan) for n in (found.mean, found.low, found.high)
    )
    return Estimate(mean, low, high, np.where(heads.exists, found.count, 0))
