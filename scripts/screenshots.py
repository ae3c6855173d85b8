"""Draws the pictures of the README and the docs into docs/images: python -m scripts.screenshots"""

import os
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

import attnwidget as aw
from attnwidget.default_model import default_model
from scripts.demo import HEADS, PAIR, TEXT

OUT = Path(__file__).parents[1] / "docs" / "images"

VIEWS: dict[str, dict[str, Any]] = {
    "head": {"layer": 2, "head": 9, "heads": HEADS, "query": 11},
    "model": {"layer": 0, "head": 2},
    "neuron": {"layer": 0, "head": 2, "query": 9},
}
# Width in CSS pixels, and whether it is dark.
LOOKS = {"light": (1200, False), "dark": (1200, True), "narrow": (600, False)}


def main() -> None:
    record = aw.capture(*default_model(), TEXT, PAIR)
    OUT.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("ATTNWIDGET_BROWSER"), args=["--no-sandbox"]
        )
        for view, choices in VIEWS.items():
            for look, (width, dark) in LOOKS.items():
                theme = "dark" if dark else "light"
                widget = aw.show(record, view=view, theme=theme, **choices)
                picture = draw(browser, widget.to_html(), width, theme)
                picture.save(OUT / f"{view}-{look}.png", optimize=True)
        browser.close()


def draw(browser: Browser, html: str, width: int, theme: Any) -> Image.Image:
    page = browser.new_page(
        viewport={"width": width, "height": 1100}, device_scale_factor=1.5, color_scheme=theme
    )
    page.set_content(html)
    page.get_by_role("tabpanel").get_by_role("listbox").or_(
        page.get_by_role("grid")
    ).first.wait_for()
    # What is drawn in slices, and a frame more.
    page.wait_for_timeout(1000)
    picture = Image.open(BytesIO(page.locator("main").screenshot()))
    page.close()
    # A palette makes files a third of the size, and these pictures have few colours.
    return picture.convert("RGB").quantize(256, dither=Image.Dither.NONE)


if __name__ == "__main__":
    main()
