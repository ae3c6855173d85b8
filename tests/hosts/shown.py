"""The checks of every host: three views of a pair of sentences, with the record's numbers."""

import os

import numpy as np
from playwright.sync_api import Locator, expect

import attnwidget as aw
from tests.browser.view import (
    SCORE_TOLERANCE,
    WEIGHT_TOLERANCE,
    View,
    brightness,
    eventually,
    expect_lines,
    expect_painted,
    expect_strongest,
    look,
    metrics_of,
    numbers,
)

# Without a model the kernel is ready soon; the test's own process has captured the record.
LOAD = """
import attnwidget as aw
record = aw.AttentionRecord.load("record.safetensors")
"""

# The number of first paints per host; see docs/develop/testing.md.
PAINTS = int(os.environ.get("ATTNWIDGET_PAINTS", "1"))


def expect_head_view(view: View, record: aw.AttentionRecord, layer: int = 0) -> None:
    """The lines of a layer, and the strongest weights of a token that is pointed at."""
    view.open("Head")
    expect_lines(view)
    view.query(4).hover()
    rows = {head: record.weights(layer, head)[4] for head in range(record.num_heads(layer))}
    expect_strongest(view, f"Layer {layer} fox →", rows, record.tokens()[1])


def expect_model_view(view: View, record: aw.AttentionRecord) -> None:
    """A picture of every head, and the metrics of one."""
    view.open("Model")
    heads = sum(record.num_heads(layer) for layer in range(record.num_layers()))
    expect(view.grid.get_by_role("gridcell")).to_have_count(heads)
    expect_painted(view.grid)
    view.cell(1, 8).hover()
    expect(view.status).to_contain_text("Layer 1 · Head 8")
    metrics_as_said(view.status.inner_text(), record)


def metrics_as_said(said: str, record: aw.AttentionRecord) -> None:
    """The status line of layer 1, head 8."""
    found = metrics_of(said)
    weights = record.weights(1, 8).astype(np.float64)
    assert abs(found["entropy"] + (weights * np.log(weights)).sum(axis=1).mean()) <= 0.006
    assert abs(found["share on previous token"] - np.diag(weights, -1).mean()) <= WEIGHT_TOLERANCE
    assert abs(found["share on next token"] - np.diag(weights, 1).mean()) <= WEIGHT_TOLERANCE


def expect_neuron_view(view: View, record: aw.AttentionRecord) -> None:
    """Check the neuron view of "fox" and "dog" in head 0 of layer 0."""
    view.open("Neuron")
    view.show(0, 0)
    for picture in view.body.locator("canvas:visible").all():
        expect_painted(picture)
    view.query(4).hover()
    view.key(9).hover()
    expect(view.status).to_contain_text("→ dog q·k")
    view.query(4).click()
    view.key(9).hover()
    expect(view.status).to_contain_text("fox → dog q·k")
    pair_as_said(view.status.inner_text(), record)
    view.query(4).click()


def pair_as_said(said: str, record: aw.AttentionRecord) -> None:
    """The status line of the head view for "fox" and "dog" in head 0 of layer 0."""
    dot, scaled, softmax, _ = numbers(said)
    q, k = record.queries(0, 0)[4], record.keys(0, 0)[9]
    assert abs(dot - q @ k) <= SCORE_TOLERANCE
    assert abs(scaled - record.scores(0, 0)[4, 9]) <= SCORE_TOLERANCE
    assert abs(softmax - record.weights(0, 0)[4, 9]) <= WEIGHT_TOLERANCE


def expect_three_views(view: View, record: aw.AttentionRecord) -> None:
    expect_head_view(view, record)
    expect_model_view(view, record)
    expect_neuron_view(view, record)
    expect(view.alert).to_have_count(0)


def expect_brightness(place: Locator, *, dark: bool) -> None:
    """The place's background is as dark or light as the host's theme."""

    def fits() -> None:
        bright = brightness(look(place))
        assert bright < 48 if dark else bright > 230, bright

    eventually(place.page, fits)
