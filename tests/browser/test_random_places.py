"""Numbers at random places of heads, in their own view or opened in place, are the record's."""

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

import attnwidget as aw
from tests.browser.view import SCORE_TOLERANCE, WEIGHT_TOLERANCE, View, names, numbers
from tests.support import OpenPage

PLACES = 24
# Each visit of a head takes a while.
HEADS = 4


@pytest.mark.parametrize("tab", ["Head", "Model"])
@pytest.mark.parametrize("which", ["pair", "smollm2"])
def test_random_cells(
    open_page: OpenPage,
    request: pytest.FixtureRequest,
    which: str,
    tab: str,
    record: aw.AttentionRecord,
) -> None:
    page: Path = request.getfixturevalue(f"{which}_page")
    if which != "pair":
        record = request.getfixturevalue(f"{which}_record")
    view = View(open_page(page, height=1000))
    view.open(tab)
    if tab == "Model":
        view.cell(0, 0).click()
    rng = np.random.default_rng(4)
    labels = names(record.tokens()[0])
    for _ in range(HEADS):
        layer = int(rng.integers(record.num_layers()))
        head = int(rng.integers(record.num_heads(layer)))
        weights, scores = record.weights(layer, head), record.scores(layer, head)
        view.show(layer, head)
        for row, column in rng.integers(len(labels), size=(PLACES // HEADS, 2)):
            view.point_at_cell(row, column, *weights.shape)
            place = f"Layer {layer} · Head {head} {labels[row]} → {labels[column]}"
            if np.isneginf(scores[row, column]):
                expect(view.status).to_contain_text(f"{place} masked")
                assert weights[row, column] == 0
                continue
            expect(view.status).to_contain_text(f"{place} weight")
            said = view.status.inner_text()
            weight, score = numbers(said)
            assert abs(weight - weights[row, column]) <= WEIGHT_TOLERANCE, said
            assert abs(score - scores[row, column]) <= SCORE_TOLERANCE, said
