"""Hostile texts in a live notebook."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests import hostile
from tests.browser.view import View, eventually, expect_lines
from tests.hosts.hostile_texts import walked
from tests.lab.lab import Lab

SETUP = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
from tests import hostile
bad = hostile.record()
"""


@pytest.fixture(autouse=True)
def _told(lab: Lab) -> None:
    """A script that runs logs an error in the console, which fails the test."""
    lab.page.evaluate(f"() => {{ {hostile.TELL}; }}")
    lab.run(SETUP)


def test_tokens_are_text(lab: Lab) -> None:
    view = View(lab.run("w = aw.AttentionWidget(bad); w").output)
    expect_lines(view)
    listbox = view.within.get_by_role("listbox", name="Queries", exact=True)
    assert walked(listbox, "ArrowDown", len(hostile.TEXTS)) == [*map(hostile.shown, hostile.TEXTS)]
    expect(view.status).to_contain_text("Layer 0")
    for tab in ("Model", "Neuron", "Head"):
        view.open(tab)
    view.query(3).click()
    # The manager sends it once the kernel has replied to what came before.
    eventually(lab.page, lambda: _locked(lab))


def test_stacks_are_named_by_them(lab: Lab) -> None:
    view = View(lab.run("w = aw.AttentionWidget(hostile.stacks()); w").output)
    expect(view.tokens("Queries")).to_have_count(2)
    for name in hostile.NAMES[::20]:
        view.open_options()
        view.filter.select_option(name)
        expect(view.filter).to_have_value(name)
        expect_lines(view)
    assert lab.evaluate("w.stack") == name


def test_they_are_shown_as_plain_text_and_in_errors(lab: Lab) -> None:
    lab.run("bad")
    lab.run("print(bad.stack().queries.labels[:40])")
    code = "aw.AttentionWidget(hostile.stacks(), stack='<img src=x onerror=window.hostile(1)>?')"
    lab.run(f"try:\n    {code}\nexcept Exception as error:\n    print(error)")


def test_what_runs_is_caught(lab: Lab) -> None:
    """Markup that a cell asks for runs in a notebook: the tests above would see it."""
    lab.run(
        "from IPython.display import HTML, display\n"
        "shown = display(HTML('<img src=x: onerror=window.hostile(1)>'), display_id=True)"
    )
    eventually(lab.page, lambda: _ran(lab))
    # JupyterLab makes it anew where the cell comes into sight again.
    lab.run("shown.update(HTML(''))")
    expect(lab.page.locator("img[src='x:']")).to_have_count(0)
    lab.watch.clear()


def _locked(lab: Lab) -> None:
    assert lab.evaluate("w.query") is not None


def _ran(lab: Lab) -> None:
    assert any("hostile code ran" in error for error in lab.errors)
