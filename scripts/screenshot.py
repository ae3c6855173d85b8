"""Draws docs/images/head.png, the picture in the README: python scripts/screenshot.py"""

import os
from pathlib import Path

from playwright.sync_api import sync_playwright

import attnwidget as aw
from attnwidget.default_model import default_model
from scripts.demo import HEADS, PAIR, TEXT

OUT = Path(__file__).parents[1] / "docs" / "images" / "head.png"


def main() -> None:
    widget = aw.show(*default_model(), TEXT, PAIR, layer=2, head=9, heads=HEADS, query=11)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("ATTNWIDGET_BROWSER"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 1200, "height": 900}, device_scale_factor=1.5)
        page.set_content(widget.to_html())
        page.get_by_role("listbox", name="Queries").wait_for()
        page.locator("main").screenshot(path=OUT)
        browser.close()


if __name__ == "__main__":
    main()
