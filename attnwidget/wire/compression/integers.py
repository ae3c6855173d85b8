"""Entropy coding of small integers; `js/src/data/integers.ts` decodes them.

Integers come in channels, runs that share a centre and a spread, such as one component of one
head over all tokens. The difference of an integer to its channel's centre becomes a token: itself
(in zigzag, so that signs alternate) if it is small, else its magnitude to within a quarter, whose
lower bits are stored apart. This is JPEG XL's hybrid integer (ISO/IEC 18181-1). Tokens are coded by
rANS (Duda 2013, arXiv:1311.2540) with one of a few frequency tables, the best for the channel. The
coder's states are interleaved: token n belongs to state n modulo their number, so that numpy codes
as many tokens at a time.

The bytes, little-endian: u32 channel length, u16 states, u8 tables, u8 tokens per table, u32
words, u8 shift of the centres; then per channel its table (u8), and per channel its centre (i8);
the tables' frequencies (u16); the states (u32); the words (u16); and the lower bits, from the
highest down, padded to 32 (in big-endian words, which makes them one stream).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

_HEADER = struct.Struct("<IHBBIB")
# The frequencies of a table add up to _TOTAL.
_BITS = 12
_TOTAL = 1 << _BITS
# A state is from here to 2**32, and moves 16 bits at a time.
_LOWEST_STATE = 1 << 16
# Tokens below this are integers; from here on, each power of two has four tokens.
_SMALL = 16
# The browser's bit reader has 32 bits, and holds up to 7 more than it needs.
LARGEST = (1 << 22) - 1

# A long channel of equal integers takes no bytes, so the number of integers has to be limited.
MAX_INTEGERS = 1 << 27

_SYMBOLS_PER_STATE = 1024
_MAX_STATES = 4096
# Fewer symbols are not worth the bytes of a table.
_SYMBOLS_PER_TABLE = 8192
_MAX_TABLES = 8
_ROUNDS = 4
# The number of integers that are processed at a time.
_AT_ONCE = 1 << 16


def encode_integers(values: NDArray[Any], length: int | None = None) -> bytes:
    """Encode integers in C order.

    Args:
        length: of a channel (the last may be shorter); the last axis if None.

    Raises:
        OverflowError: an integer is beyond ±LARGEST, or there are more than MAX_INTEGERS.
    """
    length = values.shape[-1] if length is None else length
    flat = values.reshape(-1)
    if max(flat.max(initial=0), -flat.min(initial=0)) > LARGEST:
        raise OverflowError(f"integers beyond ±{LARGEST} cannot be coded")
    if len(flat) > MAX_INTEGERS:
        raise OverflowError(
            f"{len(flat)} integers are more than the {MAX_INTEGERS} that can be coded"
        )
    shift, centres = _centres(flat, length)
    offsets = centres << shift
    tokens, bits = np.empty(len(flat), np.uint8), _Bits()
    for piece, channel in _pieces(len(flat), length):
        left = flat[piece] - offsets[channel]
        zigzag = np.where(left < 0, -2 * left - 1, 2 * left)
        tokens[piece], widths = _tokens(zigzag)
        bits.add(zigzag & ((1 << widths) - 1), widths)
    table, frequencies = _tables(_counts(tokens, length))
    tables = np.repeat(table.astype(np.uint8), length)[: len(flat)]
    states, words = _encode_tokens(frequencies, tables, tokens)
    header = _HEADER.pack(length, len(states), *frequencies.shape, len(words), shift)
    arrays = (
        (table, "u1"),
        (centres, "i1"),
        (frequencies, "<u2"),
        (states, "<u4"),
        (words, "<u2"),
        (bits.words(), ">u4"),
    )
    return header + b"".join(array.astype(kind).tobytes() for array, kind in arrays)


def _pieces(count: int, length: int) -> Iterator[tuple[slice, NDArray[np.intp]]]:
    """Split integers at channels into pieces of about `_AT_ONCE`: (slice, channel of each)."""
    size = max(1, _AT_ONCE // length) * length
    for start in range(0, count, size):
        end = min(start + size, count)
        yield slice(start, end), np.arange(start, end) // length


def _centres(flat: NDArray[Any], length: int) -> tuple[int, NDArray[np.int64]]:
    """(shift, centres): each channel's mean in units of 2**shift, finer than the usual spread."""
    means, spread = np.empty((2, -(-len(flat) // length)))
    for piece, channel in _pieces(len(flat), length):
        first, integers = channel[0], flat[piece]
        index, channels = channel - first, slice(first, channel[-1] + 1)
        lengths = np.bincount(index)
        means[channels] = np.bincount(index, integers) / lengths
        spread[channels] = np.bincount(index, np.abs(integers - means[channel])) / lengths
    typical = float(np.median(spread[spread > 0])) if spread.any() else 1.0
    shift = max(0, int(np.log2(max(1.0, typical))) - 1)
    centres = np.clip(np.rint(means / (1 << shift)), -128, 127).astype(np.int64)
    return shift, centres


def _tokens(zigzag: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(tokens, the number of lower bits of each)."""
    _, exponent = np.frexp(zigzag.astype(np.float64))
    widths = np.maximum(exponent.astype(np.int64) - 3, 0)
    widths[zigzag < _SMALL] = 0
    tokens = np.where(zigzag < _SMALL, zigzag, _SMALL + 4 * (widths - 2) + (zigzag >> widths & 3))
    return tokens, widths


def _counts(tokens: NDArray[np.uint8], length: int) -> NDArray[np.int32]:
    """The counts of tokens by channel, [channels, tokens]."""
    size = int(tokens.max(initial=0)) + 1
    counts = np.empty((-(-len(tokens) // length), size), np.int32)
    for piece, channel in _pieces(len(tokens), length):
        first, end = channel[0], channel[-1] + 1
        cells = (channel - first) * size + tokens[piece]
        flat = np.bincount(cells, minlength=(end - first) * size)
        counts[first:end] = flat.reshape(-1, size)
    return counts


def _tables(counts: NDArray[np.int32]) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """(table of each channel, frequencies [tables, tokens]) from counts [channels, tokens].

    As in k-means, channels are assigned to the table that codes them in the fewest bits, and tables
    are computed from their channels.
    """
    channels, size = counts.shape
    wanted = int(np.clip(counts.sum() // _SYMBOLS_PER_TABLE, 1, min(_MAX_TABLES, channels)))
    mean = counts @ np.arange(size) / counts.sum(axis=1)
    table = np.empty(channels, np.intp)
    table[np.argsort(mean, kind="stable")] = np.arange(channels) * wanted // channels
    for _ in range(_ROUNDS):
        _, table = np.unique(table, return_inverse=True)
        sums = np.zeros((int(table.max()) + 1, size))
        np.add.at(sums, table, counts)
        # Tokens that a table lacks get a high but finite cost.
        sums += 1 / size
        cost = -np.log2(sums / sums.sum(axis=1, keepdims=True))
        table = (counts @ cost.T).argmin(axis=1)
    _, table = np.unique(table, return_inverse=True)
    sums = np.zeros((int(table.max()) + 1, size))
    np.add.at(sums, table, counts)
    return table, np.stack([_frequencies(row) for row in sums])


def _frequencies(counts: NDArray[np.float64]) -> NDArray[np.int64]:
    """Scale counts to add up to `_TOTAL`; positive counts stay positive."""
    scaled: NDArray[np.int64] = np.rint(counts * (_TOTAL / counts.sum())).astype(np.int64)
    scaled[(counts > 0) & (scaled == 0)] = 1
    while (excess := int(scaled.sum()) - _TOTAL) != 0:
        scaled[scaled.argmax()] -= 1 if excess > 0 else -1
    return scaled


def _encode_tokens(
    frequencies: NDArray[np.int64], table: NDArray[np.uint8], tokens: NDArray[np.uint8]
) -> tuple[NDArray[np.uint64], NDArray[np.uint16]]:
    """(states, words) of rANS, which encodes backwards and decodes forwards."""
    starts = (np.cumsum(frequencies, axis=1) - frequencies).astype(np.uint64)
    frequencies = frequencies.astype(np.uint64)
    lanes = int(np.clip(len(tokens) // _SYMBOLS_PER_STATE, 1, _MAX_STATES))
    states = np.full(lanes, _LOWEST_STATE, np.uint64)
    words = []
    for first in range((len(tokens) - 1) // lanes * lanes, -1, -lanes):
        at = table[first : first + lanes], tokens[first : first + lanes]
        f, s = frequencies[at], starts[at]
        state = states[: len(f)]
        full = state >= f << np.uint64(32 - _BITS)
        words.append(state[full].astype(np.uint16))
        state = np.where(full, state >> np.uint64(16), state)
        quotient, rest = np.divmod(state, f)
        states[: len(f)] = (quotient << np.uint64(_BITS)) + rest + s
    return states, np.concatenate([*words[::-1], np.zeros(0, np.uint16)])


class _Bits:
    """A stream of bits in words of 32 bits, to which values of several widths are added."""

    def __init__(self) -> None:
        self._full: list[NDArray[np.uint32]] = []
        # The last word, and the number of bits in it.
        self._last, self._used = np.uint32(0), 0

    def add(self, values: NDArray[np.int64], widths: NDArray[np.int64]) -> None:
        ends = np.cumsum(widths) + self._used
        starts = ends - widths
        placed = values.astype(np.uint64) << (64 - (starts & 31) - widths).astype(np.uint64) % 64
        placed[widths == 0] = 0
        full, used = divmod(int(ends[-1]), 32)
        # No two values share a bit, so sums are unions, and exact in float64.
        high = np.bincount(starts >> 5, (placed >> np.uint64(32)).astype(np.float64), full + 2)
        low = np.bincount(
            (starts >> 5) + 1, (placed & np.uint64(0xFFFFFFFF)).astype(np.float64), full + 2
        )
        words = (high + low).astype(np.uint32)
        words[0] |= self._last
        self._full.append(words[:full])
        self._last, self._used = words[full], used

    def words(self) -> NDArray[np.uint32]:
        """All words; the last one is padded with zeros."""
        last = np.array([self._last], np.uint32)
        return np.concatenate([*self._full, last[: self._used]])
