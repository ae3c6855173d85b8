"""The swatches: which heads' lines are drawn."""

import numpy as np
from playwright.sync_api import expect

from tests.browser.view import View, eventually, expect_lines, look


def expect_on(view: View, heads: set[int], count: int) -> None:
    for head in range(count):
        pressed = "true" if head in heads else "false"
        expect(view.swatch(head)).to_have_attribute("aria-pressed", pressed)


def test_a_click_takes_a_head_out_and_back_in(view: View) -> None:
    everyone = set(range(12))
    expect_on(view, everyone, 12)
    view.swatch(3).click()
    expect_on(view, everyone - {3}, 12)
    view.swatch(3).click()
    expect_on(view, everyone, 12)
    # The head that was just switched on is also the head of the numbers.
    expect(view.head).to_have_text("3")


def test_the_lines_of_a_head_taken_out_go(view: View) -> None:
    expect_lines(view)
    before = look(view.lines)
    view.swatch(2).click()
    view.status.hover()

    def changed() -> None:
        assert np.abs(look(view.lines) - before).max() > 8

    eventually(view.page, changed)


def test_double_clicks_and_ranges(view: View) -> None:
    view.swatch(5).dblclick()
    expect_on(view, {5}, 12)
    expect(view.head).to_have_text("5")
    # The last head stays.
    view.swatch(5).click()
    expect_on(view, {5}, 12)
    # From one head alone to another, and to all.
    view.swatch(8).dblclick()
    expect_on(view, {8}, 12)
    view.swatch(8).dblclick()
    expect_on(view, set(range(12)), 12)

    view.swatch(3).click()
    view.swatch(6).click(modifiers=["Shift"])
    expect_on(view, {3, 4, 5, 6}, 12)
    view.swatch(1).click(modifiers=["Shift"])
    expect_on(view, {1, 2, 3}, 12)
    expect(view.head).to_have_text("1")
    view.layer.press("ArrowUp")
    expect(view.layer).to_have_text("1")
    expect_on(view, {1, 2, 3}, 12)


def test_all_and_none_but_one(view: View) -> None:
    view.head.press("ArrowUp")
    view.head.press("ArrowUp")
    view.head.press("ArrowUp")
    view.button("None but 3").click()
    expect_on(view, {3}, 12)
    expect(view.button("None but 3")).to_be_disabled()
    view.button("All").press("Enter")
    expect_on(view, set(range(12)), 12)
    expect(view.button("All")).to_be_focused()
