"""A notebook converted to HTML: views without a kernel, by Jupyter's own widget loader."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Browser, Page, expect

import attnwidget as aw
from tests.browser.texts import PAIR, TEXT
from tests.browser.view import View, expect_lines, expect_strongest, numbers
from tests.support import Watch

CELLS = [
    f"""
import attnwidget as aw
from attnwidget.default_model import default_model
record = aw.capture(*default_model(), {TEXT!r}, {PAIR!r})
aw.show(record).embed()
""",
    "aw.show(record)",
]

MODULES = Path(__file__).parents[2] / "js" / "node_modules"

# What such a page asks the network for, answered from the same packages on disk.
NETWORK = {
    "https://cdnjs.cloudflare.com/ajax/libs/require.js/2.1.10/": "requirejs/require.js",
    "https://unpkg.com/@jupyter-widgets/html-manager@": (
        "@jupyter-widgets/html-manager/dist/embed-amd.js"
    ),
    "https://cdn.jsdelivr.net/npm/anywidget@": "anywidget/dist/index.js",
}

NOISE = [
    # The loader's own check of its own schema.
    r"console warning: strict mode: use allowUnionTypes",
    # It looks for anywidget.js beside the page before it asks the network.
    r"console error: Failed to load resource: net::ERR_FILE_NOT_FOUND",
]


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nbconvert")
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(code) for code in CELLS],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    )
    nbformat.write(notebook, folder / "notebook.ipynb")
    command = [
        *(sys.executable, "-m", "nbconvert", "--to", "html", "--execute", "notebook.ipynb"),
        # Formulas, of which there are none, would be typeset by one more script from the network.
        "--HTMLExporter.mathjax_url=data:text/javascript,",
    ]
    environment = os.environ | {
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_DATA_DIR": str(folder / "data"),
        "IPYTHONDIR": str(folder / "ipython"),
    }
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "notebook.html"


@pytest.fixture
def page(browser: Browser, converted: Path) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1200, "height": 1000})
    allowed = ("file:", "data:", "blob:", *NETWORK)
    watch = Watch(context, lambda url: url.startswith(allowed), NOISE)
    for start, file in NETWORK.items():
        context.route(f"{start}**", lambda route, _, file=file: route.fulfill(path=MODULES / file))
    page = context.new_page()
    page.goto(converted.as_uri())
    # The loader comes in three parts and takes its time.
    expect(page.get_by_role("tablist", name="View")).to_have_count(len(CELLS), timeout=30_000)
    yield page
    context.close()
    assert not watch.problems(), "\n".join(watch.problems())


@pytest.fixture
def embedded(page: Page) -> View:
    return View(page.locator("body > main > div").nth(0))


@pytest.fixture
def bare(page: Page) -> View:
    return View(page.locator("body > main > div").nth(1))


def test_embedded_layers_are_shown(embedded: View, record: aw.AttentionRecord) -> None:
    labels, _ = record.tokens()
    expect_lines(embedded)
    embedded.show(3, 6)
    embedded.query(4).hover()
    rows = {head: record.weights(3, head)[4] for head in range(record.num_heads(3))}
    expect_strongest(embedded, "Layer 3 fox →", rows, labels)
    expect(embedded.alert).to_have_count(0)


def test_embedded_vectors_are_explained(embedded: View, record: aw.AttentionRecord) -> None:
    embedded.open("Neuron")
    embedded.query(4).click()
    embedded.key(9).hover()
    expect(embedded.status).to_contain_text("fox → dog q·k")
    dot = numbers(embedded.status.inner_text())[0]
    q, k = record.queries(0, 0)[4], record.keys(0, 0)[9]
    assert abs(dot - q @ k) <= 0.0051 + 2**-10 * abs(q * k).sum()


def test_without_embed_a_layer_says_how_to_have_it(bare: View) -> None:
    expect(bare.alert).to_contain_text("no kernel is connected")
    expect(bare.alert).to_contain_text("embed()")


def test_without_embed_the_model_view_works(bare: View, record: aw.AttentionRecord) -> None:
    bare.open("Model")
    expect(bare.alert).to_have_count(0)
    cells = sum(record.num_heads(layer) for layer in range(record.num_layers()))
    expect(bare.grid.get_by_role("gridcell")).to_have_count(cells)
    bare.cell(0, 2).hover()
    expect(bare.status).to_contain_text("Layer 0 · Head 2 mostly previous token")
