"""The head view: pointing at a token shows its numbers, and draws them."""

from functools import partial

import numpy as np
from playwright.sync_api import expect

import attnwidget as aw
from tests.browser.view import View, darkness, eventually, expect_strongest, look, names


def test_a_token_names_its_strongest_weights(view: View, record: aw.AttentionRecord) -> None:
    labels, _ = record.tokens()
    last = len(labels) - 1
    for layer, token in ((0, 4), (0, last), (2, 13), (2, 0), (5, 4), (5, 13)):
        view.show(layer, 0)
        weights = {head: record.weights(layer, head) for head in range(record.num_heads(layer))}
        name = names(labels)[token]
        rows = {head: each[token] for head, each in weights.items()}
        view.query(token).hover()
        expect_strongest(view, f"Layer {layer} {name} →", rows, labels)
        columns = {head: each[:, token] for head, each in weights.items()}
        view.key(token).hover()
        expect_strongest(view, f"Layer {layer} {name} ←", columns, labels)


def test_only_heads_that_are_drawn_count(view: View, record: aw.AttentionRecord) -> None:
    labels, _ = record.tokens()
    view.swatch(7).dblclick()
    for heads, place in (([7], "Layer 0 · Head 7"), ([3, 7], "Layer 0")):
        view.query(4).hover()
        rows = {head: record.weights(0, head)[4] for head in heads}
        expect_strongest(view, f"{place} fox →", rows, labels)
        view.key(4).hover()
        columns = {head: record.weights(0, head)[:, 4] for head in heads}
        expect_strongest(view, f"{place} fox ←", columns, labels)
        view.swatch(3).click()


def test_a_strip_shows_the_weights_at_the_far_end(view: View, record: aw.AttentionRecord) -> None:
    """It is darkest where the weight is largest, and the clearer the larger the weight is."""
    weights = record.weights(0, 2)
    view.swatch(2).dblclick()

    def shaded(column: str, expected: np.ndarray) -> None:
        dark = darkness(look(view.lines))
        row = dark.shape[0] / len(expected)
        # Beside the middle of a row, where its ribbon arrives.
        heights = ((np.arange(len(expected)) + 0.25) * row).astype(int)
        strip = dark[heights, -4 if column == "Queries" else 4]
        assert strip.argmax() == expected.argmax()
        assert np.corrcoef(strip, expected**0.75)[0, 1] > 0.99

    for column, arrow, expected in (("Queries", "→", weights[4]), ("Keys", "←", weights[:, 4])):
        view.tokens(column).nth(4).hover()
        expect(view.status).to_contain_text(f"Layer 0 · Head 2 fox {arrow}")
        eventually(view.page, partial(shaded, column, expected))
