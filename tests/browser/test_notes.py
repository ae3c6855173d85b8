"""Notes name everything that is not exact, and its place."""

import pytest
from playwright.sync_api import Locator, expect

import attnwidget as aw
from tests.browser.stacked import MISSING, stacked
from tests.browser.view import View
from tests.support import OpenPage

TABS = ["Head", "Model", "Neuron", "Map"]
DOUBT = "⚠ Layer 1: not confirmed against the model"


@pytest.fixture
def view(open_page: OpenPage) -> View:
    return View(open_page(aw.AttentionWidget(stacked(), stack="decoder", layer=1).to_html()))


def note(view: View, text: str) -> Locator:
    return view.within.get_by_role("note").filter(has_text=text)


def test_a_layer_that_is_not_confirmed_is_named_in_every_view(view: View) -> None:
    for tab in TABS:
        view.open(tab)
        expect(note(view, DOUBT)).to_be_visible()
        view.filter.select_option("Encoder")
        expect(note(view, "not confirmed")).to_have_count(0)
        view.filter.select_option("Decoder")


def test_its_row_is_marked(view: View) -> None:
    view.open("Model")
    rows = view.grid.get_by_role("rowheader")
    expect(rows).to_have_text(["0", "1 ⚠"])
    expect(rows.nth(1)).to_have_attribute("title", "Layer 1: not confirmed against the model")


def test_what_is_missing_is_listed_on_request(view: View) -> None:
    missing = note(view, "Not in this record: 2 parts")
    for tab in TABS:
        view.open(tab)
        expect(missing).to_be_visible()
    for reason in MISSING:
        expect(missing.get_by_text(reason)).to_be_hidden()
    summary = missing.get_by_text("2 parts")
    expect(summary).to_have_attribute("title", "\n".join(MISSING))
    summary.focus()
    view.page.keyboard.press("Enter")
    for reason in MISSING:
        expect(missing.get_by_text(reason)).to_be_visible()


def test_a_layer_kept_as_weights_says_so(view: View) -> None:
    view.filter.select_option("Cross")
    view.layer.press("End")
    expect(view.within.get_by_text("kept as weights")).to_be_visible()
    view.open("Model")
    expect(view.within.get_by_text("layer 11 kept as weights")).to_be_visible()
    view.open("Neuron")
    expect(view.body).to_contain_text("recorded as attention weights alone")


def test_where_all_is_well_there_is_no_note(
    open_page: OpenPage, weights_only: aw.AttentionRecord
) -> None:
    view = View(open_page(aw.AttentionWidget(weights_only).to_html()))
    expect(view.query(0)).to_be_visible()
    expect(view.within.get_by_role("note")).to_have_count(0)
