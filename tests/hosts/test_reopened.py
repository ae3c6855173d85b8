"""A saved notebook that is opened again in JupyterLab: what its reader sees before running it."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Locator, expect

import attnwidget as aw
from tests.browser.view import View, eventually, expect_lines
from tests.hosts.hostile_texts import expect_text_alone
from tests.hosts.reopened import SAVE_STATE, outputs, reopen, write_notebooks
from tests.hosts.shown import (
    PAINTS,
    expect_brightness,
    expect_head_view,
    expect_neuron_view,
    expect_three_views,
)
from tests.lab.lab import Lab
from tests.lab.server import Server, serve

# Their widgets come from the file, or from a kernel that still runs.
WITH_WIDGETS = ("trusted", "test")

TRUSTED = """() => window.jupyterapp.shell.currentWidget.content.widgets.every(
  (cell) => cell.model.trusted)"""


# All cells to the first with a view.
RUN_FIRST = """async () => {
  const { commands, shell } = window.jupyterapp;
  const notebook = shell.currentWidget.content;
  notebook.activeCellIndex = 1 + notebook.widgets.findIndex(
    (cell) => cell.model.sharedModel.getSource().includes("aw.show"));
  await commands.execute("notebook:run-all-above");
}"""


@pytest.fixture(scope="module")
def server(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory, record: aw.AttentionRecord
) -> Iterator[Server]:
    with serve(tmp_path_factory.mktemp("reopened"), "jupyterlab", SAVE_STATE) as server:
        write_notebooks(browser, server, record)
        yield server


@pytest.fixture(scope="module")
def pages() -> Iterator[dict[bool, Lab]]:
    """By whether its kernel still runs: a page for that notebook, and one for all others.

    JupyterLab takes many seconds to load, but little time to open one more notebook.
    """
    pages: dict[bool, Lab] = {}
    yield pages
    for lab in pages.values():
        lab.context.close()


@pytest.fixture
def open_(
    browser: Browser, server: Server, pages: dict[bool, Lab]
) -> Iterator[Callable[[str], Lab]]:
    """A test fails at its end if a page complained, or asked another server for anything."""
    for lab in pages.values():
        lab.watch.clear()

    def open_once(name: str) -> Lab:
        runs = name == "test"
        if runs in pages:
            pages[runs].open(f"{name}.ipynb")
        else:
            pages[runs] = reopen(browser, server, name)
        if name in WITH_WIDGETS:
            pages[runs].wait_for_widgets()
        return pages[runs]

    yield open_once
    problems = [problem for lab in pages.values() for problem in lab.watch.problems()]
    assert not problems, "\n".join(problems)


@pytest.fixture
def trusted(open_: Callable[[str], Lab]) -> Lab:
    lab = open_("trusted")
    assert lab.page.evaluate(TRUSTED)
    return lab


def notebook(lab: Lab) -> Locator:
    """The one that is open, and not behind another."""
    return lab.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")


def results(lab: Lab) -> Locator:
    return notebook(lab).locator(".jp-OutputArea-output")


def embedded(lab: Lab) -> View:
    return View(results(lab).nth(0))


def bare(lab: Lab) -> View:
    return View(results(lab).nth(1))


def test_first_paint(trusted: Lab) -> None:
    expect_lines(embedded(trusted))
    for _ in range(PAINTS - 1):
        trusted.reload()
        expect_lines(embedded(trusted))


def test_what_was_chosen_is_still_chosen(trusted: Lab, record: aw.AttentionRecord) -> None:
    view = embedded(trusted)
    expect(view.layer).to_have_text("3")
    expect(view.head).to_have_text("6")
    expect_head_view(view, record, layer=3)


def test_the_three_views_need_no_kernel(trusted: Lab, record: aw.AttentionRecord) -> None:
    view = embedded(trusted)
    view.show(0, 0)
    expect_three_views(view, record)
    view.show(5, 11)
    expect_head_view(view, record, layer=5)
    # The notebook's kernel is a new one.
    assert trusted.evaluate("'aw' in globals()") is False


def test_another_widget_begins_with_its_own_view(trusted: Lab, record: aw.AttentionRecord) -> None:
    view = View(results(trusted).nth(2))
    expect(view.tab("Neuron")).to_have_attribute("aria-selected", "true")
    expect_neuron_view(view, record)


def test_what_was_not_embedded_says_so(trusted: Lab) -> None:
    view = bare(trusted)
    view.open("Head")
    expect(view.alert).to_contain_text("no kernel is connected")
    expect(view.alert).to_contain_text("embed()")
    view.open("Model")
    expect(view.alert).to_have_count(0)
    view.cell(0, 2).hover()
    expect(view.status).to_contain_text("Layer 0 · Head 2 looks at the previous token")


@pytest.mark.parametrize("name", ["trusted", "test"])
def test_hostile_texts_stay_text(open_: Callable[[str], Lab], name: str) -> None:
    """Choices come back as they were saved, and from a kernel that still runs."""
    lab = open_(name)
    expect_text_alone(View(results(lab).nth(3)), lab.watch)


def static(lab: Lab, number: int) -> View:
    place = results(lab).nth(number)
    # Outputs above it grow as they load, and a frame that is out of sight does not draw.
    expect(results(lab).filter(has_text="Loading widget...")).to_have_count(0)
    place.scroll_into_view_if_needed()
    return View(place.frame_locator("iframe").locator("main"))


def test_it_turns_with_the_theme(trusted: Lab) -> None:
    view = embedded(trusted)
    trusted.set_theme("dark")
    expect_brightness(view.body, dark=True)
    expect_brightness(static(trusted, 4).body, dark=True)
    trusted.set_theme("light")
    expect_brightness(view.body, dark=False)
    expect_brightness(static(trusted, 4).body, dark=False)


@pytest.mark.parametrize("name", ["trusted", "trusted-bare"])
def test_static_cells(open_: Callable[[str], Lab], record: aw.AttentionRecord, name: str) -> None:
    lab = open_(name)
    view = static(lab, 4)
    expect_lines(view)
    for _ in range(PAINTS - 1):
        lab.reload()
        expect_lines(view)
    expect_three_views(view, record)
    # The keys of a view in a frame are not the notebook's.
    view.layer.press("ArrowUp")
    expect(view.layer).to_have_text("1")
    frame = results(lab).nth(4).locator("iframe")

    def fits() -> None:
        height = frame.content_frame.locator("main").evaluate("main => main.offsetHeight")
        assert frame.evaluate("frame => frame.offsetHeight") == height

    eventually(lab.page, fits)


def test_while_its_kernel_runs_it_is_live(
    open_: Callable[[str], Lab], record: aw.AttentionRecord
) -> None:
    lab = open_("test")
    view = bare(lab)
    expect_lines(view)
    view.show(5, 11)
    expect_head_view(view, record, layer=5)
    lab.run("bare.query = 4")
    expect(view.query(4)).to_have_attribute("aria-selected", "true")
    assert lab.evaluate("[bare.layer, bare.head, bare.query]") == [5, 11, 4]


def test_trusted_without_state_jupyterlab_says_that_it_has_no_model(
    open_: Callable[[str], Lab],
) -> None:
    lab = open_("trusted-bare")
    assert lab.page.evaluate(TRUSTED)
    expect(results(lab).nth(0)).to_contain_text("Error displaying widget: model not found")
    # Running the cells brings the views back.
    lab.page.evaluate(RUN_FIRST)
    expect_lines(embedded(lab))


@pytest.mark.parametrize("name", ["untrusted", "untrusted-bare"])
def test_untrusted_nothing_of_ours_runs(
    open_: Callable[[str], Lab], server: Server, name: str
) -> None:
    lab = open_(name)
    assert not lab.page.evaluate(TRUSTED)
    saved = outputs(server, name)
    expect(results(lab)).to_have_count(len(saved))
    *widgets, frame, hostile = zip(results(lab).all(), saved, strict=True)
    for place, data in widgets:
        assert "application/vnd.jupyter.widget-view+json" in data
        image = place.locator("img")
        png = "".join(data["image/png"]).replace("\n", "")
        expect(image).to_have_attribute("src", f"data:image/png;base64,{png}")
        assert image.evaluate("image => image.naturalWidth") > 300
    for place, data in (frame, hostile):
        assert data.keys() == {"text/html", "text/plain"}
        expect(place).to_contain_text("To see the view here, trust this notebook")
        expect(place.locator("iframe")).to_have_count(0)
    expect(notebook(lab).get_by_role("tablist", name="View")).to_have_count(0)
    assert notebook(lab).locator(".jupyter-widgets").count() == 0


def test_hostile_texts_stay_text_in_static_cells(trusted: Lab) -> None:
    """Comes last, because Chromium reports what it made to run with every later frame again."""
    expect_text_alone(static(trusted, 5), trusted.watch)
