"""The map on an exported page: places, a null, and the way to a head and back."""

import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

import attnwidget as aw
from tests.browser.view import View, middle, names
from tests.support import OpenPage


@pytest.fixture(scope="module")
def map_page(record: aw.AttentionRecord, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Places by layer and by head, beside a null."""
    shape = record.num_layers(), record.num_heads(0)
    layers, heads = np.indices(shape)
    metrics = {
        "across": {"values": layers, "null": layers + 0.5, "null_label": "random weights"},
        "up": {"values": heads, "null": heads / 100, "null_label": "random weights"},
    }
    widget = aw.AttentionWidget(record, view="map", metrics=metrics, map_x="across", map_y="up")
    path = tmp_path_factory.mktemp("pages") / "map.html"
    widget.save_html(path, views=["head", "map"])
    return path


def option(view: View, layer: int, head: int) -> Locator:
    listbox = view.within.get_by_role("listbox", name="Heads", exact=True)
    return listbox.get_by_role("option", name=f"Layer {layer}, head {head}:")


def test_heads_stand_where_their_numbers_say(open_page: OpenPage, map_page: Path) -> None:
    view = View(open_page(map_page, width=1200, height=900))
    x, y = zip(*(middle(option(view, n, n)) for n in range(6)), strict=True)
    np.testing.assert_allclose(np.diff(x), x[1] - x[0], atol=0.1)
    np.testing.assert_allclose(np.diff(y), y[1] - y[0], atol=0.1)
    assert x[1] > x[0]
    assert y[1] < y[0]
    expect(option(view, 2, 9)).to_have_attribute(
        "aria-label", _ends("outside random weights in up (above)")
    )
    expect(option(view, 2, 0)).not_to_have_attribute("aria-label", _ends("in up (above)"))


def test_a_head_is_looked_at_chosen_and_opened(
    open_page: OpenPage, map_page: Path, record: aw.AttentionRecord
) -> None:
    view = View(open_page(map_page, width=1200, height=900))
    mouse = view.page.mouse
    at = middle(option(view, 2, 9))
    mouse.move(*at)
    expect(view.status).to_contain_text("Layer 2 · Head 9")
    expect(view.layer).to_have_text("0")
    query, key, weight = _strongest(record, 2, 9)
    links = view.within.get_by_role("figure", name=f"Strongest links: {query} → {key} {weight:.3f}")
    expect(links).to_be_visible()
    mouse.click(*at)
    expect(view.layer).to_have_text("2")
    expect(view.head).to_have_text("9")
    expect(option(view, 2, 9)).to_have_attribute("aria-selected", "true")
    mouse.dblclick(*at)
    expect(view.tab("Head")).to_have_attribute("aria-selected", "true")
    expect(view.swatch(9)).to_have_attribute("aria-pressed", "true")
    expect(view.swatch(8)).to_have_attribute("aria-pressed", "false")


def _ends(text: str) -> re.Pattern[str]:
    return re.compile(f"{re.escape(text)}$")


def _strongest(record: aw.AttentionRecord, layer: int, head: int) -> tuple[str, str, float]:
    """The strongest link between two words, without the first token and special ones."""
    tokens = record.stack().queries
    weights = record.weights(layer, head).copy()
    left_out = [0, *tokens.special]
    weights[list(tokens.special)] = 0
    weights[:, left_out] = 0
    np.fill_diagonal(weights, 0)
    row, column = np.unravel_index(weights.argmax(), weights.shape)
    labels = names(tokens.labels)
    return labels[row], labels[column], float(weights[row, column])
