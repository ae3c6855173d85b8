"""Integers as bytes that zlib compresses to nearly their entropy; `integers.ts` decodes them.

Integers come in channels, runs that share a centre and a spread, such as one component of one head
over all tokens. Each is split into a symbol of one byte and lower bits. Lower bits are noise and
are stored as they are; symbols, without their channel's centre, have a small spread. Channels are
sorted by the spread of their symbols, so that each of deflate's Huffman tables (RFC 1951) serves
channels that are alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnwidget.wire.block import Block

# The spread of symbols is at most this: finer symbols would not be compressed better.
_SPREAD = 6
_MOST = 127
_CENTRES = 2**15 - 1
# Spreads are sorted in steps of a quarter of an octave.
_PER_OCTAVE = 4
_SMALLEST_SPREAD = 2.0**-6

LARGEST = 2**24
"""The largest integer that can be coded: browsers restore them as float32."""


def add_integers(block: Block, name: str, values: NDArray[Any]) -> None:
    """Add integers [..., length] to a block; a channel is the last axis.

    The parts are `name`, i8 [..., length], the symbols, with their channels in order of `ranks`;
    `name`_channels, i16 [3, channels], the ranks, shifts and centres of the channels in their own
    order; and `name`_low, bits, the lower bits: bit 0 of all channels with a shift of at least 1,
    then bit 1 of those with at least 2, and so on.

    Raises:
        OverflowError: an integer is beyond ±LARGEST, or a centre is too far away.
    """
    if max(values.max(), -values.min()) > LARGEST:
        raise OverflowError(f"integers beyond ±{LARGEST} cannot be coded")
    channels = values.reshape(-1, values.shape[-1]).astype(np.int32)
    means = channels.mean(axis=1)
    spreads = np.abs(channels - means[:, None].astype(np.float32)).mean(axis=1)
    shifts, centres, symbols = _symbols(channels, means, spreads)
    ranks = np.log2(np.maximum(spreads / np.exp2(shifts), _SMALLEST_SPREAD))
    ranks = np.rint(_PER_OCTAVE * ranks).astype(np.int16)
    order = np.argsort(ranks, kind="stable")
    block.add(name, "i8", symbols[order].reshape(values.shape))
    block.add(f"{name}_channels", "i16", np.stack([ranks, shifts, centres]))
    planes = [channels[shifts > n] >> n & 1 for n in range(int(shifts.max()))]
    low = np.concatenate([plane.ravel() for plane in planes]) if planes else np.zeros(0)
    block.add(f"{name}_low", "bits", low.astype(bool))


def _symbols(
    channels: NDArray[np.int32], means: NDArray[np.float64], spreads: NDArray[np.float64]
) -> tuple[NDArray[np.intp], NDArray[np.int64], NDArray[np.int8]]:
    """(the number of lower bits of each channel, its centre, symbols)."""
    shifts = np.maximum(np.ceil(np.log2(np.maximum(spreads / _SPREAD, 1))), 0).astype(np.intp)
    centres = np.zeros(len(channels), np.int64)
    symbols = np.empty(channels.shape, np.int8)
    left = np.arange(len(channels))
    while len(left):
        centres[left] = np.rint(means[left] / np.exp2(shifts[left]))
        upper = (channels[left] >> shifts[left, None]) - centres[left, None]
        fits = np.maximum(upper.max(axis=1), -upper.min(axis=1)) <= _MOST
        symbols[left[fits]] = upper[fits]
        left = left[~fits]
        shifts[left] += 1
    if np.abs(centres).max() > _CENTRES:
        raise OverflowError(
            "integers this far from zero, and this near to each other, cannot be coded"
        )
    return shifts, centres, symbols
