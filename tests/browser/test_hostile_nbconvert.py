"""Hostile texts in a notebook converted to HTML: its widget, and its outputs of plain text."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests import hostile
from tests.browser.test_nbconvert import MODULES, NETWORK, NOISE
from tests.browser.view import View, expect_lines
from tests.lab.server import environment, notebook
from tests.support import PATIENCE_SECONDS, Watch

CELLS = [
    f"""
import sys
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
import attnwidget as aw
from tests import hostile
record = hostile.record()
aw.AttentionWidget(record).embed()
""",
    "record",
    "aw.AttentionWidget(hostile.stacks(), view='model').embed()",
]


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "notebook.ipynb").write_text(json.dumps(notebook(*CELLS)))
    command = [
        *(sys.executable, "-m", "nbconvert", "--to", "html", "--execute", "notebook.ipynb"),
        "--HTMLExporter.mathjax_url=data:text/javascript,",
    ]
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    return folder / "notebook.html"


def test_nothing_runs(browser: Browser, converted: Path) -> None:
    context = browser.new_context(viewport={"width": 1200, "height": 1000})
    context.add_init_script(hostile.TELL)
    allowed = ("file:", "data:", "blob:", *NETWORK)
    watch = Watch(context, lambda url: url.startswith(allowed), NOISE)
    for start, file in NETWORK.items():
        context.route(f"{start}**", lambda route, _, file=file: route.fulfill(path=MODULES / file))
    page = context.new_page()
    page.goto(converted.as_uri())
    expect(page.get_by_role("tablist", name="View")).to_have_count(2)
    # The widgets' own part of the page: the loader before it logs what it likes.
    first, second = (View(page.locator("body > main > div").nth(n)) for n in (0, 2))
    expect_lines(first)
    for position in range(0, 12):
        first.query(position).hover()
    for tab in ("Model", "Neuron", "Map", "Head"):
        first.open(tab)
    second.filter.select_option(hostile.NAMES[0])
    second.open("Head")
    expect(second.tokens("Queries")).to_have_count(2)
    problems = watch.problems()
    context.close()
    assert problems == []
