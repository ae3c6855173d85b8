"""A page draws the same under a policy that allows neither compiled code nor workers."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

import attnwidget as aw
from attnwidget.default_model import default_model
from tests.browser.conftest import SavePage
from tests.browser.texts import TEXT
from tests.browser.view import View, eventually, expect_lines, look
from tests.support import OpenPage, Watch

# So many tokens that a worker is asked for: without compiled code, with it.
LONG = " ".join([TEXT] * 6)
LONGER = " ".join([TEXT] * 15)

# Chromium's messages when it enforces the policy.
REFUSALS = [r"Content Security Policy"]


@pytest.fixture(scope="module")
def long_page(save_page: SavePage) -> Path:
    return save_page(aw.capture(*default_model(), LONG), "long.html")


@pytest.fixture
def strict(browser: Browser, long_page: Path, tmp_path: Path) -> Iterator[tuple[Page, Watch]]:
    """The page with a policy that has no exception for compiled code and workers."""
    page = long_page.read_text(encoding="utf-8")
    assert page.count(" 'wasm-unsafe-eval'; worker-src blob:;") == 1
    page = page.replace(" 'wasm-unsafe-eval'; worker-src blob:;", "; worker-src 'none';")
    path = tmp_path / "strict.html"
    path.write_text(page, encoding="utf-8")
    context = browser.new_context(viewport={"width": 1900, "height": 800})
    watch = Watch(context, lambda url: url.startswith(("file:", "data:", "blob:")), REFUSALS)
    opened = context.new_page()
    opened.goto(path.as_uri())
    yield opened, watch
    context.close()
    assert watch.problems() == []


def test_it_draws_the_same(
    strict: tuple[Page, Watch], open_page: OpenPage, long_page: Path
) -> None:
    page, _ = strict
    usual, own = View(open_page(long_page)), View(page)
    for view in (usual, own):
        expect_lines(view)

    def same() -> None:
        own_page, usual_page = (
            look(view.page.locator("body")).astype(int) for view in (own, usual)
        )
        difference = np.abs(own_page - usual_page)
        # Sums in another order differ by a step of a pixel's 255 here and there.
        assert difference.max() <= 3

    eventually(page, same)
    for view in (usual, own):
        view.key(9).hover()
        expect(view.status).to_contain_text("←")
    assert own.status.inner_text() == usual.status.inner_text()


def test_neither_is_used(strict: tuple[Page, Watch]) -> None:
    page, _ = strict
    expect_lines(View(page))
    assert page.workers == []
    compiling = "() => WebAssembly.compile(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]))"
    refused = f"() => ({compiling})().then(() => false, () => true)"
    assert page.evaluate(refused)


def test_the_usual_page_has_a_worker(open_page: OpenPage, save_page: SavePage) -> None:
    page = open_page(save_page(aw.capture(*default_model(), LONGER), "longer.html"))
    eventually(page, lambda: _has_worker(page))


def _has_worker(page: Page) -> None:
    assert len(page.workers) == 1
