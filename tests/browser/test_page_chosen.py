"""Several widgets in one page, with some of the views and layers."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import attnwidget as aw
from tests.browser.view import View, expect_lines, expect_strongest
from tests.support import OpenPage


@pytest.fixture(scope="module")
def page_of_two(
    record: aw.AttentionRecord,
    weights_only: aw.AttentionRecord,
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """Two widgets of one record, and between them one of another, without the neuron view."""
    path = tmp_path_factory.mktemp("chosen") / "page.html"
    aw.save_html(
        path,
        aw.AttentionWidget(record, layer=3, query=4),
        aw.AttentionWidget(weights_only, layer=1),
        aw.AttentionWidget(record, view="model", layer=4, head=2, theme="dark"),
        views=["head", "model"],
        layers=[0, 1, 3, 4],
        quality="exact",
    )
    return path


def _views(page: Page) -> list[View]:
    """Every widget of a page, from the top."""
    hosts = page.locator("main > div")
    return [View(hosts.nth(at)) for at in range(hosts.count())]


@pytest.fixture
def page(open_page: OpenPage, page_of_two: Path) -> Page:
    return open_page(page_of_two, height=2600)


def test_each_widget_shows_its_own(
    page: Page, record: aw.AttentionRecord, weights_only: aw.AttentionRecord
) -> None:
    first, second, third = _views(page)
    labels, _ = record.tokens()
    rows = {head: record.weights(3, head)[4] for head in range(record.num_heads(3))}
    expect_strongest(first, "Layer 3 fox →", rows, labels)
    second.query(2).hover()
    rows = {head: weights_only.weights(1, head)[2] for head in range(4)}
    expect_strongest(second, "Layer 1 of →", rows, weights_only.tokens()[0])
    expect(third.tab("Model")).to_have_attribute("aria-selected", "true")
    expect(third.grid.get_by_role("gridcell")).to_have_count(72)


def test_what_is_chosen_in_one_is_not_chosen_in_another(page: Page) -> None:
    first, _, third = _views(page)
    third.open("Head")
    expect_lines(third)
    third.query(7).click()
    third.layer.press("Home")
    expect(third.layer).to_have_text("0")
    expect(first.layer).to_have_text("3")
    expect(first.query(4)).to_have_attribute("aria-selected", "true")
    expect(first.query(7)).to_have_attribute("aria-selected", "false")


def test_views_that_were_left_out_have_no_tab_and_no_key(page: Page) -> None:
    first = _views(page)[0]
    expect(first.within.get_by_role("tab")).to_have_text(["Head", "Model"])
    first.tab("Head").press("3")
    expect(first.tab("Head")).to_have_attribute("aria-selected", "true")
    first.tab("Head").press("2")
    expect(first.tab("Model")).to_have_attribute("aria-selected", "true")


def test_weights_are_those_of_the_record_without_vectors_too(
    page: Page, record: aw.AttentionRecord
) -> None:
    script = page.locator("script[data-record='0'][data-block='self.0']")
    parts = json.loads(script.text_content() or "")["parts"]
    assert "queries" not in {part["name"] for part in parts}
    first = _views(page)[0]
    first.show(0, 2)
    labels, _ = record.tokens()
    first.swatch(2).dblclick()
    weights = {2: record.weights(0, 2)[4]}
    expect_strongest(first, "Layer 0 · Head 2 fox →", weights, labels)
    # "kept as weights" is said only of layers that no score program reproduces.
    expect(first.within.get_by_text("weights within ±")).to_be_visible()
    expect(first.within.get_by_text("kept as weights")).to_have_count(0)


def test_a_layer_that_was_left_out_says_so(page: Page) -> None:
    first = _views(page)[0]
    expect_lines(first)
    first.layer.press("ArrowUp")
    expect_lines(first)
    first.layer.press("ArrowUp")
    expect(first.alert).to_have_text(
        "Layer 5 was left out of this page, which has layers 0–1, 3–4."
    )
    first.layer.press("Home")
    expect(first.alert).to_have_count(0)
    expect_lines(first)
    first.combine.select_option("layers_mean")
    expect(first.alert).to_contain_text("Layer 2 was left out of this page")


def test_the_model_view_shows_every_layer(page: Page) -> None:
    third = _views(page)[2]
    third.cell(5, 1).hover()
    expect(third.status).to_contain_text("Layer 5 · Head 1")


def test_without_the_head_view_a_head_opens_in_its_place(
    open_page: OpenPage, record: aw.AttentionRecord
) -> None:
    html = aw.AttentionWidget(record).to_html(views=["model"])
    view = View(open_page(html, height=1000))
    expect(view.within.get_by_role("tab")).to_have_text(["Model"])
    view.cell(0, 2).dblclick()
    opened = view.within.get_by_role("region", name="Layer 0, head 2, opened", exact=True)
    expect(opened).to_be_visible()
    expect(opened.get_by_role("button", name="Open in head view")).to_have_count(0)
    view.grid.focus()
    view.grid.press("Enter")
    expect(opened).to_be_visible()


def test_the_neuron_view_alone(open_page: OpenPage, record: aw.AttentionRecord) -> None:
    html = aw.AttentionWidget(record, layer=2).to_html(views=["neuron"], layers=[2])
    view = View(open_page(html, height=1000))
    view.query(4).click()
    view.key(9).hover()
    expect(view.status).to_contain_text("fox → dog q·k")


def test_one_widget_that_is_damaged_is_not_the_end_of_the_others(
    open_page: OpenPage, page_of_two: Path
) -> None:
    html = page_of_two.read_text(encoding="utf-8")
    broken = html.replace('"widgets":[{"record":0', '"widgets":[{"record":7', 1)
    assert broken != html
    page = open_page(broken, height=2000)
    expect(page.get_by_role("alert")).to_contain_text("damaged")
    expect(page.get_by_role("tablist", name="View")).to_have_count(2)


def test_what_fails_is_said_by_the_widget_that_is_in_use(page: Page) -> None:
    first, second, third = _views(page)
    expect_lines(second)
    second.query(2).click()
    page.evaluate("dispatchEvent(new ErrorEvent('error', {error: new Error('no such row')}))")
    expect(second.alert).to_contain_text("no such row")
    for other in (first, third):
        expect(other.alert).to_have_count(0)


def test_a_page_of_many_widgets_has_one_program(
    open_page: OpenPage, record: aw.AttentionRecord
) -> None:
    widgets = [aw.AttentionWidget(record, layer=layer) for layer in range(6)]
    one, six = widgets[0].to_html(), aw.to_html(*widgets)
    # Further widgets add only their choices.
    assert len(six) - len(one) < 5 * 1000
    page = open_page(six)
    expect(page.get_by_role("tablist", name="View")).to_have_count(6)
    for view in _views(page):
        expect(view.query(0)).to_be_visible()
