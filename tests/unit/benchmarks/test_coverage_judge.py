"""The comparison itself: it must not take a wrong capture for a right one."""

from typing import Any

import numpy as np
import pytest
import torch

from attnwidget import AttentionRecord
from benchmarks import zoo
from benchmarks.coverage.judge import judge
from benchmarks.coverage.match import Captured, difference, match
from benchmarks.coverage.outputs import changed
from benchmarks.coverage.result import Category
from benchmarks.reference import Reference, not_a_softmax

LENGTH = 5


def attention(seed: int, blocks: int = 1, heads: int = 2) -> Any:
    scores = np.random.default_rng(seed).normal(size=(blocks, heads, LENGTH, LENGTH)) * 3
    weights = np.exp(scores)
    return (weights / weights.sum(-1, keepdims=True)).astype(np.float32)


def reference(weights: Any) -> Reference:
    return Reference("attentions", 0, (weights,), "")


def captured(weights: Any, exact: bool = True) -> Captured:
    return Captured("self 0", weights[0], exact)


def record(weights: Any) -> AttentionRecord:
    return AttentionRecord.from_arrays([weights[0]], list("abcde"))


def test_windows_lie_on_the_diagonal() -> None:
    windows = attention(0, blocks=3)
    joined = np.zeros((2, 3 * LENGTH, 3 * LENGTH), np.float32)
    for window in range(3):
        place = slice(window * LENGTH, (window + 1) * LENGTH)
        joined[:, place, place] = windows[window]
    assert difference(windows, joined) == 0
    joined[0, 0, -1] = 0.5
    assert difference(windows, joined) == 0.5


def test_layers_of_other_shapes_do_not_fit() -> None:
    assert difference(attention(0), attention(0, heads=3)[0]) == np.inf


def test_a_layer_stands_for_one_reference_only() -> None:
    same = attention(0)
    [first, second] = match([reference(same), reference(same)], [captured(same)])
    assert first.exact
    assert second.captured is None


def test_a_layer_goes_to_the_reference_that_it_equals() -> None:
    first, second = attention(0), attention(1)
    matches = match([reference(second), reference(first)], [captured(first), captured(second)])
    assert all(m.exact for m in matches)


@pytest.mark.parametrize(
    ("exact", "category"), [(True, Category.SILENT), (False, Category.MISS), (None, Category.MISS)]
)
def test_a_difference_is_silent_where_the_layer_counts_as_exact(
    exact: Any, category: Category
) -> None:
    matches = match([reference(attention(0))], [captured(attention(1), exact)])
    assert judge(record(attention(1)), matches, returned=True, sinks=False)[0] is category


def test_a_missing_module_is_a_miss() -> None:
    same = attention(0)
    partly = AttentionRecord(
        {"self": record(same).stack()}, missing=["encoder.attention: it could not be explained"]
    )
    matches = match([reference(same)], [captured(same)])
    assert judge(record(same), matches, returned=True, sinks=False)[0] is Category.EXACT
    assert judge(partly, matches, returned=True, sinks=False)[0] is Category.MISS


def test_rows_must_sum_to_one() -> None:
    whole = attention(0)[0]
    assert not not_a_softmax(whole, sinks=False)
    assert not not_a_softmax(whole / 2, sinks=True)
    assert "0.5" in not_a_softmax(whole / 2, sinks=False)
    assert "not probabilities" in not_a_softmax(whole * 2, sinks=True)


def test_outputs_are_compared_bit_for_bit() -> None:
    before = {"logits": torch.tensor([1.0, float("nan")]), "layers": (torch.zeros(2),)}
    same = {"logits": before["logits"].clone(), "layers": (torch.zeros(2),)}
    other = {"logits": before["logits"].clone(), "layers": (torch.tensor([0.0, 1e-30]),)}
    assert not changed(before, same)
    assert changed(before, other) == ".layers[0] differs"
    assert changed(before, {"logits": same["logits"]}) == ".layers[0] is gone"


def test_a_name_always_gives_the_same_model_whatever_its_attention() -> None:
    models = [zoo.build("gemma2", attention).model for attention in (None, "eager", None)]
    first, *others = [list(model.parameters()) for model in models]
    for other in others:
        assert all(torch.equal(a, b) for a, b in zip(first, other, strict=True))


def test_what_cannot_be_built_says_why() -> None:
    with pytest.raises(zoo.CannotBuild, match="inference_session"):
        zoo.build("sam2_video")
