"""Layer and head, stepped with the pointer and with keys, to both ends and not beyond."""

import pytest
from playwright.sync_api import Locator, expect

import attnwidget as aw
from tests.browser.view import View

KEYS_UP, KEYS_DOWN = ("ArrowUp", "ArrowRight"), ("ArrowDown", "ArrowLeft")


def last(record: aw.AttentionRecord, name: str) -> int:
    return {"Layer": record.num_layers(), "Head": record.num_heads(0)}[name] - 1


def stepper(view: View, name: str) -> tuple[Locator, Locator, Locator]:
    """The number, and the arrows before and after it."""
    at = ["Layer", "Head"].index(name)
    arrows = [view.within.get_by_text(arrow, exact=True).nth(at) for arrow in "◂▸"]
    return (view.layer if name == "Layer" else view.head), arrows[0], arrows[1]


@pytest.mark.parametrize("name", ["Layer", "Head"])
def test_by_click(view: View, record: aw.AttentionRecord, name: str) -> None:
    number, before, after = stepper(view, name)
    end = last(record, name)
    expect(number).to_have_text("0")
    expect(before).to_be_disabled()
    for value in range(1, end + 1):
        after.click()
        expect(number).to_have_text(str(value))
    expect(after).to_be_disabled()
    before.click()
    expect(number).to_have_text(str(end - 1))
    expect(after).to_be_enabled()


@pytest.mark.parametrize("name", ["Layer", "Head"])
def test_by_keyboard(view: View, record: aw.AttentionRecord, name: str) -> None:
    number, _, _ = stepper(view, name)
    end = last(record, name)
    for up, down in zip(KEYS_UP, KEYS_DOWN, strict=True):
        number.press(up)
        expect(number).to_have_text("1")
        number.press(down)
        expect(number).to_have_text("0")
        number.press(down)
        expect(number).to_have_text("0")
    number.press("End")
    expect(number).to_have_text(str(end))
    number.press("ArrowUp")
    expect(number).to_have_text(str(end))
    number.press("Home")
    expect(number).to_have_text("0")
    number.press("ArrowUp")
    expect(number).to_have_attribute("aria-valuenow", "1")
    expect(number).to_have_attribute("aria-valuemin", "0")
    expect(number).to_have_attribute("aria-valuemax", str(end))


@pytest.mark.parametrize(("name", "down", "up"), [("Layer", "[", "]"), ("Head", ",", ".")])
def test_by_shortcut_from_anywhere_in_the_view(
    view: View, record: aw.AttentionRecord, name: str, down: str, up: str
) -> None:
    number, _, _ = stepper(view, name)
    end = last(record, name)
    view.query(4).click()
    view.page.keyboard.press(down)
    expect(number).to_have_text("0")
    for _ in range(end + 1):
        view.page.keyboard.press(up)
    expect(number).to_have_text(str(end))
    view.page.keyboard.press(down)
    expect(number).to_have_text(str(end - 1))
    # The focus is still where it was, so the next key works too.
    expect(view.query(4)).to_have_attribute("aria-selected", "true")
