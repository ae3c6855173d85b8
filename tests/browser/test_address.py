"""Links to a place of a page, from disk: read, written, copied, and gone back through."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

import attnwidget as aw
from tests.browser.view import PRESS, View
from tests.support import OpenPage


@pytest.fixture
def page(open_page: OpenPage, pair_page: Path) -> Page:
    return open_page(pair_page, height=1000)


def _go(page: Page, fragment: str, path: Path) -> View:
    # Another document, not a step within the one that is open.
    page.goto("about:blank")
    page.goto(f"{path.as_uri()}#{fragment}")
    return View(page)


def _expect_address(page: Page, fragment: str) -> None:
    end = f"#{fragment}" if fragment else ".html"
    expect(page).to_have_url(re.compile(re.escape(end) + "$"))


@pytest.mark.parametrize("name", ["Head", "Model", "Neuron", "Map", "Text"])
def test_a_link_opens_each_view_at_its_place(page: Page, pair_page: Path, name: str) -> None:
    view = _go(page, f"view={name.lower()}&layer=3&head=7&query=4", pair_page)
    expect(view.tab(name)).to_have_attribute("aria-selected", "true")
    if name != "Text":
        expect(view.layer).to_have_text("3")
        expect(view.head).to_have_text("7")
    if name in ("Head", "Neuron"):
        expect(view.query(4)).to_have_attribute("aria-selected", "true")
    if name == "Map":
        point = view.within.get_by_role("option", name="Layer 3, head 7:")
        expect(point).to_have_attribute("aria-selected", "true")
    if name == "Model":
        expect(view.cell(3, 7)).to_have_attribute("aria-selected", "true")
    expect(view.alert).to_be_hidden()
    # The rest of the place stays in the address as the view changes.
    view.open("Neuron" if name == "Model" else "Model")
    _expect_address(page, f"view={'neuron' if name == 'Model' else 'model'}&layer=3&head=7&query=4")


def test_the_address_follows_and_goes_back_and_forward(page: Page) -> None:
    view = View(page)
    _expect_address(page, "")
    view.layer.evaluate(PRESS, ["ArrowUp"] * 2)
    _expect_address(page, "layer=2")
    view.head.evaluate(PRESS, ["ArrowUp"] * 5)
    _expect_address(page, "layer=2&head=5")
    view.query(4).click()
    # What is locked is no step of its own.
    _expect_address(page, "layer=2&head=5&query=4")
    view.open("Model")
    _expect_address(page, "view=model&layer=2&head=5&query=4")
    page.go_back()
    expect(view.tab("Head")).to_have_attribute("aria-selected", "true")
    expect(view.query(4)).to_have_attribute("aria-selected", "true")
    page.go_back()
    expect(view.head).to_have_text("0")
    page.go_back()
    expect(view.layer).to_have_text("0")
    _expect_address(page, "")
    expect(view.query(4)).to_have_attribute("aria-selected", "false")
    for _ in range(3):
        page.go_forward()
    expect(view.tab("Model")).to_have_attribute("aria-selected", "true")
    expect(view.layer).to_have_text("2")
    page.reload()
    expect(view.tab("Model")).to_have_attribute("aria-selected", "true")
    # A link that is put into the address of an open page.
    page.evaluate("location.hash = 'view=neuron&layer=1'")
    expect(view.tab("Neuron")).to_have_attribute("aria-selected", "true")
    expect(view.layer).to_have_text("1")
    expect(view.head).to_have_text("0")


def test_the_menu_copies_the_link(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    view = View(page)
    view.show(1, 3)
    view.button("Copy").click()
    view.within.get_by_role("menuitem", name="Link to this place").click()
    expect(view.status).to_contain_text("Link copied, for this computer")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("file:")
    assert copied.endswith(".html#layer=1&head=3")


def test_what_the_page_does_not_have_is_ignored_with_a_line(page: Page, pair_page: Path) -> None:
    hostile = "layer=99&head=2&view=%3Cimg src=x onerror=alert(1)%3E&__proto__=1&heads=%00"
    view = _go(page, hostile, pair_page)
    expect(view.alert).to_contain_text("Ignored: layer, view, heads, an unknown name.")
    expect(view.tab("Head")).to_have_attribute("aria-selected", "true")
    expect(view.layer).to_have_text("0")
    expect(view.head).to_have_text("2")
    # It stays as it was given until the reader chooses something.
    assert "layer=99" in page.url
    view.show(1, 2)
    _expect_address(page, "layer=1&head=2")


def test_several_views_keep_apart(
    open_page: OpenPage, record: aw.AttentionRecord, tmp_path: Path
) -> None:
    path = tmp_path / "two.html"
    aw.save_html(path, aw.AttentionWidget(record, layer=4), aw.AttentionWidget(record))
    page = open_page(path, height=2000)
    hosts = page.locator("main > div")
    first, second = View(hosts.nth(0)), View(hosts.nth(1))
    second.show(2, 1)
    first.open("Model")
    _expect_address(page, "1.view=model&2.layer=2&2.head=1")
    _go(page, "1.layer=5&2.view=neuron", path)
    expect(first.layer).to_have_text("5")
    expect(first.tab("Head")).to_have_attribute("aria-selected", "true")
    expect(second.layer).to_have_text("0")
    expect(second.tab("Neuron")).to_have_attribute("aria-selected", "true")


def test_a_link_into_an_example_of_an_atlas(open_page: OpenPage, tmp_path: Path) -> None:
    from attnwidget.default_model import default_model

    model: Any = default_model()
    texts = ["The dog was tired because it ran.", "Rain fell all day on the old stone bridge."]
    profile = aw.profile(*model, texts)
    path = tmp_path / "atlas.html"
    aw.save_html(path, profile, *model, map_y="previous")
    page = open_page(path, height=1000)
    view = View(page)
    heads = view.within.get_by_role("listbox", name="Heads", exact=True)
    heads.get_by_role("option", name="Layer 0, head 2:").press("Enter")
    examples = view.within.get_by_role("list", name="Examples")
    examples.get_by_role("button", name=re.compile("^Highest")).click()
    expect(view.tab("Head")).to_have_attribute("aria-selected", "true")
    expect(page).to_have_url(re.compile("example="))
    tokens = view.tokens("Queries").all_inner_texts()
    link = page.url
    page.go_back()
    expect(view.tab("Map")).to_have_attribute("aria-selected", "true")
    other = _go(page, link.split("#")[1], path)
    expect(other.tokens("Queries")).to_have_text(tokens)
    expect(other.tab("Head")).to_have_attribute("aria-selected", "true")
