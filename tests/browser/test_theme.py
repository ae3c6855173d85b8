"""Light and dark, after what is around the view."""

from html import escape
from pathlib import Path

import numpy as np
import pytest

import attnwidget as aw
from tests.browser.view import View, brightness, eventually, look
from tests.support import OpenPage


@pytest.mark.parametrize("tab", ["Head", "Model", "Neuron", "Map"])
@pytest.mark.parametrize("dark", [False, True])
def test_as_the_page(open_page: OpenPage, pair_page: Path, tab: str, dark: bool) -> None:
    view = View(open_page(pair_page, height=1000, dark=dark))
    view.open(tab)

    def fits() -> None:
        for place in (view.body, view.page.locator("body")):
            bright = brightness(look(place))
            assert bright < 48 if dark else bright > 230, bright

    eventually(view.page, fits)


def test_the_page_turns_with_the_system(view: View) -> None:
    view.page.emulate_media(color_scheme="dark")

    def turned() -> None:
        assert brightness(look(view.body)) < 48

    eventually(view.page, turned)


@pytest.mark.parametrize("element", ["html", "body"])
def test_the_view_turns_with_what_is_around_it(view: View, element: str) -> None:
    """A host switches its own theme by an attribute or a class."""

    def bright() -> None:
        assert brightness(look(view.body)) > 230

    def dark() -> None:
        assert brightness(look(view.body)) < 48

    around = view.page.locator(element)
    eventually(view.page, bright)
    around.evaluate("node => { node.style.background = '#111' }")
    eventually(view.page, dark)
    around.evaluate("node => { node.style.background = '#fff' }")
    eventually(view.page, bright)


@pytest.mark.parametrize(("theme", "dark"), [("light", True), ("dark", False)])
def test_a_theme_that_was_asked_for_wins(
    open_page: OpenPage, record: aw.AttentionRecord, theme: str, dark: bool
) -> None:
    widget = aw.AttentionWidget(record, theme=theme)
    view = View(open_page(widget.to_html(), height=1000, dark=dark))

    def fits() -> None:
        bright = brightness(look(view.body))
        assert bright < 48 if theme == "dark" else bright > 230, bright

    eventually(view.page, fits)


def test_text_stands_out_in_the_dark(open_page: OpenPage, pair_page: Path) -> None:
    view = View(open_page(pair_page, height=1000, dark=True))

    def readable() -> None:
        for place in (view.status, view.query(4), view.layer):
            assert np.ptp(look(place)) > 100

    eventually(view.page, readable)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_around_has_the_theme_of_its_views(
    open_page: OpenPage, record: aw.AttentionRecord, theme: str
) -> None:
    html = aw.AttentionWidget(record, theme=theme).to_html()
    view = View(open_page(html, height=1000, dark=theme == "light"))

    def fits() -> None:
        bright = brightness(look(view.page.locator("html")))
        assert bright < 48 if theme == "dark" else bright > 230, bright

    eventually(view.page, fits)


def _expect_brightness(view: View, *, dark: bool) -> None:
    def fits() -> None:
        bright = brightness(look(view.body))
        assert bright < 48 if dark else bright > 230, bright

    eventually(view.page, fits)


@pytest.mark.parametrize(
    ("style", "dark"),
    [
        ("background: #000", True),
        ("background: rgb(17, 17, 0)", True),
        ("background: rgb(0 0 0 / 60%)", True),
        ("background: rgb(0 0 0 / 5%)", False),
        ("background: oklch(0.2 0 0 / 0.9)", True),
        ("color-scheme: dark", True),
        ("color: #e8eaed", True),
        ("", False),
    ],
)
def test_a_frame_is_as_dark_as_the_page_around_it(
    open_page: OpenPage, record: aw.AttentionRecord, style: str, dark: bool
) -> None:
    cell = aw.AttentionWidget(record).static(900, layers=[0]).html
    page = open_page(
        f'<!doctype html><html style="{style}"><body>{cell}</body></html>', height=1000
    )
    view = View(page.frame_locator("iframe").locator("main"))
    _expect_brightness(view, dark=dark)
    around = page.locator("html")
    around.evaluate("node => { node.style = 'background: black' }")
    _expect_brightness(view, dark=True)
    around.evaluate("node => { node.style = '' }")
    _expect_brightness(view, dark=False)


def test_a_page_in_a_frame_that_is_not_ours_heeds_no_message(
    open_page: OpenPage, record: aw.AttentionRecord
) -> None:
    html = escape(aw.AttentionWidget(record).to_html(layers=[0]))
    page = open_page(
        "<!doctype html><script>heard = []; onmessage = ({ data }) => heard.push(data)</script>"
        f'<iframe srcdoc="{html}" style="width: 900px; height: 900px"></iframe>',
        height=1000,
    )
    view = View(page.frame_locator("iframe").locator("main"))
    _expect_brightness(view, dark=False)
    page.evaluate("frames[0].postMessage({ attnwidget: { background: 'black' } }, '*')")
    view.open("Model")
    _expect_brightness(view, dark=False)
    assert page.evaluate("heard") == []
