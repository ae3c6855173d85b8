"""marimo: a notebook as an app and with its cells, both with a kernel, and as an exported page."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

import attnwidget as aw
from tests.browser.view import expect_lines, expect_painted
from tests.hosts.cdn import answer
from tests.hosts.hostile_texts import expect_text_alone
from tests.hosts.marimo import NETWORK, NOISE, export, hosts, serve_marimo, view, write_notebook
from tests.hosts.shown import PAINTS, expect_brightness, expect_head_view, expect_three_views
from tests.support import Watch


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, record: aw.AttentionRecord) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("marimo-edit")
    write_notebook(folder, record)
    with serve_marimo(folder, "edit") as url:
        yield url


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory, record: aw.AttentionRecord) -> Path:
    folder = tmp_path_factory.mktemp("marimo-export")
    write_notebook(folder, record)
    return export(folder)


@dataclass(frozen=True)
class Session:
    """A browser, and what its pages complain of, or ask for that is not marimo's."""

    context: BrowserContext
    watch: Watch

    def open(self, url: str) -> Page:
        page = self.context.new_page()
        page.goto(url)
        expect(hosts(page)).to_have_count(3)
        return page


@contextmanager
def session(browser: Browser) -> Iterator[Session]:
    context = browser.new_context(viewport={"width": 1300, "height": 1000}, color_scheme="light")
    watch = Watch(context, _is_known, NOISE)
    answer(context, NETWORK)
    yield Session(context, watch)
    context.close()


def _is_known(url: str) -> bool:
    here = urlsplit(url).hostname == "127.0.0.1"
    return here or url.startswith(("file:", "data:", "blob:", *NETWORK))


@contextmanager
def watched(session: Session) -> Iterator[None]:
    session.watch.clear()
    yield
    problems = session.watch.problems()
    assert not problems, "\n".join(problems)


@pytest.fixture(scope="module")
def live(browser: Browser, server: str) -> Iterator[tuple[Session, Page]]:
    with session(browser) as opened:
        yield opened, opened.open(server)


@pytest.fixture
def page(live: tuple[Session, Page]) -> Iterator[Page]:
    """The one page of a server, as at its beginning. Its parts take seconds to load."""
    opened, page = live
    with watched(opened):
        for n, tab in enumerate(["Head", "Model"]):
            began = view(page, n)
            began.open(tab)
            began.show(0, 0)
            began.layer.press("Escape")
        expect(view(page, 0).query(4)).to_have_attribute("aria-selected", "false")
        yield page


@pytest.fixture(scope="module")
def static(browser: Browser, exported: Path) -> Iterator[tuple[Session, Page]]:
    with session(browser) as opened:
        yield opened, opened.open(exported.as_uri())


@pytest.fixture
def static_page(static: tuple[Session, Page]) -> Iterator[Page]:
    opened, page = static
    with watched(opened):
        yield page


def test_first_paint(browser: Browser, server: str, live: tuple[Session, Page]) -> None:
    expect_lines(view(live[1], 0))
    for _ in range(PAINTS - 1):
        with session(browser) as opened, watched(opened):
            expect_lines(view(opened.open(server), 0))


def test_the_three_views(page: Page, record: aw.AttentionRecord) -> None:
    expect_three_views(view(page, 0), record)


def test_hostile_texts_stay_text(live: tuple[Session, Page], page: Page) -> None:
    expect_text_alone(view(page, 2), live[0].watch)


def test_what_the_reader_chooses_is_known_in_python(page: Page) -> None:
    first = view(page, 0)
    first.show(2, 7)
    first.query(4).click()
    expect(page.get_by_text("known: ['head', 2, 7, 4] fox")).to_be_visible()
    first.open("Model")
    expect(page.get_by_text("known: ['model', 2, 7, 4] fox")).to_be_visible()


def test_what_python_sets_is_seen(page: Page, record: aw.AttentionRecord) -> None:
    page.get_by_role("button", name="Go to layer 3").click()
    first = view(page, 0)
    expect(first.layer).to_have_text("3")
    expect(first.query(4)).to_have_attribute("aria-selected", "true")
    expect_head_view(first, record, layer=3)


