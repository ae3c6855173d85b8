"""Packing of a layer within limits, with the error of the weights that the browser computes."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

from attnwidget.record import Floats, Layer
from attnwidget.wire.block import NO_FACTORS, Block, Part, block_size, encode_block

from .limits import Limits
from .vectors import rounded_vectors
from .weights import rounded_weights

_LEVEL = 6
# A Huffman table serves 16,384 symbols.
_MEMORY = 8
# The header of a zlib stream, and an empty last block.
_HEADER, _END = b"\x78\x9c", b"\x03\x00"
# A rounded block of less than this share of the exact one, before that is compressed, is not
# compared with it. zlib shrinks weights, most of which are small, but hardly queries and keys.
_CLEARLY_SMALLER, _CLEARLY_SMALLER_WEIGHTS = 0.9, 0.2

Packed = tuple[dict[str, Any], bytes]
"""({parts, error}, the concatenated buffers of a block, compressed by zlib)."""


def pack_layer(
    layer: Layer, limits: Limits | None, factors: Mapping[str, Floats] = NO_FACTORS
) -> Packed:
    """Encode a layer within limits, or as exactly as a kernel sends it if None.

    Within limits, queries and keys, or the weights of a layer that was recorded as weights alone,
    are rounded as far as the limits allow. The exact block is used all the same if it is no larger,
    as for a text of a few tokens, or if the range of the numbers is too large to be coded.

    Args:
        factors: those of its lenses, by name, which are sent as they are.
    """
    if limits is None:
        return pack_block(encode_block(layer, factors, all_rows=True))
    encode = rounded_weights if layer.program is None else rounded_vectors
    rounded = encode(layer, limits, factors)
    if rounded is None:
        return pack_block(encode_block(layer, factors, all_rows=True))
    packed = pack_block(rounded)
    share = _CLEARLY_SMALLER_WEIGHTS if layer.program is None else _CLEARLY_SMALLER
    if len(packed[1]) < share * block_size(layer, len(factors)):
        return packed
    exact = pack_block(encode_block(layer, factors, all_rows=True))
    return min(packed, exact, key=lambda packed: len(packed[1]))


def pack_block(block: Block) -> Packed:
    """Pack a block as it is."""
    return {"parts": block.parts, "error": block.error}, packed_buffers(block)


def packed_buffers(block: Block) -> bytes:
    """The block's bytes, compressed by zlib (RFC 1950), with Huffman tables of each array's own."""
    data, checksum = [_HEADER], zlib.adler32(b"")
    for part, buffer in zip(block.parts, block.buffers, strict=True):
        packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS, _MEMORY, _strategy(part))
        data += [packer.compress(buffer), packer.flush(zlib.Z_SYNC_FLUSH)]
        checksum = zlib.adler32(buffer, checksum)
    return b"".join([*data, _END, checksum.to_bytes(4, "big")])


def _strategy(part: Part) -> int:
    # Coded integers are noise but for runs, as of weights that are zero: a search for other
    # matches takes five times as long, and what it finds costs more bits than it saves.
    if part["dtype"] == "i8" or part["name"].endswith("_low"):
        return zlib.Z_RLE
    # Matches of a few bytes are chance in floats.
    return zlib.Z_FILTERED
