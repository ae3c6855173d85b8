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


def test_it_opens_with_the_first_that_there_is(view: View) -> None:
    expect(view.layer).to_have_text("3")
    expect(view.layer).to_have_attribute("aria-valuemin", "3")
    expect(view.layer).to_have_attribute("aria-valuemax", "11")


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


def test_arrows_step_over_the_gaps(view: View) -> None:
    before, after = (view.within.get_by_text(arrow, exact=True).first for arrow in "◂▸")
    expect(before).to_be_disabled()
    for number in NUMBERS[1:]:
        after.click()
        expect(view.layer).to_have_text(str(number))
    expect(after).to_be_disabled()
    before.click()
    expect(view.layer).to_have_text("7")


@pytest.mark.parametrize("number", NUMBERS)
def test_every_view_says_the_number(view: View, number: int) -> None:
    for _ in range(NUMBERS.index(number)):
        view.layer.press("ArrowUp")
    expect(view.layer).to_have_text(str(number))
    expect(view.body.get_by_text(f"Layer {number} · Head 0")).to_be_visible()
    view.open("Model")
    expect(view.status).to_contain_text(f"Layer {number} · Head 0")
    expect(view.cell(number, 0)).to_have_attribute("aria-selected", "true")
    view.open("Neuron")
    if number != 11:  # which has no vectors
        expect(view.status).to_contain_text(f"Layer {number} · Head 0")


def test_the_rows_of_the_model_view_have_the_numbers(view: View) -> None:
    view.open("Model")
    expect(view.grid.get_by_role("rowheader")).to_have_text(["3", "7", "11"])
