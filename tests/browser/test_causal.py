"""A decoder: later tokens are masked, and seen to be."""

import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

import attnwidget as aw
from tests.browser.view import WEIGHT_TOLERANCE, View, ink, look, names, numbers
from tests.support import OpenPage

LAYER, HEAD, QUERY = 18, 6, 5


@pytest.fixture
def view(open_page: OpenPage, smollm2_page: Path) -> View:
    view = View(open_page(smollm2_page, height=1000))
    view.show(LAYER, HEAD)
    return view


def test_a_later_key_is_masked_in_the_neuron_view(
    view: View, smollm2_record: aw.AttentionRecord
) -> None:
    labels = names(smollm2_record.tokens()[0])
    scores = smollm2_record.scores(LAYER, HEAD)[QUERY]
    weights = smollm2_record.weights(LAYER, HEAD)[QUERY]
    view.open("Neuron")
    view.query(QUERY).click()
    for key, score in enumerate(scores):
        view.key(key).hover()
        pair = f"{labels[QUERY]} → {labels[key]}"
        if score == -np.inf:
            assert weights[key] == 0
            expect(view.status).to_contain_text(f"{pair} masked")
        else:
            expect(view.status).to_contain_text(f"{pair} q·k")
            shown = numbers(view.status.inner_text().split("softmax")[1])[0]
            assert abs(shown - weights[key]) <= WEIGHT_TOLERANCE


def test_a_masked_key_has_no_product_in_the_picture(
    view: View, smollm2_record: aw.AttentionRecord
) -> None:
    visible = smollm2_record.scores(LAYER, HEAD)[QUERY] > -np.inf
    view.open("Neuron")
    view.query(QUERY).click()
    view.status.hover()
    left, right = (
        view.body.get_by_text(name, exact=True).bounding_box() for name in ("q × k", "Softmax")
    )
    canvas = view.lines.bounding_box()
    assert left
    assert right
    assert canvas
    products = ink(look(view.lines))[:, int(left["x"] - canvas["x"]) :][:, : int(left["width"])]
    for key, seen in enumerate(visible):
        row = view.key(key).bounding_box()
        assert row
        top = int(row["y"] - canvas["y"])
        # The line between the halves that are rotated together runs through every row.
        inked = (products[top : top + int(row["height"])] > 32).any(axis=0)
        assert (inked.sum() > 3) == seen


def test_a_masked_cell_of_the_matrix(view: View, smollm2_record: aw.AttentionRecord) -> None:
    shape = smollm2_record.weights(LAYER, HEAD).shape
    view.point_at_cell(QUERY, QUERY + 2, *shape)
    expect(view.status).to_contain_text("masked")
    view.point_at_cell(QUERY, QUERY - 2, *shape)
    expect(view.status).not_to_contain_text("masked")
    weight, score = numbers(view.status.inner_text())
    assert abs(weight - smollm2_record.weights(LAYER, HEAD)[QUERY, QUERY - 2]) <= WEIGHT_TOLERANCE
    assert abs(score - smollm2_record.scores(LAYER, HEAD)[QUERY, QUERY - 2]) <= 0.02


def test_heads_that_share_keys(view: View, smollm2_record: aw.AttentionRecord) -> None:
    """Three query heads use one key head: the numbers are of the right one."""
    assert smollm2_record.num_kv_heads(LAYER) < smollm2_record.num_heads(LAYER)
    view.open("Neuron")
    view.query(QUERY).click()
    for head in (0, 4, 8):
        view.show(LAYER, head)
        view.key(1).hover()
        expect(view.status).to_contain_text(f"Head {head}")
        q = smollm2_record.queries(LAYER, head)[QUERY]
        k = smollm2_record.keys(LAYER, head)[1]
        [dot] = re.findall(r"q·k ([−\d.]+)", view.status.inner_text())
        assert abs(float(dot.replace("−", "-")) - q @ k) <= 1
