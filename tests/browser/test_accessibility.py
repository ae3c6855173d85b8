"""Accessibility rules of axe-core, checked in every view."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

import attnwidget as aw
from tests.browser.conftest import SavePage
from tests.browser.stacked import stacked
from tests.browser.view import View
from tests.hosts.shown import expect_brightness
from tests.support import OpenPage
from tests.unit.pictured_chat import pictured_chat

_AXE = Path(__file__).parents[2] / "js/node_modules/axe-core/axe.min.js"

STATES: dict[str, Callable[[View], None]] = {
    "a token locked": lambda view: view.query(1).click(),
    "a token found": lambda view: view.within.get_by_role("searchbox").fill("e"),
    "help": lambda view: view.within.get_by_role("button", name="Keyboard").click(),
    "a menu": lambda view: view.within.get_by_role("button", name="Theme").click(),
}


@pytest.fixture(scope="session")
def axe() -> str:
    if not _AXE.exists():
        pytest.fail("axe-core is missing: npm install in js, as `make test` does")
    return _AXE.read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def stacked_page(save_page: SavePage) -> Path:
    return save_page(stacked(), "stacked.html")


def violations(page: Page, axe: str) -> list[str]:
    """The serious and critical ones, each with where it is."""
    # Evaluated, because the page's policy lets no further script in.
    page.evaluate(axe)
    found: list[dict[str, Any]] = page.evaluate("axe.run(document).then(run => run.violations)")
    return [
        f"{violation['id']}: {violation['help']}: {[node['html'] for node in violation['nodes']]}"
        for violation in found
        if violation["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("which", ["pair_page", "stacked_page"])
def test_every_view(
    open_page: OpenPage, request: pytest.FixtureRequest, axe: str, which: str
) -> None:
    view = View(open_page(request.getfixturevalue(which), height=1000))
    expect(view.query(0)).to_be_visible()
    for tab in ("Head", "Model", "Neuron", "Map"):
        view.open(tab)
        expect(view.status).not_to_be_empty()
        for dark in (False, True):
            view.page.emulate_media(color_scheme="dark" if dark else "light")
            expect_brightness(view.body, dark=dark)
            assert violations(view.page, axe) == [], (tab, dark)


def test_the_text_view(open_page: OpenPage, answer_page: Path, axe: str) -> None:
    view = View(open_page(answer_page, height=1000))
    view.within.get_by_role("listbox", name="Answer").get_by_role("option").nth(4).click()
    view.within.get_by_role("button", name=re.compile("^Cut sentence 2: ")).click()
    for dark in (False, True):
        view.page.emulate_media(color_scheme="dark" if dark else "light")
        expect_brightness(view.body, dark=dark)
        assert violations(view.page, axe) == [], dark


def test_an_image_in_a_chat(open_page: OpenPage, axe: str, tmp_path: Path) -> None:
    aw.save_html(tmp_path / "image.html", pictured_chat(), view="text")
    view = View(open_page(tmp_path / "image.html", height=1200))
    view.within.get_by_role("grid").focus()
    view.page.keyboard.press("ArrowUp")
    for dark in (False, True):
        view.page.emulate_media(color_scheme="dark" if dark else "light")
        expect_brightness(view.body, dark=dark)
        assert violations(view.page, axe) == [], dark


def test_what_opens_over_a_view(view: View, axe: str) -> None:
    expect(view.query(0)).to_be_visible()
    for state, open_ in STATES.items():
        open_(view)
        assert violations(view.page, axe) == [], state
        view.page.keyboard.press("Escape")


def test_a_fault_within_the_view_would_be_found(view: View, axe: str) -> None:
    theme = view.within.get_by_role("button", name="Theme")
    theme.evaluate("node => { node.removeAttribute('aria-label'); node.title = '' }")
    [fault] = violations(view.page, axe)
    assert "button-name" in fault
