"""A page opens by itself: what it needs is in it, and it draws without being asked.

That it makes no request and logs nothing is checked by `open_page` in every test here.
"""

import numpy as np
from playwright.sync_api import expect

import attnwidget as aw
from tests.browser.view import View, eventually, expect_lines, look


def test_lines_are_painted(view: View) -> None:
    expect(view.tab("Head")).to_have_attribute("aria-selected", "true")
    expect_lines(view)


def test_a_line_runs_where_the_weight_is(view: View, record: aw.AttentionRecord) -> None:
    """The head with the largest weight between different rows, drawn alone."""
    weights = np.stack([record.weights(0, head) for head in range(record.num_heads(0))])
    rows = weights.shape[1]
    weights[:, range(rows), range(rows)] = 0
    head, query, key = np.unravel_index(weights.argmax(), weights.shape)
    assert weights[head, query, key] > 0.9

    view.swatch(int(head)).dblclick()

    def line_is_there() -> None:
        picture = look(view.lines)
        swatch = look(view.swatch(int(head)))[12, 4]
        height, width, _ = picture.shape
        # Halfway between the columns, a line is halfway between its two rows, on one of two pixels.
        below = round(height * (query + key + 1) / 2 / rows)
        middle = picture[below - 1 : below + 1, width // 2]
        assert np.abs(middle - swatch).max(axis=1).min() < 96, (middle, swatch)

    eventually(view.page, line_is_there)


def test_the_lines_change_with_the_layer(view: View) -> None:
    expect_lines(view)
    before = look(view.lines)
    view.layer.press("ArrowUp")

    def changed() -> None:
        now = look(view.lines)
        assert np.abs(now - before).max() > 64

    eventually(view.page, changed)
    expect_lines(view)
