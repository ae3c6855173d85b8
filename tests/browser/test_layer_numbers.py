"""Layers are called by the model's number, also where some numbers are missing."""

import pytest
from playwright.sync_api import expect

import attnwidget as aw
from tests.browser.stacked import stacked
from tests.browser.view import View
from tests.support import OpenPage

NUMBERS = [3, 7, 11]


@pytest.fixture
def view(open_page: OpenPage) -> View:
    return View(open_page(aw.AttentionWidget(stacked(), stack="cross").to_html(quality="exact")))


def test_keys_step_over_the_gaps(view: View) -> None:
    for number in (*NUMBERS[1:], 11):
        view.layer.press("ArrowUp")
        expect(view.layer).to_have_text(str(number))
    view.layer.press("Home")
    expect(view.layer).to_have_text("3")
    view.layer.press("End")
    expect(view.layer).to_have_text("11")
    view.query(1).click()
    for number in (7, 3, 3):
        view.page.keyboard.press("[")
        expect(view.layer).to_have_text(str(number))


def test_every_view_says_the_number(view: View) -> None:
    for number in NUMBERS:
        view.open("Head")
        expect(view.layer).to_have_text(str(number))
        expect(view.body.get_by_text(f"Layer {number} · Head 0")).to_be_visible()
        view.open("Model")
        expect(view.status).to_contain_text(f"Layer {number} · Head 0")
        expect(view.cell(number, 0)).to_have_attribute("aria-selected", "true")
        view.open("Neuron")
        if number != 11:  # which has no vectors
            expect(view.status).to_contain_text(f"Layer {number} · Head 0")
        view.layer.press("ArrowUp")
