"""The HTML that BertViz's functions return, as a file and inside another page."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from attnwidget import AttentionRecord
from attnwidget.interop.bertviz import head_view, model_view
from tests.browser.view import View, eventually, expect_lines, expect_strongest, names
from tests.support import OpenPage

Return = Callable[..., str]


@pytest.fixture
def returned(record: AttentionRecord) -> Return:
    """Result of a function of BertViz's for MiniLM's weights over a pair of sentences."""
    layers = record.stack().layers
    weights = [[record.weights(n, head) for head in range(12)] for n in range(len(layers))]

    def returned_(view: Any, **options: Any) -> str:
        tokens = record.tokens()[0]
        return str(view(weights, tokens, **options, html_action="return").data)

    return returned_


def _frame(page: Page, number: int = 0) -> View:
    return View(page.frame_locator("iframe[title=Attention]").nth(number).locator("main"))


def _expect_whole(page: Page, number: int = 0) -> None:
    """A frame grows until its page needs no scrolling."""
    frame = page.frames[1 + number]

    def whole() -> None:
        inside, outside = frame.evaluate("[document.body.offsetHeight, innerHeight]")
        assert inside <= outside <= inside + 2

    eventually(page, whole)


def test_as_a_file(open_page: OpenPage, returned: Return, record: AttentionRecord) -> None:
    page = open_page(returned(head_view, layer=2, heads=[3, 5]))
    view = _frame(page)
    expect(view.tab("Head")).to_have_attribute("aria-selected", "true")
    expect(view.layer).to_have_attribute("aria-valuenow", "2")
    pressed = [view.swatch(head).get_attribute("aria-pressed") for head in range(12)]
    assert pressed == [str(head in (3, 5)).lower() for head in range(12)]
    expect_lines(view)
    _expect_whole(page)
    labels, _ = record.tokens()
    rows = {head: record.weights(2, head)[4] for head in (3, 5)}
    view.query(4).hover()
    expect_strongest(view, f"Layer 2 {names(labels)[4]} →", rows, labels)
    view.open("Model")
    _expect_whole(page)


def test_several_in_another_page(open_page: OpenPage, returned: Return) -> None:
    """Beside each other, in a page with a style of its own, as a gallery would have them."""
    views = returned(head_view) + returned(model_view, include_layers=[1, 4])
    page = open_page(
        "<!doctype html><title>Mine</title><style>* { color: red; font-size: 40px }</style>"
        f"<h1>Mine</h1>{views}"
    )
    head, model = _frame(page), _frame(page, 1)
    expect(head.tab("Head")).to_have_attribute("aria-selected", "true")
    expect(model.tab("Model")).to_have_attribute("aria-selected", "true")
    expect(model.cell(4, 11)).to_be_visible()
    expect(model.cell(0, 0)).to_have_count(0)
    for number in (0, 1):
        _expect_whole(page, number)


def test_put_into_a_page_by_its_script(open_page: OpenPage, returned: Return) -> None:
    """Insert HTML as demo servers do; scripts in it would not run."""
    page = open_page("<!doctype html><div id=place></div>")
    page.evaluate(
        "html => { document.getElementById('place').innerHTML = html }", returned(head_view)
    )
    expect_lines(_frame(page))
    _expect_whole(page)
