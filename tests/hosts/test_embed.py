"""Pages of `ipywidgets.embed`: views without a kernel, by Jupyter's own widget loader."""

import subprocess
import sys
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

import attnwidget as aw
from tests.browser.view import View, expect_lines
from tests.hosts.cdn import ANYWIDGET, HTML_MANAGER, REQUIRE, answer
from tests.hosts.hostile_texts import LOAD_HOSTILE, expect_text_alone, save_hostile
from tests.hosts.shown import LOAD, PAINTS, expect_brightness, expect_three_views
from tests.support import Watch

MAKE = f"""
{LOAD_HOSTILE}
from ipywidgets.embed import embed_minimal_html

widgets = [aw.show(record).embed(), aw.show(record), aw.show(hostile).embed()]
embed_minimal_html("page.html", widgets)
"""

NETWORK = {
    "https://cdnjs.cloudflare.com/ajax/libs/require.js/2.3.4/": REQUIRE,
    "https://cdn.jsdelivr.net/npm/@jupyter-widgets/html-manager@": HTML_MANAGER,
    "https://cdn.jsdelivr.net/npm/anywidget@": ANYWIDGET,
}

NOISE = [
    # The loader's own check of its own schema.
    r"console warning: strict mode: use allowUnionTypes",
    # It looks for anywidget.js beside the page before it asks the network.
    r"console error: Failed to load resource: net::ERR_FILE_NOT_FOUND file:.*/anywidget\.js$",
]


@pytest.fixture(scope="module")
def url(record: aw.AttentionRecord, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A page of three widgets, the second without its layers, by a Python that has no others."""
    folder = tmp_path_factory.mktemp("embed")
    record.save(folder / "record.safetensors")
    save_hostile(folder)
    subprocess.run([sys.executable, "-c", LOAD + MAKE], cwd=folder, check=True)
    path = folder / "page.html"
    page = path.read_text(encoding="utf-8")
    # The same version of require.js is not minified in its package, and so has another digest.
    begin = page.index(' integrity="')
    end = page.index('"', begin + len(' integrity="')) + 1
    path.write_text(page[:begin] + page[end:], encoding="utf-8")
    return path.as_uri()


@pytest.fixture(scope="module")
def context(browser: Browser) -> Iterator[tuple[BrowserContext, Watch]]:
    context = browser.new_context(viewport={"width": 1200, "height": 1000})
    allowed = ("file:", "data:", "blob:", *NETWORK)
    watch = Watch(context, lambda url: url.startswith(allowed), NOISE)
    answer(context, NETWORK)
    yield context, watch
    context.close()


@pytest.fixture(scope="module")
def loaded(context: tuple[BrowserContext, Watch], url: str) -> Page:
    return opened(context[0], url)


@pytest.fixture
def page(context: tuple[BrowserContext, Watch], loaded: Page) -> Iterator[Page]:
    """The one page, with its first two views as at their beginning."""
    context[1].clear()
    for n in range(2):
        began = view(loaded, n)
        began.open("Head")
        began.show(0, 0)
        began.layer.press("Escape")
    yield loaded
    assert not context[1].problems(), "\n".join(context[1].problems())


def opened(context: BrowserContext, url: str) -> Page:
    page = context.new_page()
    page.goto(url)
    expect(page.get_by_role("tablist", name="View")).to_have_count(3)
    return page


def view(page: Page, n: int) -> View:
    return View(page.locator("[data-lm-suppress-shortcuts]").nth(n))


def test_first_paint(context: tuple[BrowserContext, Watch], loaded: Page, url: str) -> None:
    expect_lines(view(loaded, 0))
    for _ in range(PAINTS - 1):
        page = opened(context[0], url)
        expect_lines(view(page, 0))
        page.close()
    assert not context[1].problems(), "\n".join(context[1].problems())


def test_the_three_views(page: Page, record: aw.AttentionRecord) -> None:
    first = view(page, 0)
    expect_three_views(first, record)
    first.open("Head")
    first.layer.press("End")
    expect(first.layer).to_have_text("5")
    expect_lines(first)


def test_hostile_texts_stay_text(context: tuple[BrowserContext, Watch], page: Page) -> None:
    expect_text_alone(view(page, 2), context[1])


def test_what_is_not_saved_is_said(page: Page, record: aw.AttentionRecord) -> None:
    first, bare = view(page, 0), view(page, 1)
    expect(bare.alert).to_contain_text("Layer 0 is not saved in this page")
    expect(bare.alert).to_contain_text("embed()")
    bare.open("Model")
    expect(bare.alert).to_have_count(0)
    bare.cell(0, 2).hover()
    expect(bare.status).to_contain_text("Layer 0 · Head 2 looks at the previous token")
    expect(first.tab("Head")).to_have_attribute("aria-selected", "true")


def test_the_keyboard_is_for_the_view_that_has_it(page: Page) -> None:
    first, bare = view(page, 0), view(page, 1)
    first.query(4).click()
    page.keyboard.press("]")
    page.keyboard.press("3")
    expect(first.layer).to_have_text("1")
    expect(first.tab("Neuron")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Escape")
    expect(first.query(4)).to_have_attribute("aria-selected", "false")
    expect(bare.layer).to_have_text("0")
    expect(bare.tab("Head")).to_have_attribute("aria-selected", "true")


def test_it_turns_with_what_is_around_it(page: Page) -> None:
    first = view(page, 0)
    expect_brightness(first.body, dark=False)
    page.locator("body").evaluate("node => { node.style.background = '#111' }")
    expect_brightness(first.body, dark=True)
