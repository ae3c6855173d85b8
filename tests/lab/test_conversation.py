"""Python knows the reader's choices, and the reader sees Python's."""

import re
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.view import View, eventually, expect_lines, expect_strongest
from tests.hosts.shown import expect_brightness
from tests.lab.lab import CellError, Lab


@pytest.fixture
def view(lab: Lab) -> View:
    """The widget `w`, in a cell of its own."""
    return View(lab.run("w = aw.show(record); w").output)


def expect_value(lab: Lab, expression: str, value: Any) -> None:
    def there() -> None:
        assert lab.evaluate(expression) == value

    eventually(lab.page, there)


def test_the_readers_choices_are_known_in_python(lab: Lab, view: View) -> None:
    expect_lines(view)
    lab.run("heard = []; w.observe(lambda change: heard.append(change.new), 'query')")
    view.query(4).click()
    view.query(5).click()
    expect(view.query(5)).to_have_attribute("aria-selected", "true")
    expect_value(lab, "heard", [4, 5])
    view.key(9).click()
    expect_value(lab, "[w.query, w.key]", [None, 9])
    view.show(2, 7)
    view.swatch(3).dblclick()
    view.open_options()
    view.filter.select_option("A → B")
    view.open("Neuron")
    expect_value(lab, "[w.layer, w.head, w.heads, w.segments, w.view]", [2, 3, [3], "ab", "neuron"])
    # Layers that were asked for are not kept: they would make every saved notebook large.
    assert lab.evaluate("list(w._blocks)") == []


def test_what_python_chooses_is_shown(lab: Lab, view: View) -> None:
    expect_lines(view)
    before = view.drawn()
    lab.run("w.layer = 3; w.query = 4")
    expect(view.layer).to_have_text("3")
    expect(view.query(4)).to_have_attribute("aria-selected", "true")
    rows = lab.evaluate("[record.weights(3, head)[4].tolist() for head in range(12)]")
    labels = lab.evaluate("record.tokens()[1]")
    weights = {head: np.array(row) for head, row in enumerate(rows)}
    expect_strongest(view, "Layer 3 fox →", weights, labels)

    def changed() -> None:
        assert view.drawn()[0] != before[0]

    eventually(view.page, changed)
    expect_lines(view)

    lab.run("w.head = 7; w.heads = [1, 7]; w.query = None; w.key = 9; w.segments = 'ba'")
    expect(view.head).to_have_text("7")
    expect(view.swatch(1)).to_have_attribute("aria-pressed", "true")
    expect(view.swatch(2)).to_have_attribute("aria-pressed", "false")
    view.open_options()
    expect(view.filter).to_have_value("ba")
    expect(view.key(9)).to_have_attribute("aria-selected", "true")
    expect(view.status).to_contain_text("Layer 3 dog ←")
    for name, tab in (("model", "Model"), ("neuron", "Neuron"), ("head", "Head")):
        lab.run(f"w.view = {name!r}")
        expect(view.tab(tab)).to_have_attribute("aria-selected", "true")
        expect(view.within.get_by_role("tabpanel", name=tab, exact=True)).to_be_visible()

    for wrong in ("layer = 6", "head = 12", "query = 25", "view = 'tree'", "heads = []"):
        with pytest.raises(CellError, match="TraitError"):
            lab.run(f"w.{wrong}")
    expect(view.layer).to_have_text("3")
    expect(view.head).to_have_text("7")


def test_a_theme_and_metrics_set_in_python_are_shown(lab: Lab, view: View) -> None:
    expect_brightness(view.body, dark=False)
    lab.run("w.theme = 'dark'")
    expect_brightness(view.body, dark=True)
    lab.run("w.theme = 'auto'")
    expect_brightness(view.body, dark=False)

    view.open("Model")
    lab.run(
        "import numpy as np; w.metrics = {'mine': np.arange(72).reshape(6, 12)}; w.sort = 'mine'"
    )
    first = view.grid.get_by_role("gridcell").first
    expect(first).to_have_attribute("aria-label", "Layer 0, head 11")
    expect(first).to_have_attribute("aria-description", re.compile("mine 11$"))
