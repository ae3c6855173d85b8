"""One choice, four views: what was chosen in one view holds in the others."""

from playwright.sync_api import expect

import attnwidget as aw
from tests.browser.view import View, names


def test_layer_head_and_token_stay(view: View, record: aw.AttentionRecord) -> None:
    view.show(2, 7)
    view.query(4).click()
    view.status.hover()

    view.open("Neuron")
    expect(view.layer).to_have_text("2")
    expect(view.head).to_have_text("7")
    expect(view.query(4)).to_have_attribute("aria-selected", "true")
    strongest = names(record.tokens()[1])[int(record.weights(2, 7)[4].argmax())]
    expect(view.status).to_contain_text(f"Layer 2 · Head 7 fox → {strongest}")

    view.open("Model")
    expect(view.cell(2, 7)).to_have_attribute("aria-selected", "true")
    view.cell(1, 8).click()

    view.open("Head")
    expect(view.layer).to_have_text("1")
    expect(view.head).to_have_text("8")
    expect(view.query(4)).to_have_attribute("aria-selected", "true")
    expect(view.status).to_contain_text("Layer 1 fox →")


def test_the_heads_drawn_stay(view: View) -> None:
    view.swatch(3).dblclick()
    view.open("Model")
    view.open("Head")
    expect(view.swatch(3)).to_have_attribute("aria-pressed", "true")
    expect(view.swatch(4)).to_have_attribute("aria-pressed", "false")


def test_tabs_by_keyboard(view: View) -> None:
    press = view.page.keyboard.press
    view.tab("Head").focus()
    to_the_right = [("ArrowRight", name) for name in ("Model", "Neuron", "Map", "Head")]
    for key, name in [*to_the_right, ("ArrowLeft", "Map")]:
        press(key)
        expect(view.tab(name)).to_be_focused()
        expect(view.tab(name)).to_have_attribute("aria-selected", "true")


def test_views_by_digit(view: View) -> None:
    view.query(4).click()
    for digit, name in [("2", "Model"), ("3", "Neuron"), ("4", "Map"), ("1", "Head")]:
        view.page.keyboard.press(digit)
        expect(view.tab(name)).to_have_attribute("aria-selected", "true")
        expect(view.within.get_by_role("tabpanel", name=name, exact=True)).to_be_visible()
