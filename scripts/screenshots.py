"""Draws the pictures of the README and the docs into docs/images: python -m scripts.screenshots

With ATTNWIDGET_MODELS, the folder of trained models, that of the vision transformer is drawn, too.
"""

import os
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

import attnwidget as aw
from attnwidget.default_model import default_model
from attnwidget.demo import HEADS, PAIR, TEXT

OUT = Path(__file__).parents[1] / "docs" / "images"

VIEWS: dict[str, dict[str, Any]] = {
    "head": {"layer": 2, "head": 9, "heads": HEADS, "query": 11},
    "model": {"layer": 0, "head": 2},
    "neuron": {"layer": 0, "head": 2, "query": 9},
    "map": {"layer": 2, "head": 9},
}
# The token of the patch in row 4 and column 6, after [CLS].
PATCH = 1 + 4 * 14 + 6
ON_IMAGE: dict[str, dict[str, Any]] = {
    "head": {"layer": 3, "head": 4, "query": PATCH},
    "model": {
        "layer": 8,
        "head": 8,
        "thumbnails": "image",
        "query": 0,
        "include_layers": [6, 7, 8, 9, 10, 11],
    },
}
LAYERS = {"head": [3], "model": None}
# Width in CSS pixels, pixels per CSS pixel, and the theme. The first are shown in the text.
LOOKS: dict[str, tuple[int, float, Any]] = {
    "light": (1200, 1.25, "light"),
    "dark": (1200, 1, "dark"),
    "narrow": (600, 1, "light"),
}


def main() -> None:
    record = aw.capture(*default_model(), TEXT, PAIR)
    OUT.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("ATTNWIDGET_BROWSER"), args=["--no-sandbox"]
        )
        for view, choices in VIEWS.items():
            for look, (width, scale, theme) in LOOKS.items():
                widget = aw.show(record, view=view, theme=theme, **choices)
                picture = draw(browser, widget.to_html(), width, scale, theme)
                picture.save(OUT / f"{view}-{look}.png", optimize=True)
        if models := os.environ.get("ATTNWIDGET_MODELS"):
            record = vision_record(Path(models))
            for view, choices in ON_IMAGE.items():
                page = aw.show(record, view=view, **choices).to_html(layers=LAYERS[view])
                picture = draw(browser, page, 1200, 1, "light")
                picture.save(OUT / f"{view}-picture.png", optimize=True)
        browser.close()


def vision_record(models: Path) -> aw.AttentionRecord:
    """ViT's attention over the photograph that the notebook shows."""
    from matplotlib.cbook import get_sample_data
    from transformers import AutoImageProcessor, AutoModelForImageClassification

    model = AutoModelForImageClassification.from_pretrained(models / "vit").eval()
    processor = AutoImageProcessor.from_pretrained(models / "vit")
    image = Image.open(get_sample_data("grace_hopper.jpg"))
    return aw.capture(model, processor, processor(images=image, return_tensors="pt"))


def draw(browser: Browser, html: str, width: int, scale: float, theme: Any) -> Image.Image:
    page = browser.new_page(
        viewport={"width": width, "height": 1100}, device_scale_factor=scale, color_scheme=theme
    )
    page.set_content(html)
    page.get_by_role("tabpanel").get_by_role("listbox").or_(
        page.get_by_role("grid")
    ).first.wait_for()
    # Wait for drawing in slices, and one more frame.
    page.wait_for_timeout(1000)
    picture = Image.open(BytesIO(page.locator("main").screenshot()))
    page.close()
    # A palette would make smaller files, but change colours.
    return picture.convert("RGB")


if __name__ == "__main__":
    main()
