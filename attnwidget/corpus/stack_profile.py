"""The numbers of a profile: arrays over the layers and heads of one stack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attnwidget.analysis import Numbers
from attnwidget.arguments import one_number
from attnwidget.record import Floats, spans

from .accumulators import Estimate

LEVELS = 255
"""The level of weight 1 in `SampledRows`."""


@dataclass(frozen=True)
class ProfileMetric:
    """A number that a profile has of every head.

    Attributes:
        name: the name of its columns.
        label: the full name.
        unit: "" for none.
        description: one sentence for readers.
    """

    name: str
    label: str
    unit: str
    description: str


@dataclass(frozen=True)
class SampledRows:
    """The weights of every head for some rows of a sample of texts.

    Attributes:
        levels: the square roots of the weights in levels 0 to 255, uint8 [layers, heads, rows,
            keys]: a weight w is kept to within .004 times its root. 0 for heads that a layer does
            not have, and beyond a row's own keys.
        keys: the number of keys of each row, int64 [rows].
        texts: a number for the tokens of the text of each row, int64 [rows]; equal for equal
            tokens in equal order.
    """

    levels: NDArray[np.uint8]
    keys: NDArray[np.int64]
    texts: NDArray[np.int64]

    @property
    def weights(self) -> Floats:
        """The weights, float32 [layers, heads, rows, keys]."""
        weights: Floats = np.square(self.levels / np.float32(LEVELS))
        return weights


@dataclass(frozen=True)
class Picked:
    """Texts that are picked as examples of a number.

    Attributes:
        texts: their indices, int64 [...]; -1 for none.
        values: the numbers, float64 [...].
        pairs: the positions of the query and the key with the head's largest weight in the text,
            without the first token and special ones as keys: int64 [..., 2].
    """

    texts: NDArray[np.int64]
    values: Numbers
    pairs: NDArray[np.int64]


@dataclass(frozen=True)
class StackProfile:
    """The heads of one stack.

    All arrays [layers, heads] are NaN (counts are 0) where a layer has fewer heads than another.

    Attributes:
        numbers: the layers' numbers in the model.
        heads: the number of heads of each layer.
        estimates: by metric, arrays [layers, heads].
        nulls: the same by null, by metric; empty without one.
        thumbnails: the mean over texts of the largest weight of each cell, float16
            [layers, heads, 32, 32]: cells divide each text evenly, whatever its length.
        rows: sampled rows, from which heads are compared.
        extremes: the texts with the highest and the lowest numbers, [2, metrics, layers, heads, 3].
        medians: the texts next to the median, [metrics, layers, heads].
    """

    numbers: tuple[int, ...]
    heads: tuple[int, ...]
    estimates: Mapping[str, Estimate]
    nulls: Mapping[str, Mapping[str, Estimate]]
    thumbnails: NDArray[np.float16]
    rows: SampledRows
    extremes: Picked
    medians: Picked

    def place(self, layer: int, head: int) -> tuple[int, int]:
        """The indices in the arrays of a layer, by its number in the model, and a head.

        Raises:
            IndexError: there is no such layer or head.
            TypeError: the head is no number.
        """
        if layer not in self.numbers:
            raise IndexError(f"layer {layer} does not exist: this stack has {spans(self.numbers)}")
        index = self.numbers.index(layer)
        if not 0 <= one_number("head", head) < self.heads[index]:
            raise IndexError(
                f"head {head} does not exist: layer {layer} has {self.heads[index]} heads"
            )
        return index, head

    @property
    def null(self) -> Mapping[str, Estimate]:
        """By metric, the estimates of the first null; empty without one."""
        return next(iter(self.nulls.values()), {})

    @property
    def exists(self) -> NDArray[np.bool_]:
        """True for the heads that there are, bool [layers, heads]."""
        present: NDArray[np.bool_] = np.arange(max(self.heads)) < np.array(self.heads)[:, None]
        return present
