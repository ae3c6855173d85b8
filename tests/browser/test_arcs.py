"""Annotated links over the lines: counted for the head shown, and off by a choice."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

import attnwidget as aw
from attnwidget.default_model import default_model
from tests.browser.view import View
from tests.support import OpenPage

TEXT = "The dog chased a cat."


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    record = aw.capture(*default_model(), TEXT)
    tokens = record.tokens()[0]
    arc = aw.Arc(tokens.index("cat"), tokens.index("chased"), "obj")
    path = tmp_path_factory.mktemp("arcs") / "arcs.html"
    # MiniLM's head 2-0 is the best at objects, see docs/guide/probes.md.
    aw.save_html(path, aw.show(record, layer=2, head=0, arcs=[arc]))
    return path


def test_links_are_counted_named_and_switched_off(open_page: OpenPage, page: Path) -> None:
    view = View(open_page(page))
    status = view.status
    links = view.body.locator(".lines canvas.links")
    expect(links).to_be_visible()
    expect(status).to_contain_text("Head 0 finds 1 of 1 annotated links")
    expect(view.page.get_by_text("solid found, dashed missed")).to_be_visible()
    view.tokens("Queries").filter(has_text="cat").hover()
    expect(status).to_contain_text("obj cat → chased found")
    view.button("Annotated").click()
    expect(links).to_be_hidden()
    expect(status).not_to_contain_text("obj")
