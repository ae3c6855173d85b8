"""Estimates of grids are the first order of patches."""

from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr

import attnwidget as aw
from attnwidget.analysis.grid_estimate import rank_correlation
from attnwidget.interventions.by_layer import HeadOutputs
from tests.unit.snapshot import Snapshot
from tests.unit.tiny import Model, tiny, token_ids

LENGTH = 5
CLEAN, CORRUPT = ({"input_ids": token_ids(LENGTH, seed=seed)} for seed in (0, 1))


def llama(**options: Any) -> Model:
    return tiny("LlamaForCausalLM", num_key_value_heads=2, **options)


def neox() -> Model:
    return tiny("GPTNeoXForCausalLM")  # attention and MLP side by side


def metric(output: Any) -> Any:
    return output.logits[0, -1, 7] - output.logits[0, -1, 9]


PLACES = ["residual pre", "residual mid", "residual post", "attention", "mlp", "embedding", "head"]
PLACES += ["queries", "keys", "values", "weights"]


def slope(model: Model, at: Any, way: float = 1e-2, **where: Any) -> float:
    """How fast the metric changes with the share of the clean text at a place, measured."""
    clean, corrupt = (aw.head_outputs(model, None, each, at=at) for each in (CLEAN, CORRUPT))
    numbers = []
    for share in (way, -way):
        mixed = {
            layer: own + np.float32(share) * (clean.layer(layer) - own)
            for layer, own in corrupt.layers["self"].items()
        }
        patch = aw.Patch(HeadOutputs({"self": mixed}, (), at), at=at, **where)
        with torch.no_grad(), aw.intervene(model, patch):
            numbers.append(float(metric(model(**CORRUPT))))
        with torch.no_grad():
            before, after = (float(metric(model(**each))) for each in (CORRUPT, CLEAN))
    return (numbers[0] - numbers[1]) / (2 * way) / (after - before)


@pytest.mark.parametrize("build", [llama, neox])
@pytest.mark.parametrize("at", PLACES)
def test_estimates_are_the_slope_of_patches(build: Any, at: Any) -> None:
    model = build()
    if at == "residual mid" and build is neox:
        with pytest.raises(ValueError, match="no 'residual mid'"):
            aw.patch_estimate(model, None, CLEAN, CORRUPT, metric=metric, at=at)
        return
    model = model.double()
    snapshot = Snapshot(model)
    found = aw.patch_estimate(model, None, CLEAN, CORRUPT, metric=metric, at=at, check=0)
    layers = [0] if at == "embedding" else [0, 1]
    expected = [
        [
            slope(model, at, 1e-3, positions=n, **({} if at == "embedding" else {"layers": layer}))
            for n in range(LENGTH)
        ]
        for layer in layers
    ]
    np.testing.assert_allclose(found.values, expected, atol=2e-3 * np.abs(expected).max())
    assert np.abs(expected).max() > 1e-3
    snapshot.assert_unchanged()


@pytest.mark.parametrize("at", ["head", "keys"])
def test_estimates_by_head(at: Any) -> None:
    model = llama().double()
    options: dict[str, Any] = {"metric": metric, "at": at, "check": 0}
    of_heads = aw.patch_estimate(model, None, CLEAN, CORRUPT, by="head", **options)
    # Of heads that share keys, each that they share is one.
    shared = 2 if at == "keys" else 1
    expected = [
        [
            slope(model, at, 1e-3, layers=layer, heads=[*range(head, head + shared)])
            for head in range(0, 4, shared)
        ]
        for layer in range(2)
    ]
    np.testing.assert_allclose(of_heads.values, expected, atol=2e-3 * np.abs(expected).max())
    each = aw.patch_estimate(model, None, CLEAN, CORRUPT, by="head×position", **options)
    np.testing.assert_allclose(
        each.values.sum(axis=1), of_heads.values.ravel(), rtol=1e-4, atol=1e-6
    )
    assert each.null is not None
    assert each.null.shape == each.values.shape
    assert not np.allclose(each.null, each.values)


def test_some_cells_are_patched_exactly() -> None:
    model = tiny("GPT2LMHeadModel", n_embd=32, n_head=4, n_layer=2)
    options: dict[str, Any] = {"metric": metric, "at": "head"}
    scores = aw.patch_scan(model, None, CLEAN, CORRUPT, null=False, **options)
    found = aw.patch_estimate(model, None, CLEAN, CORRUPT, check=4, **options)
    known = ~np.isnan(found.exact)
    assert known.sum() == 4
    np.testing.assert_allclose(found.exact[known], scores.values[known], atol=1e-5)
    expected = spearmanr(found.values[known], scores.values[known])[0]
    assert found.agreement == pytest.approx(expected)
    assert "rank agreement" in repr(found)
    assert list(found.table())[-1] == "exact"
    whole = aw.patch_estimate(model, None, CLEAN, CORRUPT, check=100, **options)
    # The last layer matters at the last position alone; there is nothing to check elsewhere.
    told = whole.values != 0
    assert 4 < told.sum() < told.size
    np.testing.assert_allclose(whole.exact[told], scores.values[told], atol=1e-5)
    assert np.isnan(whole.exact[~told]).all()


def test_equal_numbers_share_their_rank() -> None:
    random = np.random.default_rng(0)
    a, b = random.integers(0, 4, (2, 30)).astype(float)
    assert rank_correlation(a, b) == pytest.approx(spearmanr(a, b)[0])
    assert np.isnan(rank_correlation(a, np.ones(30)))


def test_integrated_gradients_of_the_embedding_are_the_whole_difference() -> None:
    options: dict[str, Any] = {"metric": metric, "at": "embedding", "by": "layer", "check": 1}
    model = llama(initializer_range=0.1).double()
    plain = aw.patch_estimate(model, None, CLEAN, CORRUPT, **options)
    found = aw.patch_estimate(model, None, CLEAN, CORRUPT, steps=40, **options)
    np.testing.assert_allclose(found.exact, 1, atol=1e-5)
    np.testing.assert_allclose(found.values, 1, atol=1e-2)
    assert abs(plain.values[0, 0] - 1) > 0.1


def test_a_metric_without_a_gradient_is_refused() -> None:
    with pytest.raises(ValueError, match="no tensor with a gradient"):
        aw.patch_estimate(llama(), None, CLEAN, CORRUPT, metric=lambda out: metric(out).item())
    with torch.inference_mode(), pytest.raises(ValueError, match="inference_mode"):
        aw.patch_estimate(llama(), None, CLEAN, CORRUPT, metric=metric)
