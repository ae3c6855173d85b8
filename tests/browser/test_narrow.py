"""600 px, as in a notebook's split pane: nothing runs out at the side."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.view import View, eventually, expect_lines
from tests.support import OpenPage

SURPLUS = "node => node.scrollWidth - node.clientWidth"


@pytest.mark.parametrize("tab", ["Head", "Model", "Neuron"])
@pytest.mark.parametrize("which", ["pair_page", "smollm2_page"])
def test_nothing_overflows(
    open_page: OpenPage, request: pytest.FixtureRequest, which: str, tab: str
) -> None:
    page: Path = request.getfixturevalue(which)
    view = View(open_page(page, width=600, height=1000))
    view.open(tab)
    expect(view.status).not_to_be_empty()

    def fits() -> None:
        assert view.page.locator("html").evaluate(SURPLUS) == 0
        # Nor is anything cut off or scrolled away inside the view.
        assert view.body.evaluate(SURPLUS) == 0

    eventually(view.page, fits)


@pytest.mark.parametrize("tab", ["Head", "Model", "Neuron"])
def test_every_control_is_in_sight(open_page: OpenPage, pair_page: Path, tab: str) -> None:
    view = View(open_page(pair_page, width=600, height=1000))
    view.open(tab)
    controls = [view.tab("Neuron"), view.layer, view.head]
    controls.append(view.within.get_by_role("button", name="Keyboard"))
    for control in controls:
        box = control.bounding_box()
        assert box
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 600


def test_the_lines_are_there(open_page: OpenPage, pair_page: Path) -> None:
    expect_lines(View(open_page(pair_page, width=600, height=1000)))


def test_the_view_follows_the_width(open_page: OpenPage, pair_page: Path) -> None:
    """The matrix needs room: it goes when there is none, and comes back."""
    view = View(open_page(pair_page, width=1100, height=1000))
    title = view.body.get_by_text("Layer 0 · Head 0")
    expect(title).to_be_visible()
    view.page.set_viewport_size({"width": 600, "height": 1000})
    expect(title).to_have_count(0)
    expect_lines(view)
    view.page.set_viewport_size({"width": 1100, "height": 1000})
    expect(title).to_be_visible()
    expect_lines(view)


def test_a_kept_token_stays_over_a_change_of_width(open_page: OpenPage, pair_page: Path) -> None:
    view = View(open_page(pair_page, width=1100, height=1000))
    view.query(4).click()
    # Out of the way, for the tokens move under it.
    view.page.mouse.move(0, 0)
    view.page.set_viewport_size({"width": 600, "height": 1000})
    expect(view.query(4)).to_have_attribute("aria-selected", "true")
    expect(view.status).to_contain_text("fox →")
