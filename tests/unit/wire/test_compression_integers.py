"""Coded integers come back exactly, and zlib packs them into bytes near their entropy."""

import zlib

import numpy as np
import pytest

from attnwidget.wire import Block
from attnwidget.wire.compression.integers import LARGEST, add_integers
from attnwidget.wire.compression.layer import packed_buffers
from tests.decoding import decode_arrays

RNG = np.random.default_rng(3)


def _channels(count: int, length: int) -> np.ndarray:
    """Channels of unequal centres and spreads."""
    centres, spreads = RNG.integers(-900, 900, (count, 1)), RNG.uniform(0, 90, (count, 1))
    return np.rint(RNG.normal(size=(count, length)) * spreads + centres).astype(np.int64)


def _block(values: np.ndarray) -> Block:
    block = Block([], [])
    add_integers(block, "integers", values)
    return block


def _size(values: np.ndarray) -> int:
    return len(packed_buffers(_block(values)))


CASES = {
    "one integer": np.array([[-5]]),
    "one per channel": _channels(50, 1),
    "equal": np.full((7, 100), 12),
    "zeros": np.zeros((3, 5000), np.int64),
    "small": RNG.integers(-2, 3, (9, 70)),
    "channels": _channels(40, 512),
    "more axes": _channels(40, 64).reshape(8, 5, 64),
    "very far apart": np.array([[LARGEST, -LARGEST, 0, 1, -1, 15, 16, -16, 17]]),
    "one far from the others": np.array([[*range(60), LARGEST]]),
}


@pytest.mark.parametrize("name", CASES)
def test_come_back(name: str) -> None:
    values = CASES[name]
    block = _block(values)
    assert np.array_equal(decode_arrays(block.parts, block.buffers)["integers"], values)


def test_near_their_entropy() -> None:
    """The size is close to the entropy of the channels' distributions, which is known here."""
    spreads = np.repeat([4.0, 20.0, 60.0, 2000.0], 40)[:, None]
    values = np.rint(RNG.normal(size=(160, 1000)) * spreads).astype(np.int64)
    entropy = 1000 * np.log2(spreads * np.sqrt(2 * np.pi * np.e)).sum() / 8
    assert _size(values) < 1.02 * entropy


def test_a_channel_of_zeros_costs_next_to_nothing() -> None:
    values = _channels(64, 512)
    mixed = np.zeros((128, 512), np.int64)
    mixed[::2] = values
    assert _size(mixed) < 1.02 * _size(values) + 200


def test_packed_buffers_are_those_of_zlib() -> None:
    block = _block(CASES["channels"])
    assert zlib.decompress(packed_buffers(block)) == b"".join(block.buffers)


@pytest.mark.parametrize(
    "values", [[[LARGEST + 1]], [[LARGEST, LARGEST - 1, LARGEST]]], ids=["large", "far and near"]
)
def test_what_is_too_far_away_is_refused(values: list[list[int]]) -> None:
    with pytest.raises(OverflowError, match="cannot be coded"):
        _block(np.array(values))
