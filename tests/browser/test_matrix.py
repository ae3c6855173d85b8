"""The matrix of the current head, beside the lines."""

import numpy as np
import pytest
from playwright.sync_api import expect

import attnwidget as aw
from tests.browser.view import WEIGHT_TOLERANCE, View, darkness, look, names, numbers


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
    side = dark.shape[1] / columns
    top = dark.shape[0] - rows * side
    middles = np.arange(rows) + 0.5
    seen = dark[np.ix_((top + middles * side).astype(int), (middles * side).astype(int))]
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
