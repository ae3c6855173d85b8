"""The matrix of the current head, beside the lines."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

import attnwidget as aw
from tests.browser.view import (
    WEIGHT_TOLERANCE,
    View,
    cells,
    darkness,
    eventually,
    look,
    names,
    numbers,
)


@pytest.mark.parametrize(("layer", "head"), [(0, 2), (3, 6)])
def test_a_cell_tells_its_weight_and_score(
    view: View, record: aw.AttentionRecord, layer: int, head: int
) -> None:
    weights, scores = record.weights(layer, head), record.scores(layer, head)
    labels = names(record.tokens()[0])
    rows, columns = weights.shape
    view.show(layer, head)
    # Corners, where an offset by one shows, the largest weight, and one in between.
    largest = np.unravel_index(weights.argmax(), weights.shape)
    for row, column in [(0, 0), (0, columns - 1), (rows - 1, 0), largest, (11, 9)]:
        view.point_at_cell(row, column, rows, columns)
        expect(view.status).to_contain_text(
            f"Layer {layer} · Head {head} {labels[row]} → {labels[column]} weight"
        )
        said = view.status.inner_text()
        weight, score = numbers(said)
        assert abs(weight - weights[row, column]) <= WEIGHT_TOLERANCE, said
        assert abs(score - scores[row, column]) <= 0.02, said


def test_a_cell_is_as_dark_as_its_weight(view: View, record: aw.AttentionRecord) -> None:
    weights = record.weights(0, 0)
    rows, columns = weights.shape
    expect(view.query(0)).to_be_visible()
    dark = darkness(look(view.matrix))
    left, top, side = cells(dark.shape[1], dark.shape[0], rows, columns)
    middles = (np.arange(rows) + 0.5) * side
    seen = dark[np.ix_((top + middles).astype(int), (left + middles).astype(int))]
    # Whatever curve makes small weights visible: darker is larger.
    order = np.argsort(weights, axis=None)
    tenth = len(order) // 10
    assert seen.flat[order[-tenth:]].mean() > 2 * seen.flat[order[:tenth]].mean()
    assert np.corrcoef(seen.flat, np.sqrt(weights).flat)[0, 1] > 0.95


def test_a_click_keeps_the_pair(view: View, record: aw.AttentionRecord) -> None:
    rows, columns = record.weights(0, 0).shape
    view.point_at_cell(4, 9, rows, columns)
    view.page.mouse.down()
    view.page.mouse.up()
    expect(view.query(4)).to_have_attribute("aria-selected", "true")
    expect(view.key(9)).to_have_attribute("aria-selected", "true")
    view.status.hover()
    expect(view.status).to_contain_text("fox → dog weight")
    view.page.keyboard.press("Escape")
    expect(view.query(4)).to_have_attribute("aria-selected", "false")
    expect(view.key(9)).to_have_attribute("aria-selected", "false")


def test_the_cross_hair_follows_the_columns_of_tokens(
    view: View, record: aw.AttentionRecord
) -> None:
    shape = record.weights(0, 0).shape
    expect(view.query(0)).to_be_visible()
    view.status.hover()
    before, box = look(view.matrix), view.matrix.bounding_box()
    assert box
    left, top, side = cells(box["width"], box["height"], *shape)

    def expect_frame(rows: set[int], columns: set[int]) -> None:
        def framed() -> None:
            changed = np.abs(look(view.matrix) - before).max(axis=2) > 16
            middles = (np.arange(shape[0]) + 0.5) * side
            # Frames of rows begin at the left edge, and those of columns at the upper one.
            at_left = changed[(top + middles).astype(int), : int(left) + 2].any(axis=1)
            at_top = changed[: int(top) + 2, (left + middles).astype(int)].any(axis=0)
            assert set(np.flatnonzero(at_left)) == rows
            assert set(np.flatnonzero(at_top)) == columns

        eventually(view.page, framed)

    view.query(4).hover()
    expect_frame({4}, set())
    view.key(9).hover()
    expect_frame(set(), {9})
    view.point_at_cell(7, 3, *shape)
    expect_frame({7}, {3})
    view.status.hover()
    expect_frame(set(), set())


def test_a_cell_is_pointed_at_in_both_columns(view: View, record: aw.AttentionRecord) -> None:
    """The cell's query stands out in one list, and its key in the other."""
    view.point_at_cell(7, 3, *record.weights(0, 0).shape)
    for column, position in (("Queries", 7), ("Keys", 3)):
        expect(view.tokens(column).nth(position)).to_have_class(re.compile("focused"))