def test_a_layer_is_fetched_when_it_is_wanted(page: Page, record: aw.AttentionRecord) -> None:
    first = view(page, 0)
    first.layer.press("End")
    expect(first.layer).to_have_text("5")
    expect_head_view(first, record, layer=5)


def test_widgets_leave_each_other_alone(page: Page) -> None:
    first, other = view(page, 0), view(page, 1)
    expect(other.grid).to_be_visible()
    first.show(2, 7)
    first.query(4).click()
    expect(other.layer).to_have_text("0")
    other.cell(5, 1).click()
    expect(other.layer).to_have_text("5")
    expect(first.layer).to_have_text("2")


def test_the_keyboard_is_for_the_view(page: Page, record: aw.AttentionRecord) -> None:
    first = view(page, 0)
    cells = page.locator("[data-cell-id]").count()
    first.query(4).click()
    for key in ("]", ".", "a", "b", "d", "d"):
        page.keyboard.press(key)
    expect(first.layer).to_have_text("1")
    expect(first.head).to_have_text("1")
    page.keyboard.press("3")
    expect(first.tab("Neuron")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Escape")
    expect(first.query(4)).to_have_attribute("aria-selected", "false")
    assert page.locator("[data-cell-id]").count() == cells


def test_it_turns_with_the_theme(page: Page) -> None:
    first = view(page, 0)
    expect_brightness(first.body, dark=False)
    page.emulate_media(color_scheme="dark")
    expect_brightness(first.body, dark=True)
    page.emulate_media(color_scheme="light")
    expect_brightness(first.body, dark=False)


def test_an_app_is_live(browser: Browser, tmp_path: Path, record: aw.AttentionRecord) -> None:
    """The same notebook without its cells."""
    write_notebook(tmp_path, record)
    with serve_marimo(tmp_path, "run") as url, session(browser) as opened, watched(opened):
        page = opened.open(url)
        first = view(page, 0)
        expect_lines(first)
        first.layer.press("End")
        expect_head_view(first, record, layer=5)
        first.query(4).click()
        expect(page.get_by_text("known: ['head', 5, 0, 4] fox")).to_be_visible()
        page.get_by_role("button", name="Go to layer 3").click()
        expect(first.layer).to_have_text("3")


def test_first_paint_of_an_exported_page(
    browser: Browser, exported: Path, static: tuple[Session, Page]
) -> None:
    expect_painted(view(static[1], 1).grid)
    for _ in range(PAINTS - 1):
        with session(browser) as opened, watched(opened):
            expect_painted(view(opened.open(exported.as_uri()), 1).grid)


def test_an_exported_page_shows_what_is_embedded(
    static_page: Page, record: aw.AttentionRecord
) -> None:
    embedded = view(static_page, 1)
    expect_three_views(embedded, record)
    embedded.open("Head")
    embedded.layer.press("End")
    expect_head_view(embedded, record, layer=5)


def test_hostile_texts_stay_text_in_an_exported_page(
    static: tuple[Session, Page], static_page: Page
) -> None:
    expect_text_alone(view(static_page, 2), static[0].watch)


def test_an_exported_page_says_what_is_not_saved(static_page: Page) -> None:
    """marimo would lose the request without a word, and the reader would wait for ever."""
    bare = view(static_page, 0)
    expect(bare.alert).to_contain_text("Layer 0 is not saved in this page")
    expect(bare.alert).to_contain_text("embed()")
    bare.open("Model")
    expect(bare.alert).to_have_count(0)
    bare.cell(0, 2).hover()
    expect(bare.status).to_contain_text("Layer 0 · Head 2 looks at the previous token")


def test_an_exported_page_turns_with_the_theme(static_page: Page) -> None:
    embedded = view(static_page, 1)
    for scheme in ("dark", "light"):
        static_page.emulate_media(color_scheme=scheme)
        expect_brightness(embedded.body, dark=scheme == "dark")
