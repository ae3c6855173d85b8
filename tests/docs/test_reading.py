"""The site in a browser: alive, in both themes, searchable, and readable without scripts."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, expect

from tests.docs.pages import Html
from tests.support import OpenPage

# Named as in the documents.
LIVE = {
    "index.html": ["Head"],
    "guide/head.html": ["Head", "Head"],
    "guide/model.html": ["Model", "Model", "Model"],
    "guide/neuron.html": ["Neuron", "Neuron"],
    "guide/map.html": ["Map", "Map"],
    "guide/lenses.html": ["Head"] * 4,
    "guide/compare.html": ["Head"],
    "gallery.html": ["Head", "Model", "Head", "Head", "Neuron", "Head", "Map"],
}
# Selectors of a page of the site, and of an exported page.
BACKGROUNDS = {"light": "rgb(255, 255, 255)", "dark": "rgb(17, 18, 20)"}


def test_all_live_views_are_known(pages: dict[str, Html]) -> None:
    found = {
        name: len([address for address in page.loaded if "_live/" in address])
        for name, page in pages.items()
    }
    assert {name: n for name, n in found.items() if n} == {n: len(v) for n, v in LIVE.items()}


# Every second one in the dark.
@pytest.mark.parametrize(("name", "dark"), [(name, n % 2 == 1) for n, name in enumerate(LIVE)])
def test_live_views_paint(
    site: Path, open_page: OpenPage, tmp_path: Path, name: str, dark: bool
) -> None:
    page = open_page(site / name, width=600 if dark else 1400, height=1100, dark=dark)
    for number, view in enumerate(LIVE[name]):
        frame = page.locator("iframe").nth(number)
        frame.scroll_into_view_if_needed()
        inside = frame.content_frame
        expect(inside.get_by_role("tab", name=view, exact=True)).to_have_attribute(
            "aria-selected", "true"
        )
        expect(inside.get_by_role("status")).not_to_be_empty()
        expect(inside.locator("canvas").first).to_be_visible()
        page.wait_for_function("new Promise(painted => setTimeout(() => painted(true), 500))")
        frame.screenshot(path=tmp_path / "frame.png")
        pixels = np.asarray(Image.open(tmp_path / "frame.png").convert("RGB"))
        # Lines, thumbnails and vectors have many shades; controls and text alone have few.
        coloured = pixels[np.ptp(pixels.astype(int), axis=2) > 40]
        assert len(np.unique(coloured, axis=0)) > 100
        assert bool(pixels.mean() < 100) is dark


def test_a_live_view_follows_the_sites_theme(site: Path, browser: Browser) -> None:
    # A theme that Playwright lends the browser would hold for frames whatever the page says.
    context = browser.new_context(color_scheme="null", viewport={"width": 1400, "height": 1100})
    page = context.new_page()
    page.goto((site / "guide/model.html").as_uri())
    body = page.locator("body")
    seen = set()
    for _ in range(3):
        page.get_by_role("button", name="color theme").locator("visible=true").click()
        theme = body.get_attribute("data-theme")
        if theme != "auto":
            inside = page.locator("iframe").first.content_frame.locator("html")
            expect(inside).to_have_css("background-color", BACKGROUNDS[theme or ""])
            expect(body).to_have_css("background-color", BACKGROUNDS[theme or ""])
            seen.add(theme)
    assert seen == {"light", "dark"}
    context.close()


def test_search_finds_without_a_network(site: Path, open_page: OpenPage) -> None:
    page = open_page(site / "index.html", width=1400)
    page.get_by_role("textbox", name="Search").fill("softcap")
    page.keyboard.press("Enter")
    found = page.locator("ul.search").get_by_role("link", name="Neuron view", exact=True)
    found.click()
    expect(page.get_by_role("heading", name="Neuron view")).to_be_visible()


def test_no_page_is_wider_than_a_phone(
    site: Path, browser: Browser, pages: dict[str, Html]
) -> None:
    # The live views would take most of the time; their frames are as wide without what is in them.
    context = browser.new_context(java_script_enabled=False, viewport={"width": 390, "height": 800})
    page = context.new_page()
    wide = []
    for name in pages:
        page.goto((site / name).as_uri())
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            wide.append(name)
    context.close()
    assert wide == []


def test_readable_without_scripts(site: Path, browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((site / "guide/neuron.html").as_uri())
    expect(page.get_by_text("Follow one weight").first).to_be_visible()
    expect(page.locator("figure.live img").first).to_be_visible()
    expect(page.locator("figure.live iframe").first).to_be_hidden()
    context.close()
