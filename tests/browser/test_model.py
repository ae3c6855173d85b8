"""The model view: every head of every layer."""

from pathlib import Path

import numpy as np
from playwright.sync_api import expect

import attnwidget as aw
from tests.browser.view import (
    WEIGHT_TOLERANCE,
    View,
    darkness,
    eventually,
    look,
    metrics_of,
)
from tests.support import OpenPage


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


def test_pointing_at_a_cell_tells_its_metrics(model_view: View, record: aw.AttentionRecord) -> None:
    for layer, head in ((0, 2), (1, 8), (5, 11)):
        model_view.cell(layer, head).hover()
        expect(model_view.status).to_contain_text(f"Layer {layer} · Head {head}")
        said = model_view.status.inner_text()
        found = metrics_of(said)

        weights = record.weights(layer, head).astype(np.float64)
        rows, columns = np.indices(weights.shape)
        in_special = weights[:, list(record.stack().keys.special)].sum(axis=1).mean()
        for name, expected, tolerance in (
            ("entropy", -(weights * np.log(weights)).sum(axis=1).mean(), 0.006),
            ("distance", (weights * (columns - rows)).sum(axis=1).mean(), 0.06),
            ("share on previous token", np.diag(weights, -1).mean(), WEIGHT_TOLERANCE),
            ("share on next token", np.diag(weights, 1).mean(), WEIGHT_TOLERANCE),
            ("share on special tokens", in_special, WEIGHT_TOLERANCE),
        ):
            assert abs(found[name] - expected) <= tolerance, said


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


def test_the_selection_is_seen_in_forced_colours(open_page: OpenPage, pair_page: Path) -> None:
    view = View(open_page(pair_page, height=1000))
    view.page.emulate_media(forced_colors="active")
    view.open("Model")
    outline = "cell => getComputedStyle(cell, '::after').outlineStyle"
    assert view.cell(0, 0).evaluate(outline) == "solid"
    assert view.cell(1, 1).evaluate(outline) == "none"
