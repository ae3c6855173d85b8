"""The model view: every head of every layer."""

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

import attnwidget as aw
from tests.browser.view import (
    WEIGHT_TOLERANCE,
    View,
    darkness,
    eventually,
    look,
    metrics_of,
    numbers,
)
from tests.support import OpenPage


def test_every_head_has_a_cell(model_view: View, record: aw.AttentionRecord) -> None:
    cells = model_view.grid.get_by_role("gridcell")
    heads = [record.num_heads(layer) for layer in range(record.num_layers())]
    expect(cells).to_have_count(sum(heads))
    expect(model_view.cell(record.num_layers() - 1, heads[-1] - 1)).to_be_visible()


def test_a_cell_is_a_picture_of_its_head(model_view: View, record: aw.AttentionRecord) -> None:
    """The text is short enough for one dot per weight; the 16 shades need a head of contrast."""
    # The pointer away: hovering enlarges, and would cover what is looked at.
    model_view.status.hover()
    for layer in range(record.num_layers()):
        every = [record.weights(layer, head) for head in range(record.num_heads(layer))]
        head = int(np.argmax([np.sqrt(weights).std() for weights in every]))
        weights = every[head]
        dark = darkness(look(model_view.cell(layer, head)))
        at = ((np.arange(len(weights)) + 0.5) / len(weights) * len(dark)).astype(int)
        # Rounded corners hide the first and last dots.
        inner = (slice(1, -1), slice(1, -1))
        seen = dark[np.ix_(at, at)][inner]
        similar = np.corrcoef(seen.flat, np.sqrt(weights[inner]).flat)[0, 1]
        assert similar > 0.95, (layer, head)


@pytest.mark.parametrize(("layer", "head"), [(0, 2), (1, 8), (5, 11)])
def test_pointing_at_a_cell_tells_its_metrics(
    model_view: View, record: aw.AttentionRecord, layer: int, head: int
) -> None:
    model_view.cell(layer, head).hover()
    expect(model_view.status).to_contain_text(f"Layer {layer} · Head {head}")
    said = model_view.status.inner_text()
    found = metrics_of(said)

    weights = record.weights(layer, head).astype(np.float64)
    rows, columns = np.indices(weights.shape)
    assert abs(found["entropy"] - -(weights * np.log(weights)).sum(axis=1).mean()) <= 0.006, said
    assert abs(found["distance"] - (weights * (columns - rows)).sum(axis=1).mean()) <= 0.06, said
    assert (
        abs(found["share on previous token"] - np.diag(weights, -1).mean()) <= WEIGHT_TOLERANCE
    ), said
    assert abs(found["share on next token"] - np.diag(weights, 1).mean()) <= WEIGHT_TOLERANCE, said
    in_special = weights[:, list(record.stack().keys.special)].sum(axis=1).mean()
    assert abs(found["share on special tokens"] - in_special) <= WEIGHT_TOLERANCE, said


def test_the_metrics_go_back_to_the_selected_head(model_view: View) -> None:
    model_view.cell(3, 4).hover()
    expect(model_view.status).to_contain_text("Layer 3 · Head 4")
    model_view.status.hover()
    expect(model_view.status).to_contain_text("Layer 0 · Head 0")


def test_a_click_selects(model_view: View) -> None:
    model_view.cell(3, 4).click()
    expect(model_view.cell(3, 4)).to_have_attribute("aria-selected", "true")
    expect(model_view.cell(0, 0)).to_have_attribute("aria-selected", "false")
    expect(model_view.layer).to_have_text("3")
    expect(model_view.head).to_have_text("4")
    expect(model_view.tab("Model")).to_have_attribute("aria-selected", "true")


def test_a_double_click_goes_to_the_head(model_view: View, record: aw.AttentionRecord) -> None:
    model_view.cell(3, 4).dblclick()
    expect(model_view.tab("Head")).to_have_attribute("aria-selected", "true")
    expect(model_view.layer).to_have_text("3")
    pressed = model_view.within.get_by_role("button", name="Head ", pressed=True)
    expect(pressed).to_have_count(1)
    expect(model_view.swatch(4)).to_have_attribute("aria-pressed", "true")
    model_view.point_at_cell(2, 5, *record.weights(3, 4).shape)
    expect(model_view.status).to_contain_text("Layer 3 · Head 4 quick → jumped")
    weight = numbers(model_view.status.inner_text())[0]
    assert abs(weight - record.weights(3, 4)[2, 5]) <= WEIGHT_TOLERANCE


