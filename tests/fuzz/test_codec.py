"""Damaged coded integers are integers of as many, or refused."""

import struct
from contextlib import suppress
from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from attnwidget.wire.compression.integers import (
    LARGEST,
    MAX_INTEGERS,
    decode_integers,
    encode_integers,
)
from tests.fuzz import mutate
from tests.fuzz.campaign import campaign

COUNT = struct.Struct("<I")


def seeds() -> list[bytes]:
    """The number of integers, and their bytes."""
    random = np.random.default_rng(0)
    given = [
        random.integers(-5, 5, (3, 40)),
        np.rint(random.normal(size=(4, 300)) * np.geomspace(1, 1e5, 4)[:, None]).astype(int),
        np.full((2, 50), 7),
        random.integers(-LARGEST, LARGEST, (2, 9)),
        np.rint(random.normal(size=(1, 3000)) * 100).astype(int),
    ]
    return [COUNT.pack(values.size) + encode_integers(values) for values in given]


def test_damaged_integers() -> None:
    known = seeds()

    def make(random: Random) -> bytes:
        return mutate.bytes_of(random.choice(known), known, random)

    def check(data: bytes) -> bool:
        if len(data) < COUNT.size:
            return False
        [count] = COUNT.unpack_from(data)
        # What is claimed is the caller's, who knows it: a page's manifest, checked before.
        if 1 << 16 < count <= MAX_INTEGERS:
            count %= 1 << 16
        try:
            values = decode_integers(data[COUNT.size :], count)
        except ValueError:
            return False
        assert values.dtype == np.int32
        assert values.shape == (count,)
        return True

    campaign("integers", 3000, make, check)


@given(
    arrays(np.int64, array_shapes(max_dims=3, max_side=40), elements=st.integers(-LARGEST, LARGEST))
)
def test_integers_come_back(values: np.ndarray) -> None:
    assert np.array_equal(decode_integers(encode_integers(values), values.size), values.ravel())


@given(st.binary(max_size=300), st.integers(0, 1000))
def test_noise_is_no_integers(data: bytes, count: int) -> None:
    with suppress(ValueError):
        assert decode_integers(data, count).shape == (count,)
