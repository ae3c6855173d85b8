"""Encoding of lenses: their words, the layers that lack them, and thumbnails of their numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from attnwidget.analysis import FactorLens, Lens, MatrixLens, WhyNot
from attnwidget.analysis.thumbnails import levels_of, scaled_levels, signed_cells, signed_levels
from attnwidget.record import AttentionRecord, Floats, Stack

from .block import Block, encode_matrices

# In numbers: 64 MB in a view.
_LARGEST = 1 << 24


class SentReason(TypedDict):
    """The reason why layers of a stack lack a lens, see `attnwidget.analysis.WhyNot`."""

    brief: str
    sentence: str
    layers: list[int]


class SentLens(TypedDict):
    """A lens as JSON; see `attnwidget.analysis.Lens` for the fields that are not explained here.

    Attributes:
        kind: of its numbers: "browser" if a view computes them, "factors" of each head and key, or
            matrices of all "heads" or of whole "layers".
        accumulates: True if a layer's numbers are of all layers up to it.
        symbols: the names of a factor, and of a weight times its factor; None for other kinds.
        peaks: by stack, layer by layer, the largest magnitude of every matrix; None if numbers are
            shares of 1, or are computed.
        why_not: by stack, reasons and the layers that they are of; not of stacks that lack nothing.
    """

    name: str
    label: str
    description: str
    one: str
    many: str
    signed: bool
    digits: int
    unit: str
    adds_up: bool
    kind: Literal["browser", "factors", "heads", "layers"]
    accumulates: bool
    symbols: list[str] | None
    peaks: dict[str, list[list[float]]] | None
    why_not: dict[str, list[SentReason]]


def why_not_sent(lens: Lens, record: AttentionRecord, stack: str, layer: int) -> WhyNot | None:
    """The reason why a view does not have a lens of a layer; None if it has."""
    why = lens.why_not(record, stack, layer)
    if why is not None or not isinstance(lens, MatrixLens):
        return why
    # Matrices of layers are computed for all layers together.
    count = record.num_heads(layer, stack) if lens.by_head else record.num_layers(stack)
    if count * math.prod(record.layer(layer, stack).shape) <= _LARGEST:
        return None
    return WhyNot(
        "too many tokens",
        f"has too many tokens to show its {lens.label.lower()}: capture a shorter text for that, "
        "or draw it with attnwidget.plot",
    )


class LensNumbers:
    """The matrices of lenses as blocks. Those of the stack asked for last are kept."""

    def __init__(self) -> None:
        self._last: tuple[Lens, AttentionRecord, str, Sequence[Floats]] | None = None

    def block(self, lens: Lens, record: AttentionRecord, stack: str, layer: int) -> Block:
        """The matrices of a layer, see `encode_matrices`.

        Raises:
            ValueError: the lens has no matrices that are sent, or none of this layer.
        """
        if not isinstance(lens, MatrixLens):
            raise ValueError(f"the numbers of lens {lens.name!r} follow from a layer's block")
        place = record.stack(stack).numbers.index(layer)
        why = why_not_sent(lens, record, stack, layer)
        if why is not None:
            raise ValueError(f"layer {layer} {why.sentence}")
        if self._last is None or self._last[:3] != (lens, record, stack):
            self._last = lens, record, stack, lens.matrices(record, stack)
        return encode_matrices(self._last[3][place])


def thumbnails_of(lens: Lens, record: AttentionRecord) -> Iterator[NDArray[np.uint8]]:
    """The thumbnails of a lens of matrices of heads, layer by layer of all stacks that have it.

    Levels 0 to 15 are the square roots of shares of 1 or of the matrix's largest number. Of a
    signed lens, 8 is zero, and 7 more or less the largest magnitude.
    """
    assert isinstance(lens, MatrixLens)
    for name, here in _layers_with(lens, record):
        stack = record.stack(name)
        for matrices, is_here in zip(lens.matrices(record, name), here, strict=True):
            for matrix in matrices if is_here else ():
                cells = cells_of(stack, matrix)
                if lens.signed:
                    yield signed_levels(cells, _peak(matrix))
                else:
                    yield levels_of(cells) if lens.shares else scaled_levels(cells, _peak(matrix))


def cells_of(stack: Stack, matrix: Floats) -> Floats:
    """The number of the largest magnitude in each cell of a matrix's thumbnail."""
    return signed_cells(stack, lambda rows: matrix[rows], np.arange(len(matrix)))


def encode_lens(record: AttentionRecord, lens: Lens) -> SentLens:
    """Encode a lens of a record."""
    matrices = lens if isinstance(lens, MatrixLens) else None
    return {
        **lens_words(lens),
        "peaks": None if matrices is None or matrices.shares else _peaks(matrices, record),
        "why_not": {
            name: reasons for name in record.stacks if (reasons := _reasons(lens, record, name))
        },
    }


def lens_words(lens: Lens) -> SentLens:
    """The words of a lens, whatever the record."""
    return {
        "name": lens.name,
        "label": lens.label,
        "description": lens.description,
        "one": lens.one,
        "many": lens.many,
        "signed": lens.signed,
        "digits": lens.digits,
        "unit": lens.unit,
        "adds_up": lens.adds_up,
        "kind": _kind(lens),
        "accumulates": isinstance(lens, MatrixLens) and lens.accumulates,
        "symbols": [lens.factor, lens.product] if isinstance(lens, FactorLens) else None,
        "peaks": None,
        "why_not": {},
    }


def _kind(lens: Lens) -> Literal["browser", "factors", "heads", "layers"]:
    if isinstance(lens, MatrixLens):
        return "heads" if lens.by_head else "layers"
    return "factors" if isinstance(lens, FactorLens) else "browser"


def _layers_with(lens: MatrixLens, record: AttentionRecord) -> Iterator[tuple[str, list[bool]]]:
    """The layers that have a lens, by the stacks with any."""
    for name in record.stacks:
        numbers = record.stack(name).numbers
        here = [why_not_sent(lens, record, name, number) is None for number in numbers]
        if any(here):
            yield name, here


def _peaks(lens: MatrixLens, record: AttentionRecord) -> dict[str, list[list[float]]]:
    return {
        name: [[_peak(matrix) for matrix in matrices] for matrices in lens.matrices(record, name)]
        for name, _ in _layers_with(lens, record)
    }


def _peak(matrix: Floats) -> float:
    return float(np.abs(matrix).max())


def _reasons(lens: Lens, record: AttentionRecord, stack: str) -> list[SentReason]:
    by_reason: dict[WhyNot, list[int]] = {}
    for number in record.stack(stack).numbers:
        why = why_not_sent(lens, record, stack, number)
        if why is not None:
            by_reason.setdefault(why, []).append(number)
    return [
        {"brief": why.brief, "sentence": why.sentence, "layers": layers}
        for why, layers in by_reason.items()
    ]
