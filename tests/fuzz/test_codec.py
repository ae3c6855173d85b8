"""Any integers come back from their code."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from attnwidget.wire.compression.integers import LARGEST, encode_integers
from tests.decoding import decode_integers


@given(
    arrays(np.int64, array_shapes(max_dims=3, max_side=40), elements=st.integers(-LARGEST, LARGEST))
)
def test_integers_come_back(values: np.ndarray) -> None:
    assert np.array_equal(decode_integers(encode_integers(values), values.size), values.ravel())
