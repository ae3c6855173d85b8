"""A record of weights alone: what can be shown is shown, what cannot says why."""

import numpy as np
import pytest
from playwright.sync_api import expect

import attnwidget as aw
from tests.browser.view import WEIGHT_TOLERANCE, View, expect_lines, expect_strongest, numbers
from tests.support import OpenPage


@pytest.fixture
def view(open_page: OpenPage, weights_only: aw.AttentionRecord) -> View:
    return View(open_page(aw.AttentionWidget(weights_only).to_html(quality="exact"), height=1000))


def test_the_head_view(view: View, weights_only: aw.AttentionRecord) -> None:
    labels, _ = weights_only.tokens()
    weights = {head: weights_only.weights(1, head) for head in range(weights_only.num_heads(1))}
    expect_lines(view)
    view.show(1, 3)
    view.query(2).hover()
    rows = {head: array[2] for head, array in weights.items()}
    expect_strongest(view, f"Layer 1 {labels[2]} →", rows, labels)
    view.key(2).hover()
    columns = {head: array[:, 2] for head, array in weights.items()}
    expect_strongest(view, f"Layer 1 {labels[2]} ←", columns, labels)


def test_the_matrix_has_no_scores(view: View, weights_only: aw.AttentionRecord) -> None:
    weights = weights_only.weights(0, 0)
    view.point_at_cell(1, 4, *weights.shape)
    expect(view.status).to_contain_text("weight")
    said = view.status.inner_text()
    assert abs(numbers(said)[0] - weights[1, 4]) <= WEIGHT_TOLERANCE
    assert "score" not in said


def test_the_model_view(view: View, weights_only: aw.AttentionRecord) -> None:
    view.open("Model")
    heads = [weights_only.num_heads(layer) for layer in range(weights_only.num_layers())]
    expect(view.grid.get_by_role("gridcell")).to_have_count(sum(heads))
    view.cell(1, 3).hover()
    expect(view.status).to_contain_text("Layer 1 · Head 3")
    weights = weights_only.weights(1, 3).astype(np.float64)
    entropy = -(weights * np.log(weights)).sum(axis=1).mean()
    assert abs(numbers(view.status.inner_text())[0] - entropy) <= 0.006


def test_the_neuron_view_says_what_it_lacks(view: View) -> None:
    view.open("Neuron")
    expect(view.body).to_contain_text("This view needs its query and key vectors")
    expect(view.body).to_contain_text("attnwidget.capture")
    # Nothing is wrong, so nothing alarms.
    expect(view.alert).to_have_count(0)
    view.open("Head")
    expect_lines(view)
