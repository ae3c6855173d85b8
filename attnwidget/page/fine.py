"""Packing of layers as exactly as a page of moderate size allows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from attnwidget.progress import step_done
from attnwidget.record import spread_rows
from attnwidget.wire import block_size
from attnwidget.wire.compression import COMPACT, FINE, Limits

from .blocks import PackedLayer, ToPack, fits_in_page

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


def packed_fine(
    layers: Sequence[ToPack],
    room: float,
    pack: Callable[[ToPack, Limits], PackedLayer],
    finest: Limits = FINE,
) -> list[PackedLayer] | None:
    """Pack layers with the smallest limit of a weight's difference with which all of them fit.

    The first limit is the finest, with which weights are right to three decimals. Sizes are
    estimated from a few layers; each bit more per number halves the difference.

    Args:
        room: in bytes, of compressed blocks.
        pack: packs one layer within limits.
        finest: FINE, or that of differences.

    Returns:
        The packed layers, or None if they fit only with the limits of COMPACT, if at all.
    """
    sizes = [block_size(layer, len(factors)) for layer, factors in layers]
    whole = sum(sizes)
    if (
        not layers
        or _LEAST_SHARE * whole > room
        or not all(fits_in_page(layer) for layer, _ in layers)
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
            packed[n] = pack(layers[n], limits)
            if len(packed) > 1 and next_largest(estimated(packed)) > _HOPELESS * _COARSEST:
                return None
        needed = estimated(packed)
        if needed <= room:
            everything = []
            for n, layer in enumerate(layers):
                everything.append(packed[n] if n in packed else pack(layer, limits))
                step_done()
            needed = _size(everything)
            if needed <= room:
                return everything
        limits = Limits(COMPACT.variation, next_largest(needed))
    return None


def _size(packed: Iterable[PackedLayer]) -> int:
    return sum(len(layer.data) for layer in packed)
