"""A page that lost a part of itself says so instead of staying blank."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

import attnwidget as aw
from tests.browser.view import View, expect_lines
from tests.support import OpenPage


def without(html: str, part: str) -> str:
    """The page without one of its data scripts."""
    cut, count = re.subn(rf"<script[^>]*{part}[^>]*>.*?</script>", "", html, flags=re.DOTALL)
    assert count == 1
    return cut


@pytest.fixture
def html(pair_page: Path) -> str:
    return pair_page.read_text(encoding="utf-8")


def test_past_a_layer_that_is_gone_by_keyboard(open_page: OpenPage, html: str) -> None:
    """The focus does not go with the tokens that the message takes the place of."""
    view = View(open_page(without(html, 'data-block="self.1"')))
    view.query(4).click()
    view.page.keyboard.press("]")
    expect(view.alert).to_contain_text("Layer 1")
    view.page.keyboard.press("]")
    expect(view.layer).to_have_text("2")
    expect(view.alert).to_have_count(0)


@pytest.mark.parametrize("tab", ["Head", "Neuron"])
def test_a_layer_that_is_gone(open_page: OpenPage, html: str, tab: str) -> None:
    view = View(open_page(without(html, 'data-block="self.0"')))
    view.open(tab)
    expect(view.alert).to_contain_text("Layer 0")
    # The rest of the page is as good as before.
    view.layer.press("ArrowUp")
    expect(view.alert).to_have_count(0)
    expect(view.query(0)).to_be_visible()


def test_the_model_view_needs_no_layer(
    open_page: OpenPage, html: str, record: aw.AttentionRecord
) -> None:
    for layer in range(record.num_layers()):
        html = without(html, f'data-block="self.{layer}"')
    view = View(open_page(html))
    view.open("Model")
    view.cell(2, 3).hover()
    expect(view.status).to_contain_text("Layer 2 · Head 3")
    expect(view.alert).to_have_count(0)


def test_a_layer_that_is_cut_short(open_page: OpenPage, html: str) -> None:
    found = re.search(r'data-block="self\.0".*?"data":"([^"]*)"', html, re.DOTALL)
    assert found
    data = found[1]
    view = View(open_page(html.replace(data, data[: len(data) // 8 * 4])))
    expect(view.alert).to_be_visible()
    expect(view.alert).to_contain_text("incomplete")
    view.layer.press("ArrowUp")
    expect(view.alert).to_have_count(0)
    expect_lines(view)


def test_without_its_content(open_page: OpenPage, html: str) -> None:
    page = open_page(without(html, "data-content"))
    expect(page.get_by_role("alert")).to_contain_text("damaged")


def test_of_a_newer_format(open_page: OpenPage, html: str) -> None:
    newer = re.sub(r'("manifest":\{"version":)\d+', r"\g<1>999", html, count=1)
    assert newer != html
    expect(open_page(newer).get_by_role("alert")).to_contain_text("another version of attnwidget")


def test_a_download_that_broke_off(open_page: OpenPage, html: str) -> None:
    page = open_page(html[: len(html) // 2])
    expect(page.get_by_text(re.compile("damaged|incomplete"))).to_be_visible()
