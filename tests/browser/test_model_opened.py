"""One head of the model view, opened between the rows."""

from playwright.sync_api import Locator, expect

from tests.browser.view import View


def opened(view: View) -> Locator:
    return view.body.get_by_role("region")


def test_a_double_click_below_what_is_opened(smollm2_view: View) -> None:
    """The first click closes the panel above, and moves the row away under the pointer."""
    smollm2_view.cell(0, 3).click()
    expect(opened(smollm2_view)).to_contain_text("Layer 0 · Head 3")
    smollm2_view.cell(4, 6).dblclick()
    expect(smollm2_view.tab("Head")).to_have_attribute("aria-selected", "true")
    expect(smollm2_view.layer).to_have_text("4")
    expect(smollm2_view.head).to_have_text("6")
