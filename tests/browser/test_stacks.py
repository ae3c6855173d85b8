"""Several stacks of layers: encoder, decoder and what is between them."""

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

import attnwidget as aw
from tests.browser.conftest import SavePage
from tests.browser.stacked import SOURCE, TARGET, stacked
from tests.browser.view import View, eventually, expect_lines, expect_strongest, look
from tests.support import OpenPage

TABS = ["Head", "Model", "Neuron", "Map"]


@pytest.fixture(scope="module")
def record() -> aw.AttentionRecord:
    return stacked()


@pytest.fixture(scope="module")
def page_of_stacks(record: aw.AttentionRecord, save_page: SavePage) -> Path:
    return save_page(record, "stacks.html")


@pytest.fixture
def view(open_page: OpenPage, page_of_stacks: Path) -> View:
    return View(open_page(page_of_stacks, height=1000))


def test_every_view_has_the_filter_and_follows_it(view: View) -> None:
    expect(view.filter.get_by_role("option")).to_have_text(["Encoder", "Decoder", "Cross"])
    # The stack that one looks at in a translation.
    expect(view.filter).to_have_value("cross")
    for tab in TABS:
        view.open(tab)
        view.filter.select_option("Cross")
        expect(view.layer).to_have_text("3")
        expect(view.status).to_contain_text("Point at" if tab == "Head" else "Layer 3 · Head 0")
        view.filter.select_option("Encoder")
        expect(view.layer).to_have_attribute("aria-valuemax", "2")
        expect(view.alert).to_have_count(0)


def test_both_sides_have_their_own_tokens(view: View) -> None:
    for tab in ("Head", "Neuron"):
        view.open(tab)
        for option, queries, keys in (
            ("Cross", TARGET, SOURCE),
            ("Decoder", TARGET, TARGET),
            ("Encoder", SOURCE, SOURCE),
        ):
            view.filter.select_option(option)
            expect(view.tokens("Queries")).to_have_text(list(queries))
            expect(view.tokens("Keys")).to_have_text(list(keys))


def test_the_numbers_are_those_of_the_stack(view: View, record: aw.AttentionRecord) -> None:
    view.filter.select_option("Cross")
    weights = {head: record.weights(3, head, "cross")[2] for head in range(2)}
    view.query(2).hover()
    expect_strongest(view, "Layer 3 Hund →", weights, SOURCE)
    weights = {head: record.weights(3, head, "cross")[:, 6] for head in range(2)}
    view.key(6).hover()
    expect_strongest(view, "Layer 3 ran ←", weights, TARGET)
    # Lines go as far as the longer side, and the cells of the matrix are square.
    expect_lines(view)
    lines, key = view.lines.bounding_box(), view.key(0).bounding_box()
    assert lines
    assert key
    assert abs(lines["height"] - len(SOURCE) * key["height"]) <= 1
    view.point_at_cell(4, 5, len(TARGET), len(SOURCE))
    weight = record.weights(3, 0, "cross")[4, 5]
    expect(view.status).to_contain_text(f"müde → It weight {weight:.2f}"[:-1])


def test_thumbnails_have_the_shape_of_the_matrix(view: View) -> None:
    view.open("Model")
    for option, cell, shape in (
        ("Encoder", (0, 0), 1),
        ("Cross", (7, 1), len(SOURCE) / len(TARGET)),
    ):
        view.filter.select_option(option)
        box = view.cell(*cell).bounding_box()
        assert box
        assert abs(box["width"] / box["height"] - shape) < 0.05


def test_layers_may_have_unlike_numbers_of_heads(view: View) -> None:
    view.open("Model")
    view.filter.select_option("Cross")
    expect(view.grid.get_by_role("rowheader")).to_have_count(3)
    expect(view.grid.get_by_role("gridcell")).to_have_count(2 + 5 + 3)
    view.cell(7, 4).click()
    expect(view.head).to_have_text("4")
    view.grid.press("ArrowUp")
    expect(view.head).to_have_text("1")
    expect(view.cell(3, 1)).to_have_attribute("aria-selected", "true")
    view.grid.press("ArrowDown")
    view.open("Head")
    for head in range(5):
        expect(view.swatch(head)).to_be_visible()
    expect(view.swatch(5)).to_have_count(0)


def test_nothing_is_drawn_where_a_layer_has_no_head(view: View) -> None:
    view.open("Model")
    view.filter.select_option("Cross")
    view.status.hover()

    def empty() -> None:
        last, other = view.cell(7, 4).bounding_box(), view.cell(3, 0).bounding_box()
        assert last
        assert other
        whole = look(view.body)
        body = view.body.bounding_box()
        assert body
        x, y = last["x"] - body["x"], other["y"] - body["y"]
        gap = whole[int(y) : int(y + other["height"]), int(x) : int(x + last["width"])]
        assert np.ptp(gap) == 0

    eventually(view.page, empty)


def test_a_page_can_open_on_any_stack(open_page: OpenPage, record: aw.AttentionRecord) -> None:
    widget = aw.AttentionWidget(record, stack="cross", layer=7, head=4, query=1)
    view = View(open_page(widget.to_html(quality="exact")))
    expect(view.filter).to_have_value("cross")
    expect(view.layer).to_have_text("7")
    expect(view.head).to_have_text("4")
    expect(view.query(1)).to_have_attribute("aria-selected", "true")


def test_there_is_room_for_both_filters_in_a_narrow_window(
    open_page: OpenPage, page_of_stacks: Path
) -> None:
    view = View(open_page(page_of_stacks, width=400))
    view.open_options()
    view.filter.select_option("Cross")
    for tab in TABS:
        view.open(tab)
        expect(view.layer).to_have_text("3")
        width: int = view.page.evaluate("document.documentElement.scrollWidth")
        assert width <= 400, tab
