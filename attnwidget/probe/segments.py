"""Heads that attend to the segments that somebody has marked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from attnwidget.analysis import Numbers
from attnwidget.corpus.accumulators import Means
from attnwidget.counted import counted
from attnwidget.record import Floats

from .annotated import Annotated
from .halves import Null, Pairs, opened, reading
from .results import ProbeScores

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, kw_only=True)
class SegmentScores(ProbeScores):
    """The attention of each head to marked words, less that to others; see `segments`.

    Attributes:
        left_out: the number of texts without segments, or with nothing else.
    """

    left_out: int

    @property
    def head_weights(self) -> Numbers:
        """The share of each head in a sum of heads that favours those which attend to segments.

        float64 [layers, heads], which sum to 1: the values above 0, divided by their sum; 0 for
        all others.
        """
        positive = np.nan_to_num(self.heads["segments"].values()).clip(0)
        weights: Numbers = positive / (positive.sum() or 1)
        return weights


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
    # Nothing is held out.
    halves = opened(model, tokenizer, texts, (), null, seed, batch_size, max_tokens)
    means = defaultdict[str, Means](lambda: Means.empty(halves.heads.shape, seed))
    num_texts = left_out = 0
    with reading(halves.left_out):
        for read in halves.first():
            inside = _inside(read.text)
            if inside.all() or not inside.any():
                left_out += 1
                continue
            num_texts += 1
            for name, weights in read.both.items():
                means[name].add({read.index: _difference(weights, inside)})
    if not means:
        raise ValueError(
            f"no text has segments and other words: {left_out} texts have none, or nothing else"
        )
    scores = halves.heads.scores(
        "attends to segments",
        "The mean weight on a word of a segment, minus that on another word",
        means["own"].estimate(),
        means["null"].estimate().mean if "null" in means else np.zeros(halves.heads.shape),
        null_label="random weights" if "null" in means else "no difference",
        signed=True,
        measured_on=counted(num_texts, "text"),
    )
    return SegmentScores(
        heads={"segments": scores},
        num_texts=(0, num_texts),
        lost=halves.left_out.words,
        left_out=left_out,
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
