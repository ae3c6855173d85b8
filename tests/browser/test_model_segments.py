"""The model view of one part of a pair, as the reader chooses it."""

from functools import partial

import numpy as np
import pytest
from playwright.sync_api import expect

import attnwidget as aw
from tests.browser.view import View, darkness, eventually, look

LAYER, HEAD = 3, 1


def test_thumbnails_show_the_chosen_part(view: View, record: aw.AttentionRecord) -> None:
    tokens = record.stack().queries
    assert tokens.segments
    assert len(tokens) <= 32, "a cell of a thumbnail is one token"
    of = np.array(tokens.segments)
    view.open("Model")
    cell = view.cell(LAYER, HEAD)

    def like(weights: np.ndarray) -> None:
        shape = cell.bounding_box()
        assert shape
        assert shape["width"] / shape["height"] == pytest.approx(
            weights.shape[1] / weights.shape[0], rel=0.1
        )
        picture = darkness(look(cell))
        down, across = (
            ((np.arange(n) + 0.5) * size / n).astype(int)
            for n, size in zip(weights.shape, picture.shape, strict=True)
        )
        shades = picture[np.ix_(down, across)].ravel()
        assert np.corrcoef(shades, np.sqrt(weights.ravel()))[0, 1] > 0.9

    parts = [("A → A", 0, 0), ("A → B", 0, 1), ("B → A", 1, 0), ("B → B", 1, 1)]
    for part, rows, columns in parts:
        view.filter.select_option(part)
        view.status.hover()
        weights = record.weights(LAYER, HEAD)[of == rows][:, of == columns]
        eventually(view.page, partial(like, weights))


def test_what_is_opened_shows_this_part_too(view: View, record: aw.AttentionRecord) -> None:
    tokens = record.stack().queries
    assert tokens.segments
    view.open("Model")
    view.cell(2, 9).click()
    expect(view.tokens("Queries")).to_have_count(len(tokens))
    view.filter.select_option("B → A")
    expect(view.tokens("Queries")).to_have_count(tokens.segments.count(1))
    expect(view.tokens("Keys")).to_have_count(tokens.segments.count(0))
    view.query(2).hover()
    expect(view.status).to_contain_text("→")
    expect(view.body).to_contain_text("Layer 2 · Head 9")