def test_arrows_walk_through_the_grid(model_view: View, record: aw.AttentionRecord) -> None:
    layers, heads = record.num_layers(), record.num_heads(0)
    model_view.cell(0, 0).click()
    press = model_view.page.keyboard.press

    def expect_at(layer: int, head: int) -> None:
        expect(model_view.cell(layer, head)).to_have_attribute("aria-selected", "true")
        expect(model_view.status).to_contain_text(f"Layer {layer} · Head {head}")

    model_view.status.hover()
    for key, layer, head in [
        ("ArrowUp", 0, 0),
        ("ArrowLeft", 0, 0),
        ("ArrowDown", 1, 0),
        ("ArrowRight", 1, 1),
        ("ArrowUp", 0, 1),
        ("ArrowLeft", 0, 0),
    ]:
        press(key)
        expect_at(layer, head)
    for _ in range(layers):
        press("ArrowDown")
    for _ in range(heads):
        press("ArrowRight")
    expect_at(layers - 1, heads - 1)
    press("Enter")
    expect(model_view.tab("Head")).to_have_attribute("aria-selected", "true")
    expect(model_view.layer).to_have_text(str(layers - 1))
    expect(model_view.head).to_have_text(str(heads - 1))


def test_lines_run_from_queries_to_keys(model_view: View) -> None:
    """Head 2 of layer 0 attends to the previous token: nearly level lines, and nothing else."""
    model_view.within.get_by_role("combobox", name="Show").select_option("Lines")
    model_view.status.hover()

    def level() -> None:
        dark = darkness(look(model_view.cell(0, 2)))
        rows = dark[:, 8:-8].mean(axis=1)
        # Every row of pixels is either a line or between two.
        assert rows.std() > 4 * dark[:, 8:-8].mean(axis=0).std()

    eventually(model_view.page, level)


@pytest.mark.parametrize("width", [600, 1400])
def test_the_numbers_stay_in_sight(open_page: OpenPage, smollm2_page: Path, width: int) -> None:
    view = View(open_page(smollm2_page, width=width, height=1200))
    view.open("Model")
    view.grid.focus()
    for _ in range(29):
        view.page.keyboard.press("ArrowDown")
    expect(view.cell(29, 0)).to_be_in_viewport()
    expect(view.grid.get_by_role("rowheader", name="29", exact=True)).to_be_in_viewport()
    head = view.grid.get_by_role("columnheader", name="Head 0", exact=True)
    expect(head).to_be_in_viewport()
    box, cell = head.bounding_box(), view.cell(29, 0).bounding_box()
    assert box
    assert cell
    assert abs(box["x"] + box["width"] / 2 - cell["x"] - cell["width"] / 2) <= 1
    expect(view.cell(0, 0)).not_to_be_in_viewport()


def test_the_head_stands_in_the_middle_at_first(
    open_page: OpenPage, smollm2_record: aw.AttentionRecord
) -> None:
    widget = aw.AttentionWidget(smollm2_record, view="model", layer=18, head=6)
    view = View(open_page(widget.to_html(quality="exact"), width=1000, height=1000))

    def in_the_middle() -> None:
        body, cell = view.body.bounding_box(), view.cell(18, 6).bounding_box()
        assert body
        assert cell
        middle = body["y"] + body["height"] / 2
        assert abs(cell["y"] + cell["height"] / 2 - middle) < cell["height"]

    eventually(view.page, in_the_middle)


def test_the_frame_of_the_selected_head_covers_nothing(
    open_page: OpenPage, record: aw.AttentionRecord
) -> None:
    """Its colour bar below the picture looks like that of its neighbour."""
    widget = aw.AttentionWidget(record, view="model", layer=3, head=0, color="layer")
    view = View(open_page(widget.to_html(quality="exact"), width=1000, height=1000))
    view.status.hover()
    grid, picture = view.grid.bounding_box(), look(view.grid)
    assert grid
    bars = []
    for head in (0, 1):
        cell = view.cell(3, head).bounding_box()
        assert cell
        left, right = (int(cell["x"] - grid["x"] + x) for x in (4, cell["width"] - 4))
        bottom = int(cell["y"] + cell["height"] - grid["y"])
        bars.append(picture[bottom : bottom + 6, left:right])
    assert np.ptp(bars[1]) > 0
    np.testing.assert_array_equal(*bars)


def test_a_part_of_the_model(open_page: OpenPage, record: aw.AttentionRecord) -> None:
    widget = aw.AttentionWidget(record, view="model", include_layers=[1, 4], include_heads=[0, 8])
    view = View(open_page(widget.to_html(quality="exact")))
    expect(view.grid.get_by_role("rowheader")).to_have_text(["1", "4"])
    expect(view.grid.get_by_role("columnheader")).to_have_text(["0", "8"])
    expect(view.grid.get_by_role("gridcell")).to_have_count(4)


def test_the_selection_is_seen_in_forced_colours(open_page: OpenPage, pair_page: Path) -> None:
    view = View(open_page(pair_page, height=1000))
    view.page.emulate_media(forced_colors="active")
    view.open("Model")
    outline = "cell => getComputedStyle(cell, '::after').outlineStyle"
    assert view.cell(0, 0).evaluate(outline) == "solid"
    assert view.cell(1, 1).evaluate(outline) == "none"
