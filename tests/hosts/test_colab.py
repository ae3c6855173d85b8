"""A notebook like Colab's, with the oldest packages that we support, and with the newest."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

import attnwidget as aw
from tests.browser.view import View, eventually, expect_lines
from tests.hosts.cdn import ANYWIDGET
from tests.hosts.colab import CellError, Colab, kernel
from tests.hosts.hostile_texts import LOAD_HOSTILE, expect_text_alone, save_hostile
from tests.hosts.shown import (
    LOAD,
    PAINTS,
    expect_brightness,
    expect_head_view,
    expect_three_views,
)

# Made by `make test`.
OLDEST = Path(sys.prefix) / "colab"

COUNT = """
asked = []

def hear(message):
    data = message["content"]["data"]
    if data["method"] == "custom":
        asked.append(data["content"])
    own._handle_msg(message)

own.comm.on_msg(hear)
"""


# What the versions could change; the notebook is the same for all other tests.
OF_THE_VERSIONS = (
    "test_these_are_the_versions",
    "test_first_paint",
    "test_what_the_reader_chooses_is_known_in_python",
    "test_a_layer_is_fetched_when_it_is_wanted",
)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    both = metafunc.function.__name__ in OF_THE_VERSIONS
    versions = ["oldest", "newest"] if both else ["oldest"]
    metafunc.parametrize("packages", versions, indirect=True, scope="module")


@pytest.fixture(scope="module")
def packages(request: pytest.FixtureRequest) -> str:
    if request.param == "oldest" and not OLDEST.exists():
        pytest.skip(f"ipywidgets 7.7.0 and anywidget 0.9.18 are not in {OLDEST}: see the Makefile")
    return str(request.param)


@pytest.fixture(scope="module")
def notebook(
    browser: Browser,
    tmp_path_factory: pytest.TempPathFactory,
    record: aw.AttentionRecord,
    packages: str,
) -> Iterator[Colab]:
    folder = tmp_path_factory.mktemp("colab")
    record.save(folder / "record.safetensors")
    save_hostile(folder)
    oldest = packages == "oldest"
    with kernel(folder, *([OLDEST] if oldest else [])) as client:
        # The same file as on the CDN.
        front_end = OLDEST / "anywidget" / "nbextension" / "index.js" if oldest else ANYWIDGET
        notebook = Colab(browser, client, front_end)
        notebook.run(LOAD)
        yield notebook
        notebook.context.close()


@pytest.fixture
def colab(notebook: Colab) -> Iterator[Colab]:
    """The notebook with one output. A test fails at its end if the page logged an error."""
    notebook.keep_first()
    notebook.watch.clear()
    yield notebook
    problems = notebook.watch.problems()
    assert not problems, "\n".join(problems)


@pytest.fixture(scope="module")
def shown(notebook: Colab) -> View:
    """The widget `w`, in an output that stays: a new one takes seconds to load."""
    [view] = notebook.run("w = aw.show(record); w")
    return view


@pytest.fixture
def view(shown: View, colab: Colab) -> View:
    """The widget `w` as at its beginning."""
    colab.run("w.view, w.layer, w.head, w.query, w.key = 'head', 0, 0, None, None")
    expect(shown.layer).to_have_text("0")
    expect_lines(shown)
    return shown


def expect_value(colab: Colab, expression: str, value: Any) -> None:
    def there() -> None:
        assert colab.evaluate(expression) == value

    eventually(colab.page, there)


def test_these_are_the_versions(colab: Colab, packages: str) -> None:
    colab.run("import anywidget, ipywidgets")
    versions = colab.evaluate("[ipywidgets.__version__, anywidget.__version__]")
    if packages == "oldest":
        assert versions == ["7.7.0", "0.9.18"]
    else:
        assert versions > ["8"]


def test_first_paint(shown: View, colab: Colab) -> None:
    expect_lines(shown)
    for _ in range(PAINTS - 1):
        colab.keep_first()
        [view] = colab.run("aw.show(record)")
        expect_lines(view)


def test_the_three_views(view: View, record: aw.AttentionRecord) -> None:
    expect_three_views(view, record)


def test_hostile_texts_stay_text(colab: Colab) -> None:
    [view] = colab.run(f"{LOAD_HOSTILE}; aw.show(hostile)")
    expect_text_alone(view, colab.watch)


def test_what_the_reader_chooses_is_known_in_python(colab: Colab, view: View) -> None:
    # One at a time: docs/hosts.md says what happens to faster hands where the kernel echoes.
    view.layer.press("End")
    view.head.press("End")
    view.query(4).click()
    expect_value(colab, "[w.layer, w.head, w.query, w.key]", [5, 11, 4, None])
    view.key(9).click()
    expect_value(colab, "[w.selection.key_token, w.query]", ["dog", None])
    view.open("Model")
    expect_value(colab, "w.view", "model")


def test_what_python_sets_is_seen(colab: Colab, view: View, record: aw.AttentionRecord) -> None:
    colab.run("w.layer = 3; w.query = 4")
    expect(view.layer).to_have_text("3")
    expect(view.query(4)).to_have_attribute("aria-selected", "true")
    expect_head_view(view, record, layer=3)
    with pytest.raises(CellError, match="layer 6 does not exist"):
        colab.run("w.layer = 6")


def test_what_python_set_before_it_was_shown_is_seen(colab: Colab) -> None:
    [view] = colab.run("early = aw.show(record); early.layer = 2; early.view = 'neuron'; early")
    expect(view.tab("Neuron")).to_have_attribute("aria-selected", "true")
    expect(view.layer).to_have_text("2")


def test_a_layer_is_fetched_when_it_is_wanted(colab: Colab, record: aw.AttentionRecord) -> None:
    [view] = colab.run("own = aw.show(record); own")
    expect_lines(view)
    colab.run(COUNT)
    view.layer.press("End")
    expect(view.layer).to_have_text("5")
    expect_head_view(view, record, layer=5)
    assert 5 in colab.evaluate("[request['layer'] for request in asked]")


def test_embedded_layers_need_no_kernel(colab: Colab, record: aw.AttentionRecord) -> None:
    [view] = colab.run("own = aw.show(record).embed(); own")
    expect_lines(view)
    colab.run(COUNT)
    view.layer.press("End")
    expect_head_view(view, record, layer=5)
    assert colab.evaluate("asked") == []


def test_widgets_side_by_side_leave_each_other_alone(colab: Colab, view: View) -> None:
    [other] = colab.run("other = aw.show(record, view='model'); other")
    expect(other.grid).to_be_visible()
    view.layer.press("End")
    view.head.press("End")
    view.query(4).click()
    expect_value(colab, "[w.layer, w.head, w.query]", [5, 11, 4])
    assert colab.evaluate("[other.layer, other.head, other.query]") == [0, 0, None]
    expect(other.layer).to_have_text("0")


def test_two_outputs_of_one_widget(colab: Colab, view: View) -> None:
    """Each has a model of its own; both hear Python, and Python hears both."""
    [again] = colab.run("w")
    expect_lines(again)
    colab.run("w.layer = 2")
    for each in (view, again):
        expect(each.layer).to_have_text("2")
    again.head.press("End")
    expect_value(colab, "w.head", 11)
    view.query(4).click()
    expect_value(colab, "w.query", 4)


def test_the_keyboard_is_for_the_view(colab: Colab, view: View) -> None:
    view.query(4).click()
    colab.page.keyboard.press("]")
    expect(view.layer).to_have_text("1")
    colab.page.keyboard.press("3")
    expect(view.tab("Neuron")).to_have_attribute("aria-selected", "true")
    colab.page.keyboard.press("Escape")
    expect_value(colab, "[w.layer, w.view, w.query]", [1, "neuron", None])


def test_numbers_are_copied(colab: Colab, view: View) -> None:
    """In the old way, for a frame has no permission for the new one."""
    view.query(4).click()
    colab.page.keyboard.press("c")
    expect(view.status).to_contain_text("copied")


def test_it_is_dark_or_light_as_the_notebook(view: View, colab: Colab) -> None:
    """A frame that looks out on the page behind it: only its text says how that is.

    The last test, because the notebook in another theme has no outputs.
    """
    expect_brightness(view.body, dark=False)
    colab.clear(dark=True)
    [again] = colab.run("aw.show(record)")
    expect_brightness(again.body, dark=True)
    expect_lines(again)
