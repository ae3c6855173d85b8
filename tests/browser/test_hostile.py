"""Token text is data, whatever it looks like."""

import numpy as np
import pytest
from playwright.sync_api import ConsoleMessage, Dialog, Page, expect

import attnwidget as aw
from tests.browser.view import View, expect_lines
from tests.support import OpenPage

TOKENS = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<!--<script>",
    "{{}}",
    "{content}",
    "</title><style>*{display:none}</style>",
    "\"'`&amp;",
    "\\u003c\u2028\u2029",
    "\u202eabc\u202c\u200f",
    "x" * 300,
    " ",
    "",
]


@pytest.fixture
def page(open_page: OpenPage) -> tuple[Page, list[str]]:
    """The page with these tokens, and everything that it did besides."""
    rng = np.random.default_rng(0)
    weights = rng.dirichlet(np.ones(len(TOKENS)), (2, 3, len(TOKENS)))
    record = aw.AttentionRecord.from_arrays(weights, TOKENS, model=TOKENS[0])
    page = open_page(aw.AttentionWidget(record).to_html(), height=1000)
    events: list[str] = []

    def on_dialog(dialog: Dialog) -> None:
        events.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def on_console(message: ConsoleMessage) -> None:
        events.append(f"console: {message.text}")

    page.on("dialog", on_dialog)
    page.on("console", on_console)
    # Loaded again, for what runs at once ran before anyone listened.
    page.reload()
    return page, events


def test_nothing_runs_and_everything_is_text(page: tuple[Page, list[str]]) -> None:
    document, events = page
    view = View(document)
    for column in ("Queries", "Keys"):
        options = view.tokens(column)
        expect(options).to_have_count(len(TOKENS))
        # A long one whole in its name, where the column shows a part of it.
        whole = "nodes => nodes.map(node => node.ariaLabel ?? node.textContent)"
        assert options.evaluate_all(whole) == TOKENS
    expect_lines(view)
    for position, token in enumerate(TOKENS):
        view.query(position).hover()
        expect(view.status).to_contain_text("Layer 0 ")
        said = view.status.evaluate("node => node.textContent")
        assert f"{token} →" in said
    view.point_at_cell(0, 1, len(TOKENS), len(TOKENS))
    expect(view.status).to_contain_text("onerror=alert(1)")
    for tab in ("Model", "Neuron", "Head"):
        view.open(tab)
    assert events == []


def test_the_model_name_is_text_too(page: tuple[Page, list[str]]) -> None:
    document, events = page
    expect(document).to_have_title(f"Attention of {TOKENS[0]}")
    expect(document.get_by_text(TOKENS[0]).last).to_be_visible()
    assert events == []


@pytest.mark.parametrize("width", [600, 1100])
def test_a_long_token_stays_in_its_column(page: tuple[Page, list[str]], width: int) -> None:
    document, _ = page
    view = View(document)
    document.set_viewport_size({"width": width, "height": 1000})
    for tab in ("Head", "Model", "Neuron"):
        view.open(tab)
        surplus = "node => node.scrollWidth - node.clientWidth"
        assert document.locator("html").evaluate(surplus) == 0
        assert view.body.evaluate(surplus) == 0
    view.open("Head")
    long = TOKENS.index("x" * 300)
    expect(view.query(long)).to_have_attribute("title", "x" * 300)
    box, other = view.query(long).bounding_box(), view.query(0).bounding_box()
    assert box
    assert other
    assert box["width"] == other["width"]
    view.query(long).hover()
    status = view.status.bounding_box()
    assert status
    assert status["x"] + status["width"] <= width
