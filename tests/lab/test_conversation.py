"""Python knows the reader's choices, and the reader sees Python's."""

import re
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.view import View, brightness, eventually, expect_lines, expect_strongest, look
from tests.lab.lab import CellError, Lab


@pytest.fixture
def view(lab: Lab) -> View:
    """The widget `w`, in a cell of its own."""
    return View(lab.run("w = aw.show(record); w").output)


def expect_trait(lab: Lab, name: str, value: Any) -> None:
    def there() -> None:
        assert lab.evaluate(f"w.{name}") == value

    eventually(lab.page, there)


def test_a_click_is_read_in_python(lab: Lab, view: View) -> None:
    expect_lines(view)
    view.query(4).click()
    expect(view.query(4)).to_have_attribute("aria-selected", "true")
    expect_trait(lab, "query", 4)
    view.key(9).click()
    expect_trait(lab, "key", 9)
    expect_trait(lab, "query", None)


def test_every_choice_is_read_in_python(lab: Lab, view: View) -> None:
    view.show(2, 7)
    view.swatch(3).dblclick()
    view.filter.select_option("A → B")
    view.open("Neuron")
    expect_trait(lab, "layer", 2)
    expect_trait(lab, "head", 3)
    expect_trait(lab, "heads", [3])
    expect_trait(lab, "segments", "ab")
    expect_trait(lab, "view", "neuron")


def test_a_python_callback_hears_of_a_click(lab: Lab, view: View) -> None:
    lab.run("heard = []; w.observe(lambda change: heard.append(change.new), 'query')")
    view.query(4).click()
    view.query(5).click()

    def there() -> None:
        assert lab.evaluate("heard") == [4, 5]

    eventually(lab.page, there)


def test_metrics_set_in_python_sort_heads(lab: Lab, view: View) -> None:
    view.open("Model")
    lab.run(
        "import numpy as np; w.metrics = {'mine': np.arange(72).reshape(6, 12)}; w.sort = 'mine'"
    )
    first = view.grid.get_by_role("gridcell").first
    expect(first).to_have_attribute("aria-label", "Layer 0, head 11")
    expect(first).to_have_attribute("aria-description", re.compile("mine 11$"))


def test_a_layer_set_in_python_is_shown(lab: Lab, view: View) -> None:
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


def test_every_choice_set_in_python_is_shown(lab: Lab, view: View) -> None:
    lab.run("w.head = 7; w.heads = [1, 7]; w.key = 9; w.segments = 'ba'")
    expect(view.head).to_have_text("7")
    expect(view.swatch(1)).to_have_attribute("aria-pressed", "true")
    expect(view.swatch(2)).to_have_attribute("aria-pressed", "false")
    expect(view.filter).to_have_value("ba")
    expect(view.key(9)).to_have_attribute("aria-selected", "true")
    expect(view.status).to_contain_text("Layer 0 dog ←")
    for name, tab in (("model", "Model"), ("neuron", "Neuron"), ("head", "Head")):
        lab.run(f"w.view = {name!r}")
        expect(view.tab(tab)).to_have_attribute("aria-selected", "true")
        expect(view.within.get_by_role("tabpanel", name=tab, exact=True)).to_be_visible()


def test_a_theme_set_in_python_is_shown(lab: Lab, view: View) -> None:
    def dark() -> None:
        assert brightness(look(view.body)) < 48

    def light() -> None:
        assert brightness(look(view.body)) > 230

    eventually(lab.page, light)
    lab.run("w.theme = 'dark'")
    eventually(lab.page, dark)
    lab.run("w.theme = 'auto'")
    eventually(lab.page, light)


def test_what_does_not_exist_is_refused(lab: Lab, view: View) -> None:
    for wrong in ("layer = 6", "head = 12", "query = 25", "view = 'tree'", "heads = []"):
        with pytest.raises(CellError, match="TraitError"):
            lab.run(f"w.{wrong}")
    expect(view.layer).to_have_text("0")
    expect(view.head).to_have_text("0")
    expect_lines(view)
