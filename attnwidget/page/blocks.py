"""Packed layers of pages and saved notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from attnwidget.analysis import LENSES, Lens, MatrixLens, factors_of
from attnwidget.record import AttentionRecord, Floats, Layer
from attnwidget.wire import LensNumbers, why_not_sent
from attnwidget.wire.compression import Limits, pack_block, pack_layer

# With more weights per component of queries and keys, coded weights are never smaller.
_MAX_WEIGHTS = 4

# A view refuses arrays with more numbers: see js/src/data/codec.ts.
_MAX_NUMBERS = 2**27


@dataclass(frozen=True)
class PackedLayer:
    """The compressed block of a layer.

    Attributes:
        content: {parts, error}, see `attnwidget.wire.compression.pack_layer`.
        data: its bytes, compressed.
        bare: True if it has weights alone, though the record has queries and keys.
    """

    content: dict[str, Any]
    data: bytes
    bare: bool = False


PackedLayers = dict[tuple[str, int], PackedLayer]
"""Layers by stack and number."""

PackedNumbers = dict[tuple[str, int, str], PackedLayer]
"""Matrices of lenses by stack, number of the layer, and lens."""


class ToPack(NamedTuple):
    """A layer, and the factors of its lenses, see `attnwidget.analysis.factors_of`."""

    layer: Layer
    factors: Mapping[str, Floats]

    @classmethod
    def of(
        cls, record: AttentionRecord, stack: str, layer: int, lenses: Sequence[Lens] = LENSES
    ) -> ToPack:
        return cls(record.layer(layer, stack), factors_of(lenses, record, stack, layer))


def packed_layer(to_pack: ToPack, limits: Limits | None, *, vectors: bool = True) -> PackedLayer:
    """Pack a layer; without vectors, as weights alone if that is smaller.

    Args:
        limits: see `attnwidget.wire.compression.pack_layer`.
        vectors: True if queries and keys are needed, for the neuron view.

    Raises:
        ValueError: the layer is larger than a page can show.
    """
    layer, factors = to_pack
    if not fits_in_page(layer):
        raise ValueError(
            f"layer {layer.number} is larger than a page can show, which is {_MAX_NUMBERS:,} "
            "numbers of one kind: leave it out with layers=…, or capture a shorter text; a "
            "notebook with its kernel can show it row by row"
        )
    if vectors or layer.queries is None or layer.keys is None:
        return PackedLayer(*pack_layer(layer, limits, factors))
    if layer.weights is not None:
        return PackedLayer(*pack_layer(_bare(layer), limits, factors), bare=True)
    whole = PackedLayer(*pack_layer(layer, limits, factors))
    num_weights = layer.num_heads * layer.shape[0] * layer.shape[1]
    if num_weights > min(_MAX_NUMBERS, _MAX_WEIGHTS * (layer.queries.size + layer.keys.size)):
        return whole
    bare = PackedLayer(*pack_layer(_bare(layer), limits, factors), bare=True)
    return min(whole, bare, key=lambda packed: len(packed.data))


def packed_numbers(
    record: AttentionRecord,
    lenses: Sequence[Lens],
    chosen: str,
    layers: Iterable[tuple[str, int]],
) -> Iterator[tuple[tuple[str, int, str], PackedLayer]]:
    """The matrices of layers, each with its place: of the lens that is chosen, and the user's own.

    Args:
        layers: by stack and number.
    """
    numbers, places = LensNumbers(), list(layers)
    for lens in lenses:
        if isinstance(lens, MatrixLens) and (lens.name == chosen or lens not in LENSES):
            for stack, layer in places:
                if why_not_sent(lens, record, stack, layer) is None:
                    block = numbers.block(lens, record, stack, layer)
                    yield (stack, layer, lens.name), PackedLayer(*pack_block(block))


def fits_in_page(layer: Layer) -> bool:
    """True if a view without a kernel can show the layer."""
    program = layer.program
    arrays = [layer.queries, layer.keys]
    arrays += [layer.weights] if program is None else [program.bias, program.relative]
    sizes = [array.size for array in arrays if array is not None]
    if program is not None and program.visible is not None:
        sizes.append(program.visible.size)
    return max(sizes) <= _MAX_NUMBERS


def _bare(layer: Layer) -> Layer:
    """The layer as its weights alone."""
    weights = layer.weights
    if weights is None:
        rows = np.arange(layer.shape[0])
        weights = np.stack([layer.head_weights(h, rows) for h in range(layer.num_heads)])
    return replace(layer, queries=None, keys=None, program=None, rotary=None, weights=weights)


def bare_layer(info: dict[str, Any]) -> dict[str, Any]:
    """The entry of a page's manifest for a layer whose block holds weights alone."""
    return info | {
        "program": None,
        "dim": None,
        "rotary": None,
        "bare": info["program"] is not None,
    }
