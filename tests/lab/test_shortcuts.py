"""Keys pressed in the view are for the view: in a notebook many of them change cells."""

import pytest
from playwright.sync_api import expect

from tests.browser.view import View, expect_lines
from tests.lab.lab import CELLS, Lab

ACTIVE = "() => window.jupyterapp.shell.currentWidget.content.activeCell.model.id"


@pytest.fixture
def view(lab: Lab) -> View:
    view = View(lab.run("aw.show(record)").output)
    expect_lines(view)
    return view


def test_no_cell_is_made_or_changed(lab: Lab, view: View) -> None:
    before = lab.cells()
    # Those that the view knows go to the head before, to the next layer, and to the head after.
    for layer, part in enumerate((view.query(4), view.swatch(3), view.layer, view.tab("Head")), 1):
        part.click()
        head = view.head.inner_text()
        for key in ("b", "a", "m", "y", "1", ",", "]", "."):
            lab.page.keyboard.press(key)
            assert lab.cells() == before, (part, key)
        expect(view.layer).to_have_text(f"{layer}")
        expect(view.head).to_have_text(f"{max(int(head), 1)}")
    view.query(4).click()
    for digit, tab in (("2", "Model"), ("3", "Neuron"), ("1", "Head")):
        lab.page.keyboard.press(digit)
        expect(view.tab(tab)).to_have_attribute("aria-selected", "true")
        lab.page.keyboard.press("b")
        assert lab.cells() == before, tab
    # Beside the view, the same key makes a cell.
    view.within.click(position={"x": 2, "y": 2})
    lab.page.keyboard.press("b")
    lab.page.wait_for_function(f"count => ({CELLS})().length > count", arg=len(before))


def test_arrows_and_enter_do_not_leave_the_view(lab: Lab, view: View) -> None:
    active = lab.page.evaluate(ACTIVE)
    press = lab.page.keyboard.press
    view.query(4).click()
    press("ArrowDown")
    expect(view.status).to_contain_text("jumped →")
    press("Enter")
    expect(view.query(5)).to_have_attribute("aria-selected", "true")
    press("ArrowUp")
    expect(view.status).to_contain_text("fox →")
    press("Escape")
    expect(view.query(5)).to_have_attribute("aria-selected", "false")
    assert lab.page.evaluate(ACTIVE) == active
