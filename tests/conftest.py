import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from playwright.sync_api import Browser, Page, expect, sync_playwright

import attnwidget as aw
from tests.browser.texts import PAIR, TEXT
from tests.support import BROWSER_FLAGS, PATIENCE_MS, OpenPage, Shared, Tab

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
def shared(tmp_path_factory: pytest.TempPathFactory) -> Shared:
    """shared(name, make): a file or folder that one process of the run makes for all of them."""
    own = tmp_path_factory.getbasetemp()
    folder = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own

    def shared(name: str, make: Callable[[Path], object]) -> Path:
        path = folder / name
        with FileLock(folder / f"{name}.lock"):
            if not path.exists():
                unfinished = folder / f"{name}.unfinished"
                make(unfinished)
                unfinished.rename(path)
        return path

    return shared


@pytest.fixture(scope="session")
def record(shared: Shared) -> aw.AttentionRecord:
    """MiniLM's attention over a pair of sentences."""

    def make(path: Path) -> None:
        from attnwidget.default_model import default_model

        aw.capture(*default_model(), TEXT, PAIR).save(path)

    return aw.AttentionRecord.load(shared("minilm.safetensors", make))


@pytest.fixture(scope="session")
def smollm2(shared: Shared) -> Any:
    """(model, tokenizer): a trained Llama whose nine query heads share three key heads.

    Read from their package, they take half a minute.
    """
    import torch

    def make(path: Path) -> None:
        from benchmarks.browser.models import smollm2

        torch.save(smollm2(), path)

    return torch.load(shared("smollm2.pt", make), weights_only=False, mmap=True)


@pytest.fixture(scope="session")
def tabs(browser: Browser) -> list[Tab]:
    """The pages that no test uses now."""
    return []


@pytest.fixture
def open_page(
    browser: Browser, tabs: list[Tab], tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[OpenPage]:
    """Opens a file (Path) or HTML (str) as a file: page, each in a context of its own.

    The test fails at its end if a page logged a warning or an error, or asked for anything that it
    does not carry itself.
    """
    used: list[Tab] = []
    failed = request.session.testsfailed

    def open_(
        source: Path | str, *, width: int = 1900, height: int = 800, dark: bool = False
    ) -> Page:
        if isinstance(source, str):
            path = tmp_path / f"page-{len(used)}.html"
            path.write_text(source, encoding="utf-8")
        else:
            path = source
        tab = tabs.pop() if tabs else Tab(browser)
        used.append(tab)
        tab.open(path.resolve().as_uri(), width, height, dark)
        return tab.page

    yield open_
    if request.session.testsfailed > failed:
        # Nobody knows in which state the test left them.
        for tab in used:
            tab.context.close()
        return
    problems = [problem for tab in used for problem in tab.leave()]
    tabs.extend(used)
    assert not problems, "\n".join(problems)
