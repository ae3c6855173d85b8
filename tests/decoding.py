"""Decoder of coded integers in Python, for tests and benchmarks; browsers have their own."""

from __future__ import annotations

import struct

import numpy as np
from numpy.typing import NDArray

_HEADER = struct.Struct("<IHBBIB")
_BITS = 12
_SMALL = 16

Integers = NDArray[np.int64]


def decode_integers(data: bytes, count: int) -> NDArray[np.int32]:
    """The first `count` integers that `encode_integers` wrote."""
    length, lanes, tables, size, num_words, shift = _HEADER.unpack_from(data)
    channels = -(-count // length)
    start = _HEADER.size
    arrays: list[Integers] = []
    for kind, items in (
        ("u1", channels),
        ("i1", channels),
        ("<u2", tables * size),
        ("<u4", lanes),
        ("<u2", num_words),
    ):
        arrays.append(np.frombuffer(data, kind, items, start).astype(np.int64))
        start += items * np.dtype(kind).itemsize
    table, centres, frequencies, states, words = arrays
    channel = np.arange(count) // length
    tokens = _decode_tokens(frequencies.reshape(tables, size), table[channel], states, words)
    widths = np.where(tokens < _SMALL, 0, (tokens - _SMALL) // 4 + 2)
    mantissa = np.where(tokens < _SMALL, tokens, 4 | tokens & 3)
    zigzag = mantissa << widths | _lower_bits(data[start:], widths)
    difference = np.where(zigzag & 1, -(zigzag + 1) // 2, zigzag // 2)
    return (difference + (centres << shift)[channel]).astype(np.int32)


def _decode_tokens(
    frequencies: Integers, table: Integers, states: Integers, words: Integers
) -> Integers:
    starts = np.cumsum(frequencies, axis=1) - frequencies
    token_at = np.stack([np.repeat(np.arange(len(row)), row) for row in frequencies])
    tokens = np.empty(len(table), np.int64)
    lanes, position = len(states), 0
    for first in range(0, len(table), lanes):
        tables = table[first : first + lanes]
        state = states[: len(tables)]
        slot = state & ((1 << _BITS) - 1)
        token = token_at[tables, slot]
        tokens[first : first + lanes] = token
        state[:] = frequencies[tables, token] * (state >> _BITS) + slot - starts[tables, token]
        empty = np.flatnonzero(state < 1 << 16)
        state[empty] = state[empty] << 16 | words[position : position + len(empty)]
        position += len(empty)
    assert position == len(words)
    # The decoder ends in the encoder's first state.
    assert (states == 1 << 16).all()
    return tokens


def _lower_bits(data: bytes, widths: Integers) -> Integers:
    ends = np.cumsum(widths)
    bits = np.unpackbits(np.frombuffer(data, np.uint8)).astype(np.int64)
    assert len(bits) == -(-(int(ends[-1]) if len(ends) else 0) // 32) * 32
    values = np.zeros(len(widths), np.int64)
    for n in range(int(widths.max(initial=0))):
        has_bit = widths > n
        values[has_bit] = values[has_bit] << 1 | bits[(ends - widths + n)[has_bit]]
    return values
