import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

import attnwidget as aw
from tests.browser.texts import PAIR, TEXT
from tests.support import BROWSER_FLAGS, PATIENCE_MS, OpenPage, Watch

expect.set_options(timeout=PATIENCE_MS)

# Folders whose tests share one costly fixture, as a JupyterLab.
TOGETHER = ("docs", "lab", "notebooks", "release")
# The slowest tests begin first, so that none runs alone at the end.
LONGEST_FIRST = ("lab", "hosts", "release", "notebooks", "browser", "docs")
# A file whose tests share nothing: each goes to the process that is free.
APART = "test_coverage_sample.py"
# With more processes, the browsers would need more memory than most machines have.
MOST_PROCESSES = 8


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One process more than there are cores: many tests wait for a browser or a server."""
    return min((os.cpu_count() or 1) + 1, MOST_PROCESSES)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Run the tests of a folder or file that share costly fixtures in one process."""
    from xdist.scheduler import LoadScopeScheduling

    class Scheduler(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.split("::")[0]
            _, folder, *_ = file.split("/")
            return folder if folder in TOGETHER else nodeid if file.endswith(APART) else file

    return Scheduler(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    def folder(item: pytest.Item) -> str:
        return item.path.relative_to(Path(__file__).parent).parts[0]

    items.sort(key=lambda item: (*LONGEST_FIRST, folder(item)).index(folder(item)))


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = os.environ.get("ATTNWIDGET_BROWSER")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=BROWSER_FLAGS, timeout=PATIENCE_MS
        )
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def record() -> aw.AttentionRecord:
    """MiniLM's attention over a pair of sentences."""
    from attnwidget.default_model import default_model

    return aw.capture(*default_model(), TEXT, PAIR)


@pytest.fixture
def open_page(browser: Browser, tmp_path: Path) -> Iterator[OpenPage]:
    """Opens a file (Path) or HTML (str) as a file: page, each in a context of its own.

    The test fails at its end if a page logged a warning or an error, or asked for anything that it
    does not carry itself.
    """
    opened: list[tuple[BrowserContext, Watch]] = []

    def open_(
        source: Path | str, *, width: int = 1100, height: int = 800, dark: bool = False
    ) -> Page:
        if isinstance(source, str):
            path = tmp_path / f"page-{len(opened)}.html"
            path.write_text(source, encoding="utf-8")
        else:
            path = source
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
        )
        opened.append(
            (context, Watch(context, lambda url: url.startswith(("file:", "data:", "blob:"))))
        )
        page = context.new_page()
        page.goto(path.resolve().as_uri())
        return page

    yield open_
    for context, _ in opened:
        context.close()
    problems = [problem for _, watch in opened for problem in watch.problems()]
    assert not problems, "\n".join(problems)
