"""Models in other floating-point types are as exact as their type allows."""

import numpy as np
import pytest
import torch

from attnwidget import capture
from tests.unit.tiny import llama, returned, token_ids


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(torch.float64, 1e-5), (torch.bfloat16, 3e-2), (torch.float16, 5e-3)]
)
def test_other_precisions(dtype: torch.dtype, tolerance: float) -> None:
    model = llama().to(dtype)
    eager = llama("eager").to(dtype)
    text = {"input_ids": token_ids(12)}
    record = capture(model, None, text)
    assert record.queries(0, 0).dtype == np.float32
    for fidelity in record.fidelity["self"]:
        assert fidelity.exact is True
        assert fidelity.tolerance == tolerance
    # Of the first layer only: in lower precision, two runs drift apart from layer to layer.
    for head, own in enumerate(returned(eager, **text)["attentions"][0][0]):
        np.testing.assert_allclose(record.weights(0, head), own, rtol=0, atol=tolerance)
        np.testing.assert_allclose(record.weights(0, head).sum(axis=1), 1, atol=1e-5)
