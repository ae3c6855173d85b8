"""Everything without a pointer."""

from playwright.sync_api import Locator, expect

from tests.browser.view import View


def tab_to(view: View, target: Locator, limit: int = 40) -> None:
    """Press Tab until the target has the focus."""
    for _ in range(limit):
        if target.evaluate("node => node.getRootNode().activeElement === node"):
            return
        view.page.keyboard.press("Tab")
    raise AssertionError(f"{target} was not reached with {limit} tabs")


def test_the_focus_is_visible(view: View) -> None:
    expect(view.query(0)).to_be_visible()
    column = view.within.get_by_role("listbox")
    for part in (view.tab("Head"), view.layer, view.filter, view.swatch(0), column.first):
        tab_to(view, part)
        outline = part.evaluate(
            "node => [getComputedStyle(node).outlineStyle, getComputedStyle(node).outlineWidth]"
        )
        assert outline[0] != "none", part
        assert outline[1] != "0px", part


def test_escape_closes_the_list_before_it_releases(view: View) -> None:
    view.query(4).click()
    press = view.page.keyboard.press
    press("?")
    press("Escape")
    expect(view.query(4)).to_have_attribute("aria-selected", "true")
    press("Escape")
    expect(view.query(4)).to_have_attribute("aria-selected", "false")
