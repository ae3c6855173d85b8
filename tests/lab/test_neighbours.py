"""Several views on one page."""

import pytest
from playwright.sync_api import expect

from tests.browser.view import View, eventually, expect_lines
from tests.lab.lab import Lab


@pytest.fixture
def pair(lab: Lab) -> tuple[View, View]:
    """Two widgets with different texts."""
    first = View(lab.run("one = aw.show(record); one").output)
    second = View(lab.run("two = aw.show(other); two").output)
    expect_lines(first)
    expect_lines(second)
    return first, second


def test_two_widgets_leave_each_other_alone(lab: Lab, pair: tuple[View, View]) -> None:
    first, second = pair
    # Both have a token 1; the identifiers behind them must not be mixed up.
    second.query(1).click()
    expect(second.query(1)).to_have_attribute("aria-selected", "true")
    expect(first.query(1)).to_have_attribute("aria-selected", "false")
    expect(second.status).to_contain_text("it →")
    expect(first.status).to_contain_text("Point at a token")
    second.page.keyboard.press("Escape")
    expect(second.query(1)).to_have_attribute("aria-selected", "false")
    first.query(3).hover()

    tree, pictures = second.within.aria_snapshot(), second.drawn()
    assert "rained" in tree

    def unchanged() -> None:
        assert second.within.aria_snapshot() == tree
        assert second.drawn() == pictures

    first.query(4).hover()
    expect(first.status).to_contain_text("fox →")
    unchanged()
    first.query(4).click()
    expect(first.query(4)).to_have_attribute("aria-selected", "true")
    unchanged()
    first.show(2, 7)
    unchanged()
    first.swatch(3).dblclick()
    first.page.keyboard.press("]")
    expect(first.layer).to_have_text("3")
    unchanged()
    first.open("Neuron")
    first.open("Model")
    first.cell(5, 1).click()
    expect(first.layer).to_have_text("5")
    unchanged()
    assert lab.evaluate("[two.layer, two.head, two.query, two.view]") == [0, 0, None, "head"]
    assert lab.evaluate("two.heads") is None


def test_two_views_of_one_widget_follow_each_other(lab: Lab) -> None:
    cell = lab.run("w = aw.show(record); w")
    first, second = View(cell.output), View(lab.run("w").output)
    expect_lines(first)
    expect_lines(second)

    # Pointing stays in its view.
    first.query(3).hover()
    expect(first.status).to_contain_text("brown →")
    expect(second.status).to_contain_text("Point at a token")

    first.query(4).click()
    expect(second.query(4)).to_have_attribute("aria-selected", "true")
    expect(second.status).to_contain_text("fox →")
    second.show(2, 7)
    expect(first.layer).to_have_text("2")
    expect(first.head).to_have_text("7")
    first.swatch(3).dblclick()
    expect(second.swatch(4)).to_have_attribute("aria-pressed", "false")
    second.open("Model")
    expect(first.tab("Model")).to_have_attribute("aria-selected", "true")
    first.cell(5, 1).click()
    expect(second.cell(5, 1)).to_have_attribute("aria-selected", "true")

    first.open("Head")
    expect(second.query(4)).to_have_attribute("aria-selected", "true")

    def alike() -> None:
        assert first.drawn() == second.drawn()

    eventually(lab.page, alike)

    # One goes, and the other stays.
    lab.page.evaluate(
        """id => {
          const { content } = window.jupyterapp.shell.currentWidget;
          content.widgets.find((cell) => cell.model.id === id).outputArea.model.clear();
        }""",
        cell.id,
    )
    expect(first.body).to_have_count(0)
    second.layer.press("Home")
    expect(second.layer).to_have_text("0")
    second.query(4).hover()
    expect(second.status).to_contain_text("Layer 0 · Head 1 fox →")
