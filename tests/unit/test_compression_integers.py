"""Coded integers come back exactly, in bytes near their entropy."""

import tracemalloc

import numpy as np
import pytest

from attnwidget.wire.compression.integers import LARGEST, encode_integers
from tests.decoding import decode_integers

RNG = np.random.default_rng(3)


def _channels(count: int, length: int) -> np.ndarray:
    """Of unequal centres and spreads."""
    centres, spreads = RNG.integers(-900, 900, (count, 1)), RNG.uniform(0, 90, (count, 1))
    return np.rint(RNG.normal(size=(count, length)) * spreads + centres).astype(np.int64)


CASES = {
    "one integer": np.array([[-5]]),
    "one per channel": _channels(50, 1),
    "fewer than there are states": _channels(1, 3),
    "equal": np.full((7, 100), 12),
    "zeros": np.zeros((3, 5000), np.int64),
    "small": RNG.integers(-2, 3, (9, 70)),
    "channels": _channels(40, 512),
    "very far apart": np.array([[LARGEST, -LARGEST, 0, 1, -1, 15, 16, -16, 17]]),
    "centres beyond what is kept of them": _channels(8, 64) + np.array([[LARGEST // 2]]),
}


@pytest.mark.parametrize("name", CASES)
def test_come_back(name: str) -> None:
    values = CASES[name]
    decoded = decode_integers(encode_integers(values), values.size)
    assert decoded.dtype == np.int32
    assert np.array_equal(decoded, values.ravel())


@pytest.mark.parametrize("length", [1, 7, 64, 1000])
def test_channels_of_another_length(length: int) -> None:
    """The last may be shorter, or all may fit into one."""
    values = _channels(3, 101)
    assert np.array_equal(decode_integers(encode_integers(values, length), 303), values.ravel())


def test_near_their_entropy() -> None:
    """That of each channel's distribution, which is known here."""
    spreads = np.repeat([4.0, 20.0, 60.0], 40)[:, None]
    values = np.rint(RNG.normal(size=(120, 1000)) * spreads).astype(np.int64)
    entropy = 1000 * np.log2(spreads * np.sqrt(2 * np.pi * np.e)).sum() / 8
    assert len(encode_integers(values)) < 1.02 * entropy


def test_a_channel_of_zeros_costs_next_to_nothing() -> None:
    values = _channels(64, 512)
    mixed = np.zeros((128, 512), np.int64)
    mixed[::2] = values
    # Both have as many tables for what is not zero.
    assert len(encode_integers(mixed)) < 1.02 * len(encode_integers(values)) + 200


def test_what_is_too_far_away_is_refused() -> None:
    with pytest.raises(OverflowError, match="cannot be coded"):
        encode_integers(np.array([[LARGEST + 1]]))


def test_many_take_little_more_memory_than_they_have() -> None:
    values = _channels(1 << 14, 64).astype(np.int32)
    tracemalloc.start()
    try:
        encode_integers(values)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * values.nbytes
