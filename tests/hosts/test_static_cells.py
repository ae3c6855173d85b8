"""Static cells in everything that shows a notebook or HTML, with every request refused."""

from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pypdf
import pytest
from playwright.sync_api import Browser, Page

import attnwidget as aw
from tests.browser.view import View, eventually, expect_lines, expect_painted
from tests.hosts import marimo, static_cells, voila
from tests.hosts.hostile_texts import expect_text_alone
from tests.hosts.shown import PAINTS, expect_brightness, expect_head_view, expect_model_view
from tests.support import Watch

# Network requests of these hosts' pages without any widget. They are refused here.
ASKED_BY_HOSTS = (
    "https://cdnjs.cloudflare.com/ajax/libs/",
    "https://cdn.jsdelivr.net/npm/mathjax",
    voila.ICONS,
)

# Messages that hosts log with any notebook.
LOGGED_BY_HOSTS = [
    *voila.NOISE,
    *marimo.NOISE,
    r"^console error: Failed to load resource: net::ERR_FAILED",
    r"^console warning: Unrecognized feature: ",
    r"^console warning: An iframe which has both allow-scripts and allow-same-origin ",
]


Visit = Callable[[str], tuple[Page, Watch]]
"""A new page that may ask the server of an address for more, and nobody else."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, record: aw.AttentionRecord) -> Path:
    folder = tmp_path_factory.mktemp("static")
    static_cells.write(folder, record)
    return folder


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    watches: list[Watch] = []

    def visit_(url: str) -> tuple[Page, Watch]:
        context = browser.new_context(viewport={"width": 1200, "height": 1000})
        server = urlsplit(url).netloc

        def allowed(asked: str) -> bool:
            local = asked.startswith(("file:", "data:", "blob:", *ASKED_BY_HOSTS))
            return local or (server != "" and urlsplit(asked).netloc == server)

        watch = Watch(context, allowed, LOGGED_BY_HOSTS)
        for start in ASKED_BY_HOSTS:
            context.route(f"{start}**", lambda route: route.abort())
        watches.append(watch)
        return context.new_page(), watch

    yield visit_
    problems = [problem for watch in watches for problem in watch.problems()]
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("host", static_cells.HOSTS)
def test_hosts(host: str, folder: Path, record: aw.AttentionRecord, visit: Visit) -> None:
    with static_cells.HOSTS[host](folder) as url:
        page, watch = visit(url)
        for _ in range(PAINTS):
            view = _open(page, url)
            expect_lines(view)
        expect_head_view(view, record)
        eventually(page, lambda: _fits(page))
        model = static_cells.view(page, 1)
        expect_painted(model.grid)
        expect_brightness(model.body, dark=False)
        # Of the hostile texts none has run; if one did, it would be an error of the page.
        expect_lines(static_cells.view(page, 2))
        assert watch.problems() == []
        # Leaves before the server ends.
        page.context.close()


def test_a_dark_page_and_all_that_is_in_it(
    folder: Path, record: aw.AttentionRecord, visit: Visit
) -> None:
    options = ("--HTMLExporter.theme=dark", "--output=dark.html")
    static_cells.call(folder, "nbconvert", "--to", "html", *options, "notebook.ipynb")
    page, watch = visit("")
    view = _open(page, (folder / "dark.html").as_uri())
    expect_lines(view)
    expect_brightness(view.body, dark=True)
    eventually(page, lambda: _fills_the_window(view))
    expect_model_view(static_cells.view(page, 1), record)
    expect_text_alone(static_cells.view(page, 2), watch)
    page.context.close()


def test_webpdf(folder: Path) -> None:
    """Cells below the end of the window are on paper too."""
    static_cells.call(folder, "tests.hosts.webpdf", "notebook.ipynb")
    pages = pypdf.PdfReader(folder / "notebook.pdf").pages
    text = "\n".join(page.extract_text() for page in pages)
    # In print, canvases are words and images, and controls are left out.
    assert "Find token" not in text
    assert "jumped" in text
    assert "head → layer ↓" in text
    assert "<script" in text
    # Cells of the model view, however far they are; a busy machine may not come to all.
    assert sum(len(page.images) for page in pages) > 12


def _fits(page: Page) -> None:
    """Check that a frame is as high as what is in it."""
    frame = static_cells.frames(page)[0]
    height = frame.content_frame.locator("main").evaluate("main => main.offsetHeight")
    assert frame.evaluate("frame => frame.offsetHeight") == height


def _fills_the_window(view: View) -> None:
    """Check that a view is higher than where the height of the window is unknown."""
    seen, content = view.body.evaluate("body => [body.clientHeight, body.scrollHeight]")
    assert seen > 300 or content <= seen


def _open(page: Page, url: str) -> View:
    page.goto(url)
    eventually(page, lambda: static_cells.view(page, 0))
    return static_cells.view(page, 0)
