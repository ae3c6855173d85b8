"""Attention between the words of annotated texts, text by text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnwidget.progress import step_done
from attnwidget.record import Floats

from .annotated import Annotated, annotated


@dataclass(frozen=True)
class WordAttention:
    """The attention of every head between the words of one text.

    Attributes:
        index: the number of the text among the texts, counted from 0.
        text: its words, and what is known of them.
        weights: float32 [layers, heads, words, words], from row to column: summed over the tokens
            of the key word, and averaged over those of the query word (Clark et al. 2019,
            section 4.1). Special tokens are no words, so rows sum to less than 1. The rows and
            columns of words without tokens are 0, as are heads that a layer does not have.
        null: the same of a network with random weights, or None.
    """

    index: int
    text: Annotated
    weights: Floats
    null: Floats | None


@dataclass
class Heads:
    """The heads that are read, and what could not be read.

    Attributes:
        numbers: the layers' numbers in the model.
        counts: the number of heads of each layer.
        missing: what could not be read.
        lost: the number of words without tokens.
    """

    numbers: tuple[int, ...] = ()
    counts: tuple[int, ...] = ()
    missing: list[str] = field(default_factory=list)
    lost: int = 0

    @property
    def shape(self) -> tuple[int, int]:
        """The number of layers, and of heads in the layer with most."""
        return len(self.counts), max(self.counts, default=0)

    @property
    def exists(self) -> NDArray[np.bool_]:
        """True for the heads that there are, bool [layers, heads]."""
        present: NDArray[np.bool_] = np.arange(self.shape[1]) < np.array(self.counts)[:, None]
        return present


class ArrayAttention:
    """Reads pairs of the attention between words, and an annotated text."""

    def __init__(self) -> None:
        self.heads = Heads()

    def read(self, pairs: Iterable[tuple[Any, Any]]) -> Iterator[WordAttention]:
        """The attention of each text, in order.

        Raises:
            TypeError: something is no pair of numbers and an annotated text.
            ValueError: an array has another shape than [layers, heads, words, words].
        """
        for index, pair in enumerate(pairs):
            if not (isinstance(pair, (tuple, list)) and len(pair) == 2):
                raise TypeError(
                    f"text {index} is {type(pair).__name__}; expected a pair (weights [layers, "
                    "heads, words, words], Annotated)"
                )
            weights = np.asarray(pair[0], np.float32)
            text = annotated(pair[1])
            known = self.heads.shape if self.heads.numbers else weights.shape[:2]
            if weights.shape != (*known, len(text), len(text)):
                raise ValueError(
                    f"the attention of text {index} has the shape {list(weights.shape)}; expected "
                    f"[layers, heads, {len(text)}, {len(text)}], between its words, with as many "
                    "layers and heads as the others"
                )
            if not np.isfinite(weights).all():
                raise ValueError(f"the attention of text {index} has numbers that are not finite")
            layers, heads = weights.shape[:2]
            self.heads.numbers, self.heads.counts = tuple(range(layers)), (heads,) * layers
            yield WordAttention(index, text, weights, None)
            step_done()
