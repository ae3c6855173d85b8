"""Everything without a pointer."""

from playwright.sync_api import Locator, expect

import attnwidget as aw
from tests.browser.view import View, expect_strongest, names


def tab_to(view: View, target: Locator, limit: int = 40) -> None:
    """Press Tab until the target has the focus."""
    for _ in range(limit):
        if target.evaluate("node => node.getRootNode().activeElement === node"):
            return
        view.page.keyboard.press("Tab")
    raise AssertionError(f"{target} was not reached with {limit} tabs")


def test_every_part_is_reached_by_tab(view: View) -> None:
    expect(view.query(0)).to_be_visible()
    column = view.within.get_by_role("listbox")
    parts = [view.tab("Head"), view.layer, view.head, view.filter]
    parts += [view.swatch(0), view.swatch(11), column.nth(0), column.nth(1)]
    for part in parts:
        tab_to(view, part)


def test_through_tokens_and_back(view: View, record: aw.AttentionRecord) -> None:
    labels, _ = record.tokens()
    press = view.page.keyboard.press
    expect(view.query(0)).to_be_visible()
    tab_to(view, view.within.get_by_role("listbox", name="Queries"))
    for _ in range(5):
        press("ArrowDown")
    rows = {head: record.weights(0, head)[4] for head in range(record.num_heads(0))}
    expect_strongest(view, f"Layer 0 {labels[4]} →", rows, labels)
    press("ArrowUp")
    expect(view.status).to_contain_text(f"{labels[3]} →")
    press("End")
    expect(view.status).to_contain_text(f"{names(labels)[-1]} →")
    press("ArrowDown")
    expect(view.status).to_contain_text(f"{names(labels)[-1]} →")
    press("Home")
    expect(view.status).to_contain_text(f"{labels[0]} →")


def test_enter_locks_and_escape_releases(view: View) -> None:
    press = view.page.keyboard.press
    expect(view.query(0)).to_be_visible()
    tab_to(view, view.within.get_by_role("listbox", name="Keys"))
    press("ArrowDown")
    press("ArrowDown")
    press("Enter")
    expect(view.key(1)).to_have_attribute("aria-selected", "true")
    press("Escape")
    expect(view.key(1)).to_have_attribute("aria-selected", "false")
    expect(view.status).to_contain_text("Point at a token")


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


def test_the_list_of_keys(view: View) -> None:
    keys = view.within.get_by_role("dialog", name="Keyboard and pointer")
    expect(keys).to_be_hidden()
    view.layer.press("?")
    expect(keys).to_be_visible()
    for key in ("1 2 3 4", "[ ]", ", .", "/", "c", "Enter", "Esc"):
        expect(keys.get_by_text(key, exact=True).first).to_be_visible()
    view.page.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    expect(view.layer).to_be_focused()
    button = view.within.get_by_role("button", name="Keyboard")
    button.click()
    expect(keys).to_be_visible()
    keys.get_by_role("button", name="Close").click()
    expect(keys).to_be_hidden()
    expect(button).to_be_focused()


def test_escape_closes_the_list_before_it_releases(view: View) -> None:
    view.query(4).click()
    press = view.page.keyboard.press
    press("?")
    press("Escape")
    expect(view.query(4)).to_have_attribute("aria-selected", "true")
    press("Escape")
    expect(view.query(4)).to_have_attribute("aria-selected", "false")
