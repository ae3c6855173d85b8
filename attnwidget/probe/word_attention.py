"""Attention between the words of annotated texts, text by text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from attnwidget.analysis import HeadScores, Numbers
from attnwidget.corpus import Estimate
from attnwidget.progress import step_done
from attnwidget.record import Floats, Stack

from .annotated import Annotated
from .cut_words import LeftOut

_FARTHEST = 10

Text = TypeVar("Text")
"""The annotations of a text, such as `Annotated`."""


@dataclass(frozen=True)
class WordAttention(Generic[Text]):
    """The attention of every head between the words of one text.

    Attributes:
        index: the number of the text among the texts, counted from 0.
        text: its words, and what is known of them.
        weights: float32 [layers, heads, words, words], from row to column: summed over the tokens
            of the key word, and averaged over those of the query word (Clark et al. 2019,
            section 4.1). Special tokens are no words, so rows sum to less than 1. Words without
            tokens are left out. Heads that a layer does not have are 0.
        null: the same of a network with random weights, or None.
    """

    index: int
    text: Text
    weights: Floats
    null: Floats | None

    @property
    def both(self) -> dict[str, Floats]:
        """The weights as "own", and as "null" those of random weights, if there are any."""
        return {"own": self.weights} | ({} if self.null is None else {"null": self.null})


def pair_features(read: WordAttention[Annotated]) -> dict[str, Floats]:
    """The features of each word and another, for classifiers: float32 [features, words, words].

    "own" and "null" have the weights of all heads from a word to another, and back: 2 * layers *
    heads features. "distance" has 1 for their signed distance; those above 10 are one.
    """
    found: dict[str, Floats] = {}
    for name, weights in read.both.items():
        flat = weights.reshape(-1, *weights.shape[2:])
        found[name] = np.concatenate([flat, flat.swapaxes(1, 2)])
    places = np.arange(len(read.text))
    near = (places - places[:, None]).clip(-_FARTHEST, _FARTHEST)
    found["distance"] = np.eye(2 * _FARTHEST + 1, dtype=np.float32)[:, near + _FARTHEST]
    return found


@dataclass
class Heads:
    """The heads that are read.

    Attributes:
        stack: the name of the stack, as in `AttentionRecord.stacks`.
        numbers: the layers' numbers in the model.
        counts: the number of heads of each layer.
        missing: what could not be read.
    """

    stack: str = "self"
    numbers: tuple[int, ...] = ()
    counts: tuple[int, ...] = ()
    missing: list[str] = field(default_factory=list)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of layers, and of heads in the layer with most."""
        return len(self.counts), max(self.counts, default=0)

    @property
    def exists(self) -> NDArray[np.bool_]:
        """True for the heads that there are, bool [layers, heads]."""
        present: NDArray[np.bool_] = np.arange(self.shape[1]) < np.array(self.counts)[:, None]
        return present

    def add(self, stack: Stack, missing: Iterable[str] = ()) -> None:
        """Note the heads of a further record, and what is missing in it.

        Raises:
            ValueError: they are other heads than those of the records before.
        """
        counts = tuple(layer.num_heads for layer in stack.layers)
        if self.counts and (self.numbers, self.counts) != (stack.numbers, counts):
            why = "; ".join(missing) or "its layers or heads are others than those before"
            raise ValueError(f"the attention could not be read in all texts: {why}")
        self.numbers, self.counts = stack.numbers, counts
        self.missing += [reason for reason in missing if reason not in self.missing]

    def scores(
        self,
        name: str,
        description: str,
        found: Estimate | Numbers,
        null: Numbers | None,
        *,
        null_label: str | None = "random weights",
        signed: bool = False,
        measured_on: str,
    ) -> HeadScores:
        """Numbers [layers, heads] of these heads, with those of a null."""
        ends = (found.low, found.high) if isinstance(found, Estimate) else (None, None)
        low, high, of_null = (None if each is None else self._rows(each) for each in (*ends, null))
        return HeadScores(
            name,
            description,
            self._rows(found.mean if isinstance(found, Estimate) else found),
            signed=signed,
            measured_on=measured_on,
            null=of_null,
            null_label=None if null is None else null_label,
            low=low,
            high=high,
            missing=tuple(self.missing),
        )

    def _rows(self, numbers: Numbers) -> dict[str, dict[int, Numbers]]:
        rows = zip(self.numbers, self.counts, numbers, strict=True)
        return {self.stack: {number: row[:count] for number, count, row in rows}}


def padded(layers: Sequence[NDArray[Any]], fill: float = 0) -> NDArray[Any]:
    """Layers [heads, ...] as one array; the number to fill in for heads that a layer lacks."""
    most = max(map(len, layers))
    array = np.full((len(layers), most, *layers[0].shape[1:]), fill, layers[0].dtype)
    for own, layer in zip(array, layers, strict=True):
        own[: len(layer)] = layer
    return array


class ArrayAttention(Generic[Text]):
    """Reads pairs of the attention between words, and an annotated text.

    Args:
        stack: the name of the stack.
        expected: what a pair is.
        text_of: returns the annotations that are given, and the words of rows and of columns;
            raises a TypeError for anything else.
    """

    def __init__(
        self, stack: str, expected: str, text_of: Callable[[Any], tuple[Text, Sized, Sized]]
    ) -> None:
        self.heads = Heads(stack)
        self.left_out = LeftOut()
        self._expected = expected
        self._text_of = text_of

    def read(self, pairs: Iterable[tuple[Any, Any]]) -> Iterator[WordAttention[Text]]:
        """The attention of each text, in order.

        Raises:
            TypeError: something is no pair of numbers and annotations.
            ValueError: an array has another shape than [layers, heads, words, words].
        """
        for index, pair in enumerate(pairs):
            if not (isinstance(pair, (tuple, list)) and len(pair) == 2):
                raise TypeError(
                    f"text {index} is {type(pair).__name__}; expected a pair {self._expected}"
                )
            weights = np.asarray(pair[0], np.float32)
            text, *sides = self._text_of(pair[1])
            known = self.heads.shape if self.heads.numbers else weights.shape[:2]
            if weights.shape != (*known, *map(len, sides)) or 0 in known:
                rows, columns = map(len, sides)
                raise ValueError(
                    f"the attention of text {index} has the shape {list(weights.shape)}; expected "
                    f"{self._expected}, here [layers, heads, {rows}, {columns}], with as many "
                    "layers and heads as the others"
                )
            if not np.isfinite(weights).all():
                raise ValueError(f"the attention of text {index} has numbers that are not finite")
            layers, heads = weights.shape[:2]
            self.heads.numbers, self.heads.counts = tuple(range(layers)), (heads,) * layers
            yield WordAttention(index, text, weights, None)
            step_done()
