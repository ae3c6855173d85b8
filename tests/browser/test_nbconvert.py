"""A notebook converted to HTML: views without a kernel, by Jupyter's own widget loader."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

import attnwidget as aw
from tests.browser.earlier import expect_earlier_view, read_earlier
from tests.browser.view import SCORE_TOLERANCE, View, expect_lines, expect_strongest, numbers
from tests.hosts.hostile_texts import LOAD_HOSTILE, expect_text_alone, save_hostile
from tests.hosts.shown import LOAD, PAINTS, expect_brightness, expect_three_views
from tests.lab.server import environment, notebook
from tests.support import PATIENCE_SECONDS, Watch

# Executed without a reader, the first one embeds by itself.
CELLS = [
    f"{LOAD}\naw.show(record)",
    "aw.show(record).embed([])",
    "aw.show(record, layer=4).embed(budget=50_000)",
    f"{LOAD_HOSTILE}\naw.show(hostile).embed()",
    "hostile",
]
VIEWS = 4

# Formulas, of which there are none, would be typeset by one more script from the network.
TO_HTML = ("--to", "html", "--HTMLExporter.mathjax_url=data:text/javascript,")

EARLIER = "earlier.ipynb"

MODULES = Path(__file__).parents[2] / "js" / "node_modules"

# Network requests of such a page, answered from the same packages on disk.
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
def executed(tmp_path_factory: pytest.TempPathFactory, record: aw.AttentionRecord) -> Path:
    """The notebook, run and saved with the state of its widgets."""
    folder = tmp_path_factory.mktemp("nbconvert")
    record.save(folder / "record.safetensors")
    save_hostile(folder)
    path = folder / "notebook.ipynb"
    path.write_text(json.dumps(notebook(*CELLS)))
    nbconvert(path, "--to", "notebook", "--execute", "--inplace")
    return path


@pytest.fixture(scope="module")
def converted(executed: Path) -> Path:
    (executed.parent / EARLIER).write_bytes(read_earlier(EARLIER))
    nbconvert(executed, *TO_HTML, "--HTMLExporter.theme=dark", EARLIER)
    return executed.with_suffix(".html")


def nbconvert(path: Path, *options: str) -> None:
    command = [sys.executable, "-m", "nbconvert", *options, path.name]
    done = subprocess.run(
        command,
        cwd=path.parent,
        env=environment(path.parent),
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def opened(browser: Browser, converted: Path) -> Iterator[tuple[Page, Watch]]:
    """The one page of these tests. Its loader takes seconds."""
    context = browser.new_context(viewport={"width": 1200, "height": 1000})
    allowed = ("file:", "data:", "blob:", *NETWORK)
    watch = Watch(context, lambda url: url.startswith(allowed), NOISE)
    for start, file in NETWORK.items():
        context.route(f"{start}**", lambda route, _, file=file: route.fulfill(path=MODULES / file))
    page = context.new_page()
    load(page, converted)
    yield page, watch
    context.close()


@pytest.fixture
def page(opened: tuple[Page, Watch]) -> Iterator[Page]:
    """A test fails at its end if the page complained, or asked for more than its loader."""
    page, watch = opened
    yield page
    problems = watch.problems()
    watch.clear()
    assert not problems, "\n".join(problems)


def load(page: Page, path: Path, views: int = VIEWS) -> None:
    page.goto(path.as_uri())
    # The loader comes in three parts and takes its time.
    expect(page.get_by_role("tablist", name="View")).to_have_count(views)


@pytest.fixture
def embedded(page: Page) -> View:
    """The first widget, at its first head in the head view, without a locked token."""
    view = View(page.locator("body > main > div").nth(0))
    view.open("Head")
    view.show(0, 0)
    view.layer.press("Escape")
    return view


@pytest.fixture
def bare(page: Page) -> View:
    return View(page.locator("body > main > div").nth(1))


@pytest.fixture
def budgeted(page: Page) -> View:
    return View(page.locator("body > main > div").nth(2))


def test_first_paint(page: Page, converted: Path) -> None:
    view = View(page.locator("body > main > div").first)
    expect_lines(view)
    for _ in range(PAINTS - 1):
        load(page, converted)
        expect_lines(view)


def test_the_three_views(embedded: View, record: aw.AttentionRecord) -> None:
    expect_three_views(embedded, record)


def test_embedded_layers_are_shown(embedded: View, record: aw.AttentionRecord) -> None:
    labels, _ = record.tokens()
    expect_lines(embedded)
    embedded.show(3, 6)
    embedded.query(4).hover()
    rows = {head: record.weights(3, head)[4] for head in range(record.num_heads(3))}
    expect_strongest(embedded, "Layer 3 fox →", rows, labels)
    expect(embedded.alert).to_have_count(0)
    # There was room for all, so that there is nothing to say.
    expect(embedded.within.get_by_role("note")).to_have_count(0)


def test_what_a_budget_has_room_for_is_shown_and_explained(
    budgeted: View, record: aw.AttentionRecord
) -> None:
    note = budgeted.within.get_by_role("note")
    expect(note).to_contain_text(
        re.compile(r"Saved with this notebook: layers \d–5, at draft quality, in \d\d KB")
    )
    expect(note).to_contain_text("all 6 layers would take about")
    expect(note).to_contain_text("the budget is 50 KB. Change it with widget.embed(layers=…, ")
    expect_lines(budgeted)
    budgeted.layer.press("End")
    expect(budgeted.layer).to_have_text("5")
    expect_lines(budgeted)
    budgeted.layer.press("Home")
    expect(budgeted.alert).to_contain_text(re.compile("Layer 0 is not saved .* has layers .–5"))


def test_embedded_vectors_are_explained(embedded: View, record: aw.AttentionRecord) -> None:
    embedded.open("Neuron")
    embedded.query(4).click()
    embedded.key(9).hover()
    expect(embedded.status).to_contain_text("fox → dog q·k")
    dot = numbers(embedded.status.inner_text())[0]
    q, k = record.queries(0, 0)[4], record.keys(0, 0)[9]
    assert abs(dot - q @ k) <= SCORE_TOLERANCE


def test_without_embed_a_layer_says_how_to_have_it(bare: View) -> None:
    expect(bare.alert).to_contain_text("no kernel is connected")
    expect(bare.alert).to_contain_text("embed()")


def test_without_embed_the_model_view_works(bare: View, record: aw.AttentionRecord) -> None:
    bare.open("Model")
    expect(bare.alert).to_have_count(0)
    cells = sum(record.num_heads(layer) for layer in range(record.num_layers()))
    expect(bare.grid.get_by_role("gridcell")).to_have_count(cells)
    bare.cell(0, 2).hover()
    expect(bare.status).to_contain_text("Layer 0 · Head 2 looks at the previous token")


def test_hostile_texts_stay_text(opened: tuple[Page, Watch], page: Page) -> None:
    """Of a widget, and of an output of plain text."""
    expect_text_alone(View(page.locator("body > main > div").nth(3)), opened[1])


def test_it_is_as_dark_as_the_page_and_turns_with_it(page: Page, embedded: View) -> None:
    expect_brightness(embedded.body, dark=True)
    page.locator("body").evaluate("node => { node.style.background = '#fff' }")
    expect_brightness(embedded.body, dark=False)
    page.locator("body").evaluate("node => { node.style.background = '' }")


# The last one, because it leaves the page.


def test_a_notebook_of_the_version_before(page: Page, converted: Path) -> None:
    load(page, converted.with_name(EARLIER).with_suffix(".html"), views=1)
    expect_earlier_view(View(page.locator("body > main > div").first))
