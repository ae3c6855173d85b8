"""Plots of attention on the image of a vision model."""

from dataclasses import replace
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from attnwidget import AttentionRecord, AttentionWidget, capture, plot
from attnwidget.plot.figure import draw_figure
from attnwidget.plot.shown import Shown
from attnwidget.record import ScoreProgram
from attnwidget.view_state import choice_values
from tests.unit.tiny import tiny


@pytest.fixture(autouse=True)
def _closed() -> Any:
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def pictured() -> AttentionRecord:
    """2 × 4 patches after [CLS]."""
    pixels = torch.rand(1, 3, 8, 16, generator=torch.Generator().manual_seed(0))
    model = tiny("ViT", image_size=(8, 16), patch_size=4)
    return capture(model, None, {"pixel_values": pixels})


def _veil(axes: Axes) -> Any:
    """The opacity over every patch, as a share of the densest."""
    return np.asarray(axes.images[1].get_array())[..., 3] / 0.88


def _framed(axes: Axes) -> list[tuple[float, float]]:
    return [p.get_xy() for p in axes.patches if isinstance(p, Rectangle)]


def _figure(record: AttentionRecord, **choices: Any) -> list[Axes]:
    return draw_figure(Shown(record, **choice_values(AttentionWidget(record, **choices)))).axes


def test_the_veil_lifts_where_a_patch_looks(pictured: AttentionRecord) -> None:
    axes = plot.head(pictured, 1, [2], query=6)
    assert axes.get_title(loc="left") or axes.get_title() == "Layer 1 · Head 2"
    weights = pictured.weights(1, 2)[6, 1:].astype(float)
    others = np.delete(weights, 5)
    expected = 1 - np.sqrt(np.minimum(1, weights / others.max()))
    np.testing.assert_allclose(_veil(axes), expected.reshape(2, 4), atol=1e-6)
    image = np.asarray(axes.images[0].get_array())
    assert image.shape == (56, 112, 3)
    # Patch 1,1 and the three strongest others.
    assert len(_framed(axes)) == 4
    assert _framed(axes)[-1] == (28, 28)
    assert f"[CLS] {pictured.weights(1, 2)[6, 0]:.3f}" in axes.get_xlabel()
    assert "but itself" in axes.get_xlabel().replace("\n", " ")


def test_cls_looks_if_nothing_is_locked(pictured: AttentionRecord) -> None:
    queries, keys = _figure(pictured, layer=1, head=3)
    assert len(queries.images) == 1
    weights = pictured.weights(1, 3)[0, 1:].astype(float)
    expected = 1 - np.sqrt(weights / weights.max())
    np.testing.assert_allclose(_veil(keys), expected.reshape(2, 4), atol=1e-6)


def test_a_text_looks_from_its_last_token(pictured: AttentionRecord) -> None:
    """With a causal mask, no other token sees the whole image."""
    stack = pictured.stack()
    causal = ScoreProgram(scale=0.3, mask="causal")
    layers = tuple(replace(layer, program=causal) for layer in stack.layers)
    record = AttentionRecord({"self": replace(stack, layers=layers)}, image=pictured.image)
    _, keys = _figure(record)
    weights = record.weights(0, 0)[8, 1:].astype(float)
    expected = 1 - np.sqrt(np.minimum(1, weights / weights[:-1].max()))
    np.testing.assert_allclose(_veil(keys), expected.reshape(2, 4), atol=1e-6)


def test_the_patch_in_the_middle_looks_without_cls() -> None:
    pixels = torch.rand(1, 3, 16, 16, generator=torch.Generator().manual_seed(0))
    record = capture(
        tiny("SiglipVision", image_size=16, patch_size=4), None, {"pixel_values": pixels}
    )
    queries, keys = _figure(record)
    assert queries.get_title() == "Query 2,2"
    weights = record.weights(0, 0)[10].astype(float)
    expected = 1 - np.sqrt(np.minimum(1, weights / np.delete(weights, 10).max()))
    np.testing.assert_allclose(_veil(keys), expected.reshape(4, 4), atol=1e-6)


def test_a_locked_key_shows_who_looks_at_it(pictured: AttentionRecord) -> None:
    queries, keys = _figure(pictured, key=4)
    assert len(keys.images) == 1
    column = pictured.weights(0, 0)[1:, 4].astype(float)
    expected = 1 - np.sqrt(np.minimum(1, column / np.delete(column, 3).max()))
    np.testing.assert_allclose(_veil(queries), expected.reshape(2, 4), atol=1e-6)


def test_combined_heads(pictured: AttentionRecord) -> None:
    _, keys = _figure(pictured, query=0, combine="mean", heads=[0, 1])
    weights = (pictured.weights(0, 0) + pictured.weights(0, 1))[0, 1:].astype(float)
    expected = 1 - np.sqrt(weights / weights.max())
    np.testing.assert_allclose(_veil(keys), expected.reshape(2, 4), atol=1e-6)


def test_lines_where_they_are_asked_for(pictured: AttentionRecord) -> None:
    assert plot.head(pictured, 1, [2], query=6, picture=False).collections
    assert plot.head(pictured, 1, query=6).collections, "several heads"
    assert plot.head(pictured, 1, [2]).collections, "all queries"
    assert _figure(pictured, picture=False)[0].collections
