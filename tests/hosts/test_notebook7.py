"""Notebook 7: one notebook to a page, with a kernel."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

import attnwidget as aw
from tests.browser.view import View, eventually, expect_lines
from tests.hosts.hostile_texts import LOAD_HOSTILE, expect_text_alone, save_hostile
from tests.hosts.shown import (
    LOAD,
    PAINTS,
    expect_brightness,
    expect_head_view,
    expect_three_views,
)
from tests.lab.lab import CELLS, Lab
from tests.lab.server import serve

# Notebook 7's own messages, whatever a notebook does.
NOISE = [
    # Two plugins put the same command into its menu.
    r"^console warning: Menu entry for command '[\w:-]+' is duplicated\.$",
    # Its settings are asked for a plugin that it leaves out.
    r"^uncaught: TypeError: .* \(reading 'schema'\)\n\s+at \S+/static/notebook/notebook_core\.",
    # A new or deleted cell is looked at by parts that still hold another document.
    r"^console warning: \[yjs#509\] Not same Y\.Doc$",
]

COUNT = """
asked = []

def hear(message):
    data = message["content"]["data"]
    if data["method"] == "custom":
        asked.append(data["content"])
    w._handle_msg(message)

w.comm.on_msg(hear)
"""


@pytest.fixture(scope="module")
def opened(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory, record: aw.AttentionRecord
) -> Iterator[Lab]:
    with serve(tmp_path_factory.mktemp("notebook7"), "notebook") as server:
        record.save(server.root / "record.safetensors")
        save_hostile(server.root)
        opened = Lab(browser, server.address("notebooks/test.ipynb"), NOISE)
        opened.run(LOAD)
        yield opened
        opened.context.close()


@pytest.fixture
def notebook(opened: Lab) -> Iterator[Lab]:
    """The one page, without cells.

    A test fails at its end if the page complained, or asked another server.
    """
    opened.watch.clear()
    opened.clear()
    opened.page.mouse.move(0, 0)
    yield opened
    problems = opened.watch.problems()
    assert not problems, "\n".join(problems)


@pytest.fixture
def view(notebook: Lab) -> View:
    """The widget `w`, in a cell of its own."""
    view = View(notebook.run("w = aw.show(record); w").output)
    expect_lines(view)
    return view


def expect_value(notebook: Lab, expression: str, value: Any) -> None:
    def there() -> None:
        assert notebook.evaluate(expression) == value

    eventually(notebook.page, there)


def test_it_is_notebook_7(notebook: Lab) -> None:
    assert notebook.page.evaluate("window.jupyterapp.name") == "Jupyter Notebook"
    assert notebook.page.evaluate("window.jupyterapp.version").startswith("7.")


def test_first_paint(notebook: Lab) -> None:
    """The page has seen no widget before, as this is its first test."""
    expect_lines(View(notebook.run("w = aw.show(record); w").output))
    for _ in range(PAINTS - 1):
        notebook.fresh_page()
        expect_lines(View(notebook.run("w = aw.show(record); w").output))


def test_the_three_views(view: View, record: aw.AttentionRecord) -> None:
    expect_three_views(view, record)


def test_hostile_texts_stay_text(notebook: Lab) -> None:
    notebook.run(LOAD_HOSTILE)
    expect_text_alone(View(notebook.run("aw.show(hostile)").output), notebook.watch)


def test_the_view_and_python_hear_of_each_other(
    notebook: Lab, view: View, record: aw.AttentionRecord
) -> None:
    view.show(2, 7)
    view.query(4).click()
    expect_value(notebook, "[w.layer, w.head, w.query, w.key]", [2, 7, 4, None])
    view.key(9).click()
    expect_value(notebook, "[w.selection.key_token, w.query]", ["dog", None])
    notebook.run(COUNT)
    notebook.run("w.layer = 5; w.query = 4")
    expect(view.layer).to_have_text("5")
    expect(view.query(4)).to_have_attribute("aria-selected", "true")
    # A layer that the page did not have.
    expect_head_view(view, record, layer=5)
    assert 5 in notebook.evaluate("[request['layer'] for request in asked]")
    notebook.run("w.view = 'neuron'")
    expect(view.tab("Neuron")).to_have_attribute("aria-selected", "true")


def test_a_page_that_is_loaded_again_has_the_widget_again(
    notebook: Lab, view: View, record: aw.AttentionRecord
) -> None:
    """From the kernel, which still runs, though the notebook was saved without its state."""
    notebook.run("w.layer = 2")
    notebook.save()
    notebook.reload()
    notebook.wait_for_widgets()
    # The last of the notebook's own.
    again = View(notebook.page.locator(".jp-OutputArea-output").last)
    expect(again.layer).to_have_text("2")
    expect_head_view(again, record, layer=2)
    again.show(4, 6)
    expect_head_view(again, record, layer=4)
    expect_value(notebook, "[w.layer, w.head]", [4, 6])


def test_it_turns_with_the_theme(notebook: Lab, view: View) -> None:
    expect_brightness(view.body, dark=False)
    notebook.set_theme("dark")
    expect_brightness(view.body, dark=True)
    made_in_the_dark = View(notebook.run("aw.show(record, view='model')").output)
    expect_brightness(made_in_the_dark.body, dark=True)
    notebook.set_theme("light")
    expect_brightness(view.body, dark=False)


def test_keys_pressed_in_the_view_are_for_the_view(notebook: Lab, view: View) -> None:
    before = notebook.cells()
    view.query(4).click()
    for key in ("b", "a", "m", "y", "1", ",", "]", "."):
        notebook.page.keyboard.press(key)
        assert notebook.cells() == before, key
    # The view followed the keys that it knows.
    expect(view.layer).to_have_text("1")
    expect(view.head).to_have_text("1")
    # Beside the view, the same key makes a cell.
    view.within.click(position={"x": 2, "y": 2})
    notebook.page.keyboard.press("b")
    notebook.page.wait_for_function(f"count => ({CELLS})().length > count", arg=len(before))
