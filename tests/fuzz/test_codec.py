"""Any integers come back from their code."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from attnwidget.wire import Block
from attnwidget.wire.compression.integers import LARGEST, add_integers
from tests.decoding import decode_arrays


@given(
    arrays(np.int64, array_shapes(max_dims=3, max_side=40), elements=st.integers(-LARGEST, LARGEST))
)
def test_integers_come_back(values: np.ndarray) -> None:
    block = Block([], [])
    try:
        add_integers(block, "integers", values)
    except OverflowError:
        # A centre too far away for its channel's spread.
        assert np.abs(values).max() > 2**15
        return
    decoded = decode_arrays(block.parts, block.buffers)["integers"]
    assert np.array_equal(decoded, values)
