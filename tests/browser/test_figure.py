"""The figure that a page saves is what it shows, and saving asks nobody."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

import attnwidget as aw
from tests.browser.view import View
from tests.support import OpenPage

CHOICES: dict[str, dict[str, Any]] = {
    "head": {"layer": 2, "head": 9, "heads": [0, 3, 8, 9], "query": 11},
    "model": {"layer": 0, "head": 2},
    "neuron": {"layer": 0, "head": 2, "query": 9},
}
FILES = {
    "head": "attention-head-layer-2",
    "model": "attention-model",
    "neuron": "attention-neuron-layer-0-head-2",
}

# Largest height of a figure's heading, and the size of the view's frame, in pixels.
HEADING = 60
FRAME = 16


def saved(view: View, save: Callable[[], None]) -> tuple[str, bytes]:
    with view.page.expect_download() as download:
        save()
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


def choose(view: View, kind: str) -> Callable[[], None]:
    def save() -> None:
        view.within.get_by_role("button", name="Save figure").click()
        view.within.get_by_role("menuitem", name=kind).click()

    return save


def assert_shown(figure: Image.Image, screenshot: bytes) -> None:
    """It holds what is on the screen, pixel by pixel, below its own heading."""
    with Image.open(BytesIO(screenshot)) as picture:
        screen = np.asarray(picture.convert("RGB"), float)
    size = round(figure.width / 2.5), round(figure.height / 2.5)
    pixels = np.asarray(figure.resize(size, Image.Resampling.BOX), float)
    height = min(len(screen), len(pixels) - HEADING) - FRAME
    width = min(screen.shape[1], pixels.shape[1]) - FRAME
    differences = [
        np.abs(pixels[top : top + height, :width] - screen[:height, :width]).mean()
        for top in range(HEADING)
    ]
    blank = np.abs(255 - screen[:height, :width]).mean()
    assert min(differences) < 0.25 * blank


def texts(svg: bytes) -> list[str]:
    return [(element.text or "").strip() for element in ElementTree.fromstring(svg).iter()]


@pytest.mark.parametrize("name", CHOICES)
def test_the_menu_saves_the_view(
    record: aw.AttentionRecord, open_page: OpenPage, name: Any
) -> None:
    widget = aw.AttentionWidget(record, view=name, **CHOICES[name])
    view = View(open_page(widget.to_html(quality="exact"), height=1000))
    if name == "model":
        expect(view.grid).to_be_visible()
    else:
        expect(view.tokens("Queries").first).to_be_visible()
    file, svg = saved(view, choose(view, "SVG"))
    assert file == f"{FILES[name]}.svg"
    tokens = [] if name == "model" else record.tokens()[0]
    assert {*tokens} <= set(texts(svg))
    assert record.model in " ".join(texts(svg))
    expect(view.status).to_contain_text(f"Saved as {file}")

    file, png = saved(view, choose(view, "PNG"))
    assert file == f"{FILES[name]}.png"
    size = ElementTree.fromstring(svg)
    with Image.open(BytesIO(png)) as picture:
        wanted = [2.5 * float(size.get(side, "")) for side in ("width", "height")]
        assert list(picture.size) == pytest.approx(wanted, abs=1)
        assert_shown(picture.convert("RGB"), view.within.get_by_role("tabpanel").screenshot())


def test_a_key_saves_what_is_looked_at(view: View) -> None:
    view.query(5).click()
    view.query(3).hover()
    file, svg = saved(view, lambda: view.page.keyboard.press("s"))
    assert file.endswith(".svg")
    # All else in their column is faded, and what is locked stays bold.
    labels = [e for e in ElementTree.fromstring(svg).iter() if e.get("text-anchor") == "end"]
    inked = [e for e in labels if e.get("fill") == "#1c2026"]
    strong = {e.text for e in inked if e.get("opacity") is None}
    assert strong == {view.query(3).inner_text(), view.query(5).inner_text()}
    assert view.query(5).inner_text() in {e.text for e in labels if e.get("font-weight") == "600"}


def test_of_a_long_text_the_part_in_view_is_named(open_page: OpenPage) -> None:
    tokens = [f"t{n}" for n in range(120)]
    weights = np.random.default_rng(0).dirichlet(np.full(120, 0.1), (1, 3, 120))
    record = aw.AttentionRecord.from_arrays(weights, tokens)
    view = View(open_page(aw.AttentionWidget(record, query=70).to_html(), height=1000))
    expect(view.tokens("Queries").first).to_be_visible()
    _, svg = saved(view, choose(view, "SVG"))
    # The page shows where its own columns are: only that of the queries has what is locked.
    said = " ".join(texts(svg))
    assert "queries 50–90 of 120 are named, keys 0–39 of 120 are named" in said
