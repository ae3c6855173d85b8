"""Hostile texts in what is saved or returned: figures, BertViz's HTML, several widgets' page."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

import attnwidget as aw
from attnwidget.interop.bertviz import head_view
from attnwidget.plot.axes import clean
from tests import hostile
from tests.browser.test_figure import choose, saved
from tests.browser.view import View, expect_lines
from tests.browser.visit import Visit
from tests.hostile import CALL, NAMES, TEXTS, shown
from tests.hosts.hostile_texts import expect_text_alone

# A figure has room for the names of so many tokens.
NAMED = 40

# Elements that a figure consists of.
ELEMENTS = {"svg", "title", "rect", "path", "image", "text", "g", "clipPath"}
ELEMENTS |= {"linearGradient", "stop"}
# Further elements of a figure by matplotlib.
MATPLOTLIB = {"defs", "style", "polygon", "use", "tspan", "pattern", "metadata"}
MATPLOTLIB |= {"RDF", "Work", "type", "format", "creator", "Agent", "description", "desc"}

FIND = """() => [...document.querySelectorAll("*")].map(
  (node) => [node.localName, node.childElementCount ? "" : node.textContent])"""


@pytest.fixture(scope="module")
def record() -> aw.AttentionRecord:
    return hostile.record()


def test_a_figure_in_which_one_runs_is_caught(visit: Visit, record: aw.AttentionRecord) -> None:
    svg = of_python(record).decode()
    visit.open(svg.replace("</svg>", f"<script>{CALL}</script></svg>"), "figure.svg")
    assert any("hostile code ran" in event for event in visit.events)


def test_in_a_figure_of_python_they_are_text(visit: Visit) -> None:
    parts = [TEXTS[start : start + NAMED] for start in range(0, len(TEXTS), NAMED)]
    records = [
        aw.AttentionRecord.from_arrays([np.eye(len(part))[None]], part, model=part[0])
        for part in parts
    ]
    expect_all_named(visit, map(of_python, records), ELEMENTS | MATPLOTLIB)


@pytest.mark.parametrize("view", ["head", "model", "neuron"])
def test_in_figures_of_every_view_they_are_no_elements(
    visit: Visit, record: aw.AttentionRecord, view: str
) -> None:
    choices: dict[str, Any] = {"view": view, "query": None if view == "model" else 10}
    html = aw.AttentionWidget(record, **choices).to_html(quality="exact")
    page = opened(visit, html, view)
    _, svg = saved(page, choose(page, "SVG"))
    found = visit.open(svg.decode(), "figure.svg").evaluate(FIND)
    assert {name for name, _ in found} <= ELEMENTS
    assert visit.events == []


def test_in_figures_of_the_page_they_are_text(visit: Visit, record: aw.AttentionRecord) -> None:
    view = opened(visit, aw.AttentionWidget(record).to_html(), "head")
    view.within.get_by_role("listbox", name="Queries", exact=True).focus()
    figures = []
    for _ in range(0, len(TEXTS), NAMED):
        view.page.keyboard.press("PageDown")
        view.page.keyboard.press("PageDown")
        figures.append(saved(view, lambda: view.page.keyboard.press("s"))[1])
    expect_all_named(visit, figures, ELEMENTS)


def of_python(record: aw.AttentionRecord, **choices: Any) -> bytes:
    return aw.AttentionWidget(record, **choices)._drawn("svg", None, None, None)


def opened(visit: Visit, html: str, name: str) -> View:
    view = View(visit.open(html))
    expect(view.tab(name.capitalize())).to_have_attribute("aria-selected", "true")
    expect(view.grid if name == "model" else view.tokens("Queries").first).to_be_visible()
    return view


def expect_all_named(visit: Visit, figures: Iterable[bytes], elements: set[str]) -> None:
    """Opened as documents, they have no element that is not a figure's, and name every text."""
    named = set()
    for svg in figures:
        found = visit.open(svg.decode(), "figure.svg").evaluate(FIND)
        assert {name for name, _ in found} <= elements
        named |= {text for name, text in found if name == "text"}
    # Longer ones are shortened, and blanks cannot be seen.
    short = {clean(shown(text)) for text in TEXTS if len(text) <= 6}
    assert {text for text in short if text.strip()} <= named
    assert visit.events == []


def test_in_html_of_bertviz_they_are_text(visit: Visit) -> None:
    rows = np.random.default_rng(0).dirichlet(np.ones(len(TEXTS)), (2, 1, 2, len(TEXTS)))
    html = head_view(list(rows), TEXTS, prettify_tokens=False, html_action="return")
    assert html is not None
    page = visit.open(f"<!doctype html><title>Mine</title>{html.data}")
    frame = page.frame_locator("iframe[title=Attention]").locator("main")
    expect_text_alone(View(frame), visit.watch, vectors=False)
    assert visit.events == []


def test_on_a_page_of_several_widgets_they_are_text(
    visit: Visit, record: aw.AttentionRecord
) -> None:
    widgets = aw.AttentionWidget(record), aw.AttentionWidget(hostile.stacks())
    page = visit.open(aw.to_html(*widgets))
    first, second = (View(page.locator("main > *").nth(n)) for n in range(2))
    second.filter.select_option(NAMES[0])
    expect_lines(second)
    expect_text_alone(first, visit.watch)
    assert visit.events == []
