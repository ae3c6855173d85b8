"""One head of the model view, opened between the rows."""

from playwright.sync_api import Locator, expect

from tests.browser.view import View


def opened(view: View) -> Locator:
    return view.body.get_by_role("region")


def test_a_click_opens_the_head_between_the_rows(model_view: View) -> None:
    model_view.cell(2, 5).click()
    expect(opened(model_view)).to_contain_text("Layer 2 · Head 5")
    box, above, below = (
        place.bounding_box()
        for place in (opened(model_view), model_view.cell(2, 0), model_view.cell(3, 0))
    )
    assert box
    assert above
    assert below
    assert above["y"] + above["height"] <= box["y"]
    assert box["y"] + box["height"] <= below["y"]
    model_view.within.get_by_role("button", name="Close", exact=True).click()
    expect(opened(model_view)).to_have_count(0)


def test_what_is_opened_follows_the_keyboard(model_view: View) -> None:
    press = model_view.page.keyboard.press
    model_view.cell(2, 5).click()
    for key, title in [
        ("ArrowDown", "Layer 3 · Head 5"),
        ("End", "Layer 3 · Head 11"),
        ("Home", "Layer 3 · Head 0"),
    ]:
        press(key)
        expect(opened(model_view)).to_contain_text(title)
    press("Escape")
    expect(opened(model_view)).to_have_count(0)
    press("Space")
    expect(opened(model_view)).to_contain_text("Layer 3 · Head 0")


def test_a_double_click_below_what_is_opened(smollm2_view: View) -> None:
    """The first click closes the panel above, and moves the row away under the pointer."""
    smollm2_view.cell(0, 3).click()
    expect(opened(smollm2_view)).to_contain_text("Layer 0 · Head 3")
    smollm2_view.cell(4, 6).dblclick()
    expect(smollm2_view.tab("Head")).to_have_attribute("aria-selected", "true")
    expect(smollm2_view.layer).to_have_text("4")
    expect(smollm2_view.head).to_have_text("6")
