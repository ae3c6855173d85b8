"""Light and dark, after what is around the view."""

from html import escape
from pathlib import Path

import numpy as np
import pytest

import attnwidget as aw
from tests.browser.view import View, eventually, look
from tests.hosts.shown import expect_brightness
from tests.support import OpenPage


@pytest.mark.parametrize("dark", [False, True])
def test_as_the_page(open_page: OpenPage, pair_page: Path, dark: bool) -> None:
    view = View(open_page(pair_page, height=1000, dark=dark))
    for tab in ("Head", "Model", "Neuron", "Map"):
        view.open(tab)
        expect_brightness(view.body, dark=dark)
        expect_brightness(view.page.locator("body"), dark=dark)


def test_the_page_turns_with_the_system(view: View) -> None:
    view.page.emulate_media(color_scheme="dark")
    expect_brightness(view.body, dark=True)


def test_the_view_turns_with_what_is_around_it(view: View) -> None:
    """A host switches its own theme by an attribute or a class."""
    for element in ("html", "body"):
        around = view.page.locator(element)
        expect_brightness(view.body, dark=False)
        around.evaluate("node => { node.style.background = '#111' }")
        expect_brightness(view.body, dark=True)
        around.evaluate("node => { node.style.background = '#fff' }")
        expect_brightness(view.body, dark=False)
        around.evaluate("node => { node.style.background = '' }")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_theme_that_was_asked_for_wins(
    open_page: OpenPage, record: aw.AttentionRecord, theme: str
) -> None:
    html = aw.AttentionWidget(record, theme=theme).to_html()
    view = View(open_page(html, height=1000, dark=theme == "light"))
    expect_brightness(view.body, dark=theme == "dark")
    # The page around its views has their theme.
    expect_brightness(view.page.locator("html"), dark=theme == "dark")


def test_text_stands_out_in_the_dark(open_page: OpenPage, pair_page: Path) -> None:
    view = View(open_page(pair_page, height=1000, dark=True))

    def readable() -> None:
        for place in (view.status, view.query(4), view.layer):
            assert np.ptp(look(place)) > 100

    eventually(view.page, readable)


STYLES = {
    "background: #000": True,
    "background: rgb(17, 17, 0)": True,
    "background: rgb(0 0 0 / 60%)": True,
    "background: rgb(0 0 0 / 5%)": False,
    "background: oklch(0.2 0 0 / 0.9)": True,
    "color-scheme: dark": True,
    "color: #e8eaed": True,
    "": False,
}


def test_a_frame_is_as_dark_as_the_page_around_it(
    open_page: OpenPage, record: aw.AttentionRecord
) -> None:
    cell = aw.AttentionWidget(record).static(900, layers=[0]).html
    style = "color-scheme: dark"
    page = open_page(
        f'<!doctype html><html style="{style}"><body>{cell}</body></html>', height=1000
    )
    view = View(page.frame_locator("iframe").locator("main"))
    expect_brightness(view.body, dark=STYLES[style])
    # Each is dark where the one before is light, or the other way round.
    for changed, dark in STYLES.items():
        for each, expected in (("" if dark else "background: black", not dark), (changed, dark)):
            page.locator("html").evaluate("(node, style) => { node.style = style }", each)
            expect_brightness(view.body, dark=expected)


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
    expect_brightness(view.body, dark=False)
    page.evaluate("frames[0].postMessage({ attnwidget: { background: 'black' } }, '*')")
    view.open("Model")
    expect_brightness(view.body, dark=False)
    assert page.evaluate("heard") == []
