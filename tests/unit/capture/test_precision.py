"""Models in other floating-point types are as exact as their type allows."""

import numpy as np
import pytest
import torch

from attnwidget import capture
from attnwidget.record import ScoreProgram
from tests.unit.tiny import Model, llama, returned, token_ids


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
    # Only the first layer: in lower precision, two runs drift apart from layer to layer.
    for head, own in enumerate(returned(eager, **text)["attentions"][0][0]):
        np.testing.assert_allclose(record.weights(0, head), own, rtol=0, atol=tolerance)
        np.testing.assert_allclose(record.weights(0, head).sum(axis=1), 1, atol=1e-5)


def sharpened(attention: str, factor: float) -> Model:
    """A Llama whose scores are this many times as large."""
    model = llama(attention)
    with torch.no_grad():
        for layer in model.layers:
            layer.self_attn.q_proj.weight *= factor
    return model


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_large_scores_are_exact_as_far_as_their_rounding_allows(attention: str) -> None:
    """Scores of ten thousands differ by 1e-3 from one order of summation to another."""
    record = capture(sharpened(attention, 3000), None, {"input_ids": token_ids(32)})
    for layer, fidelity in enumerate(record.fidelity["self"]):
        scores = record.scores(layer, 0)
        largest = np.abs(scores[np.isfinite(scores)]).max()
        assert largest > 1e4
        assert fidelity.exact is True
        assert 1e-7 * largest < fidelity.tolerance < 1e-2 * largest / 1e4


def test_a_wrong_mask_is_no_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    """A score program without causality fails the check, so that the weights are kept instead."""
    monkeypatch.setattr(ScoreProgram, "_distances", property(lambda program: None))
    record = capture(sharpened("sdpa", 30), None, {"input_ids": token_ids(32)})
    assert {fidelity.kept for fidelity in record.fidelity["self"]} == {"weights"}
