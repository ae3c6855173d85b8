"""Errors are shown in the view, and not only in a log."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.view import View


@pytest.fixture
def breakable(browser: Browser, pair_page: Path) -> Iterator[View]:
    """The page, in which errors are to be expected."""
    page = browser.new_page(viewport={"width": 1100, "height": 1000})
    page.goto(pair_page.as_uri())
    yield View(page)
    page.close()


def test_what_the_view_throws_is_an_alert(breakable: View) -> None:
    view = breakable
    expect(view.query(0)).to_be_visible()
    expect(view.alert).to_have_count(0)
    view.page.evaluate(
        "() => { CanvasRenderingContext2D.prototype.clearRect = "
        "CanvasRenderingContext2D.prototype.fillRect = () => { throw new Error('no ink') } }"
    )
    view.query(4).hover()
    expect(view.alert).to_contain_text("no ink")
    dismiss = view.alert.get_by_role("button", name="Dismiss")
    dismiss.press("Enter")
    expect(view.alert).to_have_count(0)
    # The keyboard is in the view still.
    view.page.keyboard.press("2")
    expect(view.tab("Model")).to_have_attribute("aria-selected", "true")
