"""The measurements of every head over the texts of one condition: the model's own, or a null."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from attnwidget.analysis import Numbers
from attnwidget.analysis.thumbnails import THUMBNAIL_SIZE
from attnwidget.record import Floats, Tokens
from attnwidget.tracing import CallId

from .accumulators import Extremes, Integers, Means, OffsetMeans, keep_sample

SAMPLED_TEXTS = 64
"""The number of texts of which rows are kept, to compare heads and texts with each other."""

EXAMPLES = 3
"""The number of highest, and of lowest, texts that are kept for each number of a head."""

# A pair of a query and a key in one integer: the key takes the lower bits.
_PAIR_BITS = 32

_T = TypeVar("_T")

Null: TypeAlias = Literal["random weights", "shuffled", "position", "best offset"]
"""Networks that have learnt nothing, text without its order, and places of tokens alone."""

Reading: TypeAlias = Null | None
"""A null that reads texts, or None for the model itself."""


@dataclass
class SampledLayer:
    """The numbers kept of a layer for a text of the sample.

    Attributes:
        own: of self-attention, the tokens; else None.
        rows: the weights of some rows, float16 [heads, rows, keys].
        first: the weights between the first tokens, float32 [heads, 10, 10]; NaN beyond the end of
            the text.
        values: the metrics, float64 [metrics, heads].
        pairs: the strongest pair of tokens, packed, int64 [heads].
    """

    own: Tokens | None
    rows: NDArray[np.float16]
    first: Floats
    values: Numbers
    pairs: Integers

    def join(self, other: SampledLayer) -> None:
        """Add other heads."""
        self.rows = np.concatenate([self.rows, other.rows])
        self.first = np.concatenate([self.first, other.first])
        self.values = np.concatenate([self.values, other.values], axis=1)
        self.pairs = np.concatenate([self.pairs, other.pairs])


@dataclass
class SampledText:
    """A text of the sample.

    Attributes:
        tokens: the labels of the tokens.
        layers: by call.
    """

    tokens: tuple[str, ...]
    layers: dict[CallId, SampledLayer] = field(default_factory=dict)


@dataclass
class LayerSums:
    """The sums of the heads of one layer over texts.

    Attributes:
        kind: `Kind.key` of the call, and what mixes its tokens: "softmax", or another word.
        first: the lowest index of a text.
        shape: (Tq, Tk) of this text.
        texts: the number of texts.
        means: of the metrics, [metrics, heads].
        extremes: the texts with the highest and the lowest metrics, [metrics, heads].
        thumbnails: the sum of thumbnails, float64 [heads, 32, 32].
        offsets: the mean weights by offset; None if they are not measured, or of cross-attention.
    """

    kind: tuple[str, bool, str, str]
    first: int
    shape: tuple[int, int]
    texts: int
    means: Means
    extremes: Extremes
    thumbnails: Numbers
    offsets: OffsetMeans | None

    @property
    def of_softmax(self) -> bool:
        """False for layers that have coefficients in place of weights."""
        return self.kind[-1] == "softmax"

    @property
    def heads(self) -> int:
        """The number of heads."""
        return len(self.thumbnails)

    def merge(self, other: LayerSums) -> None:
        """Add other texts."""
        if other.first < self.first:
            self.first, self.shape = other.first, other.shape
        self.texts += other.texts
        self.means.merge(other.means)
        self.extremes.merge(other.extremes)
        self.thumbnails += other.thumbnails
        if self.offsets is None:
            self.offsets = other.offsets
        elif other.offsets is not None:
            self.offsets.merge(other.offsets)

    def join(self, other: LayerSums) -> None:
        """Add other heads, measured on the same texts."""
        own = self.means, self.extremes
        for mine, others, axis in zip(own, (other.means, other.extremes), (-1, -2), strict=True):
            for name, each in vars(mine).items():
                if isinstance(each, np.ndarray):
                    both = np.concatenate([each, getattr(others, name)], axis=axis)
                    setattr(mine, name, both)
        self.thumbnails = np.concatenate([self.thumbnails, other.thumbnails])
        if self.offsets is not None and other.offsets is not None:
            self.offsets.sums = np.concatenate([self.offsets.sums, other.offsets.sums])


@dataclass
class Measurement:
    """The sums of every head over texts, and a sample of the texts.

    Attributes:
        names: of the metrics.
        seed: of the bootstrap and the sample.
        layers: by call, in the order of their calls.
        sample: by index, some of the texts.
        missing: what could not be read, as "module: reason".
        further: by the name of a metric that does not follow from rows, by call, by text, [heads].
    """

    names: tuple[str, ...]
    seed: int
    layers: dict[CallId, LayerSums] = field(default_factory=dict)
    sample: dict[int, SampledText] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    further: dict[str, dict[CallId, dict[int, Numbers]]] = field(default_factory=dict)

    def layer(
        self,
        call: CallId,
        kind: tuple[str, bool, str, str],
        heads: int,
        index: int,
        shape: tuple[int, int],
    ) -> LayerSums:
        """The sums of a call, to which a text is added.

        Args:
            kind: see `LayerSums`.
            index, shape: of the text.
        """
        if call not in self.layers:
            numbers = len(self.names), heads
            self.layers[call] = LayerSums(
                kind,
                index,
                shape,
                0,
                Means.empty(numbers, self.seed),
                Extremes.empty(numbers, EXAMPLES),
                np.zeros((heads, THUMBNAIL_SIZE, THUMBNAIL_SIZE)),
                None,
            )
        found = self.layers[call]
        found.texts += 1
        if index < found.first:
            found.first, found.shape = index, shape
        return found

    def sampled(self, index: int, tokens: tuple[str, ...]) -> SampledText | None:
        """The entry of a text; None if it is not in the sample."""
        if index not in self.sample:
            self.sample[index] = SampledText(tokens)
            keep_sample(self.sample, SAMPLED_TEXTS, self.seed)
        return self.sample.get(index)

    def needed(self, texts: Mapping[int, _T]) -> dict[int, _T]:
        """The entries of the texts that examples refer to, by index."""
        indices = set(self.sample)
        for layer in self.layers.values():
            indices.update(layer.extremes.texts.ravel().tolist())
        return {index: text for index, text in texts.items() if index in indices}

    def join(self, other: Measurement) -> None:
        """Add other heads, or other layers, measured on the same texts."""
        for call, layer in other.layers.items():
            if call in self.layers:
                self.layers[call].join(layer)
            else:
                self.layers[call] = layer
        for index, text in other.sample.items():
            own = self.sample.setdefault(index, SampledText(text.tokens)).layers
            for call, sampled in text.layers.items():
                if call in own:
                    own[call].join(sampled)
                else:
                    own[call] = sampled
        self.missing += [reason for reason in other.missing if reason not in self.missing]

    def leave_out(self, modules: Iterable[str]) -> None:
        """Drop the layers of some modules."""
        for call in [call for call in self.layers if call.module in modules]:
            del self.layers[call]
            for text in self.sample.values():
                text.layers.pop(call, None)

    def merge(self, other: Measurement) -> None:
        """Add the texts of another measurement of the same metrics with the same seed."""
        for call, layer in other.layers.items():
            if call in self.layers:
                self.layers[call].merge(layer)
            else:
                self.layers[call] = layer
        self.sample |= other.sample
        keep_sample(self.sample, SAMPLED_TEXTS, self.seed)
        self.missing += [reason for reason in other.missing if reason not in self.missing]


@dataclass(frozen=True)
class ModelIdentity:
    """The name of a model, and a digest of some of its weights."""

    name: str
    digest: str


@dataclass
class Measured:
    """The measurements of some texts, which can be merged.

    Attributes:
        model: the model that read them.
        by_reading: the measurements of the model, and of the nulls that read texts.
        sources: by index, the texts that examples refer to.
        count: the number of texts.
        empty: the number of those that were left out, because they have no tokens.
    """

    model: ModelIdentity
    by_reading: dict[Reading, Measurement]
    sources: dict[int, str | tuple[str, ...]] = field(default_factory=dict)
    count: int = 0
    empty: int = 0

    @property
    def own(self) -> Measurement:
        """The measurements of the model itself."""
        return self.by_reading[None]

    def check_model(self, model: ModelIdentity) -> None:
        """Check that a model is the one that read these texts.

        Raises:
            ValueError: it is another.
        """
        if model != self.model:
            raise ValueError(
                f"some texts were read by {self.model.name}, and others by another model, or by "
                "one with other weights; use one model for all texts"
            )

    def merge(self, other: Measured) -> None:
        """Add other texts, measured with the same settings.

        Raises:
            ValueError: another model read them.
        """
        self.check_model(other.model)
        for reading, measurement in self.by_reading.items():
            measurement.merge(other.by_reading[reading])
        self.sources = self.own.needed(self.sources | other.sources)
        self.count += other.count
        self.empty += other.empty


def packed(queries: Integers, keys: Integers) -> Integers:
    """Pairs of a query and a key in one integer each."""
    pairs: Integers = queries << _PAIR_BITS | keys
    return pairs


def unpacked(pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Pairs of a query and a key in one integer as two, [..., 2]; -1 for no pair."""
    columns = np.where(pairs < 0, -1, pairs & ((1 << _PAIR_BITS) - 1))
    return np.stack([pairs >> _PAIR_BITS, columns], axis=-1)
