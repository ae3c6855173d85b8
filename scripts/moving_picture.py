"""Draws the README's moving picture, docs/images/views.webp: python -m scripts.moving_picture"""

import os
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

import attnwidget as aw
from attnwidget.default_model import default_model
from attnwidget.demo import HEADS, PAIR, TEXT
from scripts.screenshots import OUT, draw

WIDTH = 1000
SECOND = 1000

HEAD: dict[str, Any] = {"view": "head", "layer": 2, "head": 9, "heads": HEADS}
MODEL: dict[str, Any] = {"view": "model", "layer": 0, "head": 2}
NEURON: dict[str, Any] = {"view": "neuron", "layer": 0, "head": 2}

# Choices, and the time in milliseconds for which a reader looks at them.
FRAMES: list[tuple[dict[str, Any], int]] = [
    (HEAD, 2 * SECOND),
    *((HEAD | {"query": query}, SECOND) for query in (4, 5, 9)),
    (HEAD | {"query": 11}, 3 * SECOND),
    (MODEL, 2 * SECOND),
    *((MODEL | {"head": head, "layer": layer}, SECOND // 2) for layer, head in ((1, 2), (1, 8))),
    (MODEL | {"sort": "previous", "color": "previous"}, 2 * SECOND),
    *((NEURON | {"query": query}, SECOND) for query in (7, 8)),
    (NEURON | {"query": 9}, 3 * SECOND),
]


def main() -> None:
    record = aw.capture(*default_model(), TEXT, PAIR)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("ATTNWIDGET_BROWSER"), args=["--no-sandbox"]
        )
        pictures = [
            draw(browser, aw.show(record, theme="light", **choices).to_html(), WIDTH, 1, "light")
            for choices, _ in FRAMES
        ]
        browser.close()
    height = max(picture.height for picture in pictures)
    first, *rest = (_on_white(picture, height) for picture in pictures)
    first.save(
        OUT / "views.webp",
        save_all=True,
        append_images=rest,
        duration=[duration for _, duration in FRAMES],
        loop=0,
        lossless=True,
        method=6,
    )


def _on_white(picture: Image.Image, height: int) -> Image.Image:
    page = Image.new("RGB", (WIDTH, height), "white")
    page.paste(picture)
    return page


if __name__ == "__main__":
    main()
