"""Grids of patches on an exported page: read, walked, chosen, saved, and opened as a head."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

import attnwidget as aw
from attnwidget.default_model import default_model
from tests.browser.view import View
from tests.support import OpenPage

CLEAN, CORRUPT = "The dog chased a cat.", "The dog chased a car."


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    model, tokenizer = default_model()
    texts = (CLEAN, CORRUPT)

    def first(output: object) -> float:
        return float(output.last_hidden_state[0, 0, 0])  # type: ignore[attr-defined]

    grids = [
        aw.patch_scan(model, tokenizer, *texts, metric=first, at=at, by=by, null=null)
        for at, by, null in (
            ("residual pre", "layer×position", True),
            ("head", "head", False),
        )
    ]
    path = tmp_path_factory.mktemp("grid") / "grid.html"
    compared = aw.compare(model, tokenizer, CLEAN, CORRUPT)
    aw.save_html(path, grids[0], compared, grids=grids[1:])
    return path


def test_a_grid_of_positions_is_read_and_opens_the_head_view(
    open_page: OpenPage, page: Path
) -> None:
    view = View(open_page(page))
    grid = view.page.get_by_role("grid", name="restored at residual pre")
    expect(grid).to_be_visible()
    # All of the metric is restored where the texts differ, before the first layer.
    grid.focus()
    view.page.keyboard.press("PageUp")
    view.page.keyboard.press("Home")
    for _ in range(5):
        view.page.keyboard.press("ArrowRight")
    expect(view.status).to_contain_text("Layer 0, position 5 cat / car  restored 1.00")
    expect(view.status).to_contain_text("null")
    view.page.keyboard.press("Enter")
    view.page.keyboard.press("Enter")
    expect(view.page.get_by_role("tab", name="Head", exact=True)).to_have_attribute(
        "aria-selected", "true"
    )
    expect(view.tokens("Queries").nth(5)).to_have_attribute("aria-selected", "true")


def test_a_grid_of_heads_is_chosen_and_colours_heads(open_page: OpenPage, page: Path) -> None:
    view = View(open_page(page))
    view.page.get_by_role("combobox", name="Grid").select_option("head, layer × head")
    expect(view.page.get_by_role("grid", name="restored at head")).to_be_visible()
    with view.page.expect_download() as download:
        view.page.get_by_role("grid").focus()
        view.page.keyboard.press("s")
    assert download.value.suggested_filename.startswith("attention-grid-self-restored-at-head")
    view.page.get_by_role("tab", name="Model").click()
    view.page.get_by_role("combobox", name="Colour by").select_option("restored at head")
    expect(view.page.get_by_role("grid", name="Heads of every layer")).to_be_visible()
