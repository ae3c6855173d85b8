"""A whole visit without a pointer: through every control of all views, and back."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

import attnwidget as aw
from tests.browser.test_keyboard import tab_to
from tests.browser.view import View, names
from tests.support import OpenPage

# The focused element inside the view, and if its focus is visible.
FOCUS = """() => {
  let active = document.activeElement;
  while (active?.shadowRoot) active = active.shadowRoot.activeElement;
  if (!active || active === document.body) return "the focus is lost";
  const name = active.getAttribute("aria-label") ?? active.textContent;
  const visible = (node) => {
    const { outlineStyle, outlineWidth } = getComputedStyle(node);
    return outlineStyle !== "none" && parseFloat(outlineWidth) > 0;
  };
  // A box within a label shows it around the label; a menu's item by its background.
  // The keys of a list act on the option that has the ring.
  const option = active.querySelector(".focused");
  const shown = visible(active) || visible(active.parentElement) || (option && visible(option))
    || getComputedStyle(active).backgroundColor !== "rgba(0, 0, 0, 0)";
  const box = active.getBoundingClientRect();
  return shown && box.width && box.height ? "" : `the focus on ${name} cannot be seen`;
}"""

Press = Callable[..., None]


@pytest.fixture
def press(view: View) -> Press:
    """Presses keys, after each of which the focus must be somewhere, and be seen."""

    def press_(*keys: str) -> None:
        for key in keys:
            view.page.keyboard.press(key)
            assert view.page.evaluate(FOCUS) == "", key

    expect(view.query(0)).to_be_visible()
    return press_


def tab(view: View, press: Press, target: Locator) -> None:
    """Press Tab until the target has the focus."""
    tab_to(view, target)
    assert view.page.evaluate(FOCUS) == ""


def test_the_head_view(view: View, press: Press, record: aw.AttentionRecord) -> None:
    labels, _ = record.tokens()
    tab(view, press, view.tab("Head"))
    press(*["ArrowRight"] * 5)
    expect(view.tab("Head")).to_have_attribute("aria-selected", "true")

    tab(view, press, view.layer)
    press("ArrowUp", "ArrowUp", "ArrowDown")
    expect(view.layer).to_have_text("1")
    tab(view, press, view.head)
    press("End")
    expect(view.head).to_have_text("11")

    tab(view, press, view.filter)
    press("ArrowDown")
    expect(view.filter).to_have_value("aa")
    expect(view.tokens("Keys")).to_have_count(16)
    press("ArrowUp")
    expect(view.tokens("Keys")).to_have_count(len(labels))

    # The swatches are one stop, at the head that is shown.
    tab(view, press, view.swatch(11))
    press("Home", "ArrowRight", "ArrowRight", "ArrowRight", "Enter")
    expect(view.swatch(3)).to_have_attribute("aria-pressed", "false")
    press("Space")
    expect(view.swatch(3)).to_have_attribute("aria-pressed", "true")

    tab(view, press, view.within.get_by_role("listbox", name="Queries"))
    press("ArrowDown", "ArrowDown", "ArrowDown", "Enter")
    expect(view.query(2)).to_have_attribute("aria-selected", "true")
    expect(view.status).to_contain_text(f"Layer 1 {labels[2]} →")
    tab(view, press, view.within.get_by_role("listbox", name="Keys"))
    press("ArrowDown")
    expect(view.status).to_contain_text(f"{names(labels)[0]} ←")
    press("]")
    expect(view.layer).to_have_text("2")
    press("[", ",", ".")
    expect(view.layer).to_have_text("1")
    press("Escape")
    expect(view.query(2)).to_have_attribute("aria-selected", "false")


def test_find(view: View, press: Press, record: aw.AttentionRecord) -> None:
    labels, _ = record.tokens()
    at = [position for position, label in enumerate(labels) if label == "it"]
    queries = view.within.get_by_role("listbox", name="Queries")
    tab(view, press, queries)
    press("/")
    box = view.within.get_by_role("searchbox", name="Find token")
    expect(box).to_be_focused()
    press("i", "t")
    expect(view.status).to_contain_text(f"{names(labels)[at[0]]} →")
    expect(view.within.get_by_text(f"1 of {len(at)}")).to_be_visible()
    press("Enter")
    expect(view.status).to_contain_text(f"{names(labels)[at[1]]} →")
    expect(view.query(at[1])).to_be_in_viewport()
    press("Shift+Enter")
    expect(view.status).to_contain_text(f"{names(labels)[at[0]]} →")
    press("1", "2")
    expect(view.within.get_by_text("none", exact=True)).to_be_visible()
    expect(view.tab("Head")).to_have_attribute("aria-selected", "true")
    press("Escape")
    expect(box).to_have_value("")
    expect(view.status).to_contain_text("Point at a token")
    # On to where the search was: the token that was found last is the next to be locked.
    tab(view, press, queries)
    press("Enter")
    expect(view.query(at[0])).to_have_attribute("aria-selected", "true")


def test_copy(view: View, press: Press) -> None:
    view.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab(view, press, view.within.get_by_role("listbox", name="Queries"))
    press("ArrowDown", "Enter", "c")
    expect(view.status).to_contain_text(re.compile(r"copied: \d+ lines?"))
    by_key = view.page.evaluate("navigator.clipboard.readText()")
    assert re.search(r"^\S+\t", by_key)

    view.page.evaluate("navigator.clipboard.writeText('')")
    button = view.within.get_by_role("button", name="Copy")
    tab(view, press, button)
    press("Enter")
    items = view.within.get_by_role("menuitem")
    expect(items.first).to_be_focused()
    first = items.first.inner_text()
    press("Enter")
    expect(button).to_be_focused()
    expect(view.status).to_contain_text(f"{first} copied: ")
    assert view.page.evaluate("navigator.clipboard.readText()") == by_key


def test_theme_and_help(view: View, press: Press) -> None:
    theme = view.within.get_by_role("button", name="Theme")
    tab(view, press, theme)
    press("Enter", "ArrowDown", "ArrowDown", "Enter")
    expect(theme).to_be_focused()
    expect(view.body).to_have_css("color", "rgb(232, 234, 237)")
    press("ArrowDown", "Escape")
    expect(theme).to_be_focused()
    keyboard = view.within.get_by_role("button", name="Keyboard")
    tab(view, press, keyboard)
    press("Enter", "Tab", "Escape")
    expect(keyboard).to_be_focused()


def test_from_view_to_view(view: View, press: Press, record: aw.AttentionRecord) -> None:
    """The views are one place seen three ways: the layer, the head and the token stay."""
    labels, _ = record.tokens()
    tab(view, press, view.within.get_by_role("listbox", name="Queries"))
    press("ArrowDown", "ArrowDown", "Enter", "2")
    expect(view.grid).to_be_visible()
    tab(view, press, view.grid)
    press("ArrowDown", "ArrowDown", "ArrowRight")
    expect(view.cell(2, 1)).to_have_attribute("aria-selected", "true")
    expect(view.status).to_contain_text("Layer 2 · Head 1")
    press("3")
    expect(view.tab("Neuron")).to_have_attribute("aria-selected", "true")
    expect(view.query(1)).to_have_attribute("aria-selected", "true")
    tab(view, press, view.within.get_by_role("listbox", name="Keys"))
    press("ArrowDown", "ArrowDown", "ArrowDown", "Enter")
    expect(view.status).to_contain_text(f"{names(labels)[1]} → {labels[2]}")
    press("1")
    expect(view.query(1)).to_have_attribute("aria-selected", "true")
    expect(view.layer).to_have_text("2")
    expect(view.head).to_have_text("1")
    press("Escape")
    expect(view.query(1)).to_have_attribute("aria-selected", "false")


def test_the_text_view(open_page: OpenPage, answer_page: Path) -> None:
    view = View(open_page(answer_page, height=1000))
    answer = view.within.get_by_role("listbox", name="Answer")
    locks = view.within.get_by_role("rowheader").get_by_role("button")

    def press(*keys: str) -> None:
        for key in keys:
            view.page.keyboard.press(key)
            assert view.page.evaluate(FOCUS) == "", key

    expect(answer).to_be_visible()
    tab(view, press, answer)
    press("ArrowRight", "ArrowRight", "Shift+ArrowRight")
    expect(answer.get_by_role("option", selected=True)).to_have_count(2)
    tab(view, press, view.within.get_by_role("slider", name="Token of the answer"))
    press("ArrowRight")
    expect(answer.get_by_role("option", selected=True)).to_have_count(1)
    tab(view, press, locks.first)
    press("ArrowDown", "Enter")
    expect(locks.nth(1)).to_have_attribute("aria-pressed", "true")
    press("k")
    expect(view.within.get_by_role("table", name="Without")).to_be_visible()
    press("k", "Escape", "Escape")
    expect(answer.get_by_role("option", selected=True)).to_have_count(0)
