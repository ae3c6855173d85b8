"""Layers of pages and saved notebooks, packed as exactly as a moderate size allows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from attnwidget.analysis import LENSES, Lens, MatrixLens, factors_of
from attnwidget.progress import step_done
from attnwidget.record import AttentionRecord, Floats, Layer, ScoreProgram, spread_rows
from attnwidget.wire import LensNumbers, block_size, encode_shares, why_not_sent
from attnwidget.wire.compression import (
    COMPACT,
    FINE,
    LIMITS,
    Limits,
    Quality,
    pack_block,
    pack_layer,
)

PAGE_SIZE = 2_000_000
"""The size of a page in bytes up to which its layers are packed more exactly than COMPACT."""

# Layers take more than this share of their blocks in 16 bits, even if they are packed as COMPACT.
_LEAST_SHARE = 0.25
_SAMPLE = 3
# All layers take up to this much more than estimated from the sample.
_UNCERTAIN = 1.04
# With a larger difference allowed, nearly all layers would be packed as COMPACT.
_COARSEST = 0.02
# Layers differ in size, but where two of them would need so much more, all would.
_HOPELESS = 4
# The next limit is coarser than the estimate by this factor.
_MARGIN = 1.05

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


Place = tuple[str | int, ...]
"""(stack, number) of a layer; (stack, number, lens) of its matrices of a lens; (stack, "text")."""

Blocks = dict[Place, PackedLayer]
"""The blocks of a record in a page or a notebook, by their place."""


def block_key(place: Place) -> str:
    """The name of a block in a page or a widget's state, as "self.3.rollout"."""
    return ".".join(map(str, place))


class ToPack(NamedTuple):
    """A layer, and the factors of its lenses, see `attnwidget.analysis.factors_of`."""

    layer: Layer
    factors: Mapping[str, Floats]

    @classmethod
    def of(
        cls, record: AttentionRecord, stack: str, layer: int, lenses: Sequence[Lens] = LENSES
    ) -> ToPack:
        return cls(record.layer(layer, stack), factors_of(lenses, record, stack, layer))

    @property
    def size(self) -> int:
        """The size of its block in bytes, see `attnwidget.wire.block_size`."""
        return block_size(self.layer, len(self.factors))


def packed_layer(to_pack: ToPack, limits: Limits | None, *, vectors: bool = True) -> PackedLayer:
    """Pack a layer; without vectors, as weights alone if that is smaller.

    Of a recurrence, vectors are sent as they are: as coefficients alone, it is smaller for short
    texts.

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
    # Exact vectors would often take more room than a compact page has.
    vectors = vectors and not (layer.signed and limits == COMPACT)
    exact = layer.signed and limits is None
    if vectors or exact or layer.queries is None or layer.keys is None:
        return PackedLayer(*pack_layer(layer, limits, factors))
    if layer.weights is not None or layer.coefficients is not None:
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
) -> Iterator[tuple[Place, PackedLayer]]:
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


def packed_texts(record: AttentionRecord, manifest: Mapping[str, Any]) -> Blocks:
    """The attention of each running text, of the stacks of the record that have one."""
    having = (stack["name"] for stack in manifest["stacks"] if stack.get("text"))
    return {
        (name, "text"): PackedLayer(*pack_block(encode_shares(record, name)))
        for name in having
        if name in record.stacks
    }


def fits_in_page(layer: Layer) -> bool:
    """True if a view without a kernel can show the layer."""
    program = layer.program
    arrays = [layer.queries, layer.keys, layer.weights, layer.coefficients]
    if isinstance(program, ScoreProgram):
        arrays += [program.bias, program.relative]
    sizes = [array.size for array in arrays if array is not None]
    if isinstance(program, ScoreProgram) and program.visible is not None:
        sizes.append(program.visible.size)
    return max(sizes) <= _MAX_NUMBERS


def _bare(layer: Layer) -> Layer:
    """The layer as its weights alone, or its coefficients."""
    weights, coefficients = layer.weights, layer.coefficients
    heads, rows = range(layer.num_heads), np.arange(layer.shape[0])
    if layer.signed and coefficients is None:
        coefficients = np.stack([layer.head_coefficients(head, rows) for head in heads])
    elif not layer.signed and weights is None:
        weights = np.stack([layer.head_weights(head, rows) for head in heads])
    return replace(
        layer,
        queries=None,
        keys=None,
        program=None,
        rotary=None,
        weights=weights,
        coefficients=coefficients,
    )


def bare_layer(info: dict[str, Any]) -> dict[str, Any]:
    """The entry of a page's manifest for a layer whose block holds weights alone."""
    bare = {
        "program": None,
        "dim": None,
        "rotary": None,
        "bare": bool(info["program"] or info.get("recurrence")),
    }
    return info | bare | ({"recurrence": None} if "recurrence" in info else {})


def packed_layers(
    layers: Sequence[ToPack],
    quality: Quality,
    room: float,
    finest: Limits = FINE,
    *,
    vectors: bool = True,
) -> list[PackedLayer]:
    """Pack layers, at the quality "default" with the finest limits that fit into `room` bytes.

    Args:
        finest, vectors: see `packed_fine`.

    Raises:
        ValueError: a layer is larger than a page can show.
    """
    fine = packed_fine(layers, room, finest, vectors=vectors) if quality == "default" else None
    if fine is not None:
        return fine
    packed = []
    for layer in layers:
        limits = LIMITS["compact" if quality == "default" else quality]
        packed.append(packed_layer(layer, limits, vectors=vectors))
        step_done()
    return packed


def packed_fine(
    layers: Sequence[ToPack], room: float, finest: Limits = FINE, *, vectors: bool = True
) -> list[PackedLayer] | None:
    """Pack layers with the smallest limit of a weight's difference with which all of them fit.

    The first limit is the finest, with which weights are right to three decimals. Sizes are
    estimated from a few layers; each bit more per number halves the difference.

    Args:
        room: in bytes, of compressed blocks.
        finest: FINE, or that of differences.
        vectors: see `packed_layer`.

    Returns:
        The packed layers, or None if they fit only with the limits of COMPACT, if at all.
    """
    sizes = [to_pack.size for to_pack in layers]
    whole = sum(sizes)
    if (
        not layers
        or _LEAST_SHARE * whole > room
        or not all(fits_in_page(to_pack.layer) for to_pack in layers)
    ):
        return None
    sample = sorted({int(n) for n in spread_rows(len(layers), _SAMPLE)})
    limits = finest

    def estimated(packed: Mapping[int, PackedLayer]) -> float:
        return _UNCERTAIN * whole * _size(packed.values()) / sum(sizes[n] for n in packed)

    def next_largest(needed: float) -> float:
        # A number takes two bytes in its block.
        bits_less = 8 * (needed - room) / (whole / 2)
        return float(limits.largest * _MARGIN * 2**bits_less)

    while limits.largest < _COARSEST:
        packed: dict[int, PackedLayer] = {}
        for n in sample:
            packed[n] = packed_layer(layers[n], limits, vectors=vectors)
            if len(packed) > 1 and next_largest(estimated(packed)) > _HOPELESS * _COARSEST:
                return None
        needed = estimated(packed)
        if needed <= room:
            everything = []
            for n, layer in enumerate(layers):
                if n not in packed:
                    packed[n] = packed_layer(layer, limits, vectors=vectors)
                everything.append(packed[n])
                step_done()
            needed = _size(everything)
            if needed <= room:
                return everything
        limits = Limits(COMPACT.variation, next_largest(needed))
    return None


def _size(packed: Iterable[PackedLayer]) -> int:
    return sum(len(layer.data) for layer in packed)
