"""VS Code's widget manager. The application around it cannot be had here."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

import attnwidget as aw
from tests.browser.view import View, eventually, expect_lines
from tests.hosts.hostile_texts import LOAD_HOSTILE, expect_text_alone, save_hostile
from tests.hosts.shown import (
    LOAD,
    PAINTS,
    expect_brightness,
    expect_head_view,
    expect_three_views,
)
from tests.hosts.vscode import VSCode, bundle
from tests.lab.server import serve


@pytest.fixture(scope="module")
def opened(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory, record: aw.AttentionRecord
) -> Iterator[VSCode]:
    folder = tmp_path_factory.mktemp("vscode")
    script = bundle(folder)
    with serve(folder, "jupyterlab") as server:
        record.save(server.root / "record.safetensors")
        save_hostile(server.root)
        opened = VSCode(browser, server, script)
        opened.open()
        opened.run(LOAD)
        yield opened
        opened.context.close()


@pytest.fixture
def vscode(opened: VSCode) -> Iterator[VSCode]:
    """A test fails at its end if the page complained, or asked for more than `anywidget`."""
    opened.watch.clear()
    yield opened
    assert not opened.watch.problems(), "\n".join(opened.watch.problems())


def expect_value(vscode: VSCode, expression: str, value: Any) -> None:
    def there() -> None:
        assert vscode.evaluate(expression) == value

    eventually(vscode.page, there)


def test_first_paint(vscode: VSCode) -> None:
    expect_lines(View(vscode.run("w = aw.show(record); w")))
    for _ in range(PAINTS - 1):
        vscode.open()
        vscode.run(LOAD)
        expect_lines(View(vscode.run("w = aw.show(record); w")))


def test_what_is_shown_and_chosen(vscode: VSCode, record: aw.AttentionRecord) -> None:
    view = View(vscode.run("w = aw.show(record); w"))
    other = View(vscode.run("aw.show(record, view='model')"))
    expect_three_views(view, record)
    pictures = other.drawn()

    # From the reader to Python; a layer that is new comes from the kernel.
    view.open("Head")
    view.show(5, 11)
    view.query(9).click()
    expect_value(vscode, "[w.layer, w.head, w.selection.query_token]", [5, 11, "dog"])
    expect_head_view(view, record, layer=5)

    # And back.
    vscode.run("w.layer, w.head, w.query = 3, 6, 4")
    expect(view.layer).to_have_text("3")
    expect(view.head).to_have_text("6")
    expect_head_view(view, record, layer=3)
    expect(other.layer).to_have_text("0")
    assert other.drawn() == pictures


def test_hostile_texts_stay_text(vscode: VSCode) -> None:
    expect_text_alone(View(vscode.run(f"{LOAD_HOSTILE}; aw.show(hostile)")), vscode.watch)


def test_it_is_as_light_as_what_is_behind_it(vscode: VSCode) -> None:
    """VS Code paints widgets' ground white, also where everything around it is dark."""
    view = View(vscode.run("aw.show(record)"))
    expect_lines(view)
    expect_brightness(view.body, dark=False)
    # With a style sheet of the user that undoes it.
    vscode.page.add_style_tag(
        content="main .cell-output-ipywidget-background { background: transparent !important }"
    )
    again = View(vscode.run("aw.show(record)"))
    expect_lines(again)
    expect_brightness(again.body, dark=True)
