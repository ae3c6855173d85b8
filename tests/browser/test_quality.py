"""A page that was rounded shows what it says, as far off as it says."""

import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

import attnwidget as aw
from attnwidget.record import Floats
from tests.browser.view import View
from tests.support import OpenPage

LAYER, HEAD, QUERY = 2, 9, 4


@pytest.fixture(scope="module")
def page(record: aw.AttentionRecord, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("quality") / "page.html"
    widget = aw.AttentionWidget(record, layer=LAYER, head=HEAD, heads=[HEAD], query=QUERY)
    widget.save_html(path, quality="compact")
    return path


def _within(view: View, what: str) -> float:
    said = view.within.get_by_text(re.compile(f"{what} within ±")).inner_text()
    found = re.search(rf"{what} within ±([\d.e-]+)", said)
    assert found
    return float(found[1])


def _expect_strongest(view: View, weights: Floats) -> None:
    """The status line has the three largest, as far off as the legend says, in one decimal."""
    within = _within(view, "weights")
    assert 1e-3 < within <= 0.1
    shown = re.findall(r"(<?)(\d\.\d+)", view.status.inner_text())
    for (less, number), weight in zip(shown, np.sort(weights)[:-4:-1], strict=True):
        if less:
            assert weight <= float(number) + within
        else:
            assert abs(float(number) - weight) <= within + 0.05


def test_weights_are_within_what_the_legend_says(
    open_page: OpenPage, page: Path, record: aw.AttentionRecord
) -> None:
    view = View(open_page(page, height=1000))
    expect(view.status).to_contain_text("→")
    _expect_strongest(view, record.weights(LAYER, HEAD)[QUERY])


def test_the_neuron_view_says_how_far_q_and_k_may_be_off(open_page: OpenPage, page: Path) -> None:
    view = View(open_page(page, height=1000))
    view.open("Neuron")
    expect(view.status).to_contain_text("→")
    assert 1e-3 < _within(view, "q and k") < 0.5


def test_all_layers_are_combined_without_a_kernel(
    open_page: OpenPage, page: Path, record: aw.AttentionRecord
) -> None:
    view = View(open_page(page, height=1000))
    view.combine.select_option("Max of all layers")
    expect(view.status).to_contain_text("Largest of all 72 heads")
    every = np.stack(
        [record.weights(layer, head)[QUERY] for layer in range(6) for head in range(12)]
    )
    _expect_strongest(view, every.max(axis=0))
