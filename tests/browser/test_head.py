"""The head view: pointing at a token shows its numbers, a click keeps it."""

import numpy as np
import pytest
from playwright.sync_api import expect

import attnwidget as aw
from tests.browser.view import View, darkness, eventually, expect_strongest, look, names

SILENT = "Point at a token"


@pytest.mark.parametrize("layer", [0, 2, 5])
def test_a_token_names_its_strongest_weights(
    view: View, record: aw.AttentionRecord, layer: int
) -> None:
    labels, _ = record.tokens()
    view.show(layer, 0)
    weights = {head: record.weights(layer, head) for head in range(record.num_heads(layer))}
    for token in (0, 4, 13, len(labels) - 1):
        name = names(labels)[token]
        rows = {head: each[token] for head, each in weights.items()}
        view.query(token).hover()
        expect_strongest(view, f"Layer {layer} {name} →", rows, labels)
        columns = {head: each[:, token] for head, each in weights.items()}
        view.key(token).hover()
        expect_strongest(view, f"Layer {layer} {name} ←", columns, labels)


@pytest.mark.parametrize("heads", [[7], [3, 7]])
def test_only_heads_that_are_drawn_count(
    view: View, record: aw.AttentionRecord, heads: list[int]
) -> None:
    labels, _ = record.tokens()
    view.swatch(heads[0]).dblclick()
    for head in heads[1:]:
        view.swatch(head).click()
    place = "Layer 0 · Head 7" if heads == [7] else "Layer 0"
    view.query(4).hover()
    rows = {head: record.weights(0, head)[4] for head in heads}
    expect_strongest(view, f"{place} fox →", rows, labels)
    view.key(4).hover()
    columns = {head: record.weights(0, head)[:, 4] for head in heads}
    expect_strongest(view, f"{place} fox ←", columns, labels)


@pytest.mark.parametrize("column", ["Queries", "Keys"])
def test_a_strip_shows_the_weights_at_the_far_end(
    view: View, record: aw.AttentionRecord, column: str
) -> None:
    """It is darkest where the weight is largest, and the clearer the larger the weight is."""
    weights = record.weights(0, 2)
    view.swatch(2).dblclick()
    view.tokens(column).nth(4).hover()
    expect(view.status).to_contain_text("Layer 0 · Head 2 fox")
    expected = weights[4] if column == "Queries" else weights[:, 4]

    def shaded() -> None:
        dark = darkness(look(view.lines))
        row = dark.shape[0] / len(expected)
        # Beside the middle of a row, where its ribbon arrives.
        heights = ((np.arange(len(expected)) + 0.25) * row).astype(int)
        strip = dark[heights, -4 if column == "Queries" else 4]
        assert strip.argmax() == expected.argmax()
        assert np.corrcoef(strip, expected**0.75)[0, 1] > 0.99

    eventually(view.page, shaded)


def test_the_numbers_go_when_the_pointer_does(view: View) -> None:
    expect(view.status).to_contain_text(SILENT)
    view.query(4).hover()
    expect(view.status).to_contain_text("fox →")
    view.status.hover()
    expect(view.status).to_contain_text(SILENT)


def test_a_click_keeps_a_token_and_escape_releases_it(view: View) -> None:
    for column in ("Queries", "Keys"):
        token = view.tokens(column).nth(4)
        token.click()
        expect(token).to_have_attribute("aria-selected", "true")
        view.status.hover()
        expect(view.status).to_contain_text("fox")
        expect(view.status).to_contain_text("Esc releases")
        # Pointing elsewhere only looks.
        view.tokens(column).nth(9).hover()
        expect(view.status).to_contain_text("dog")
        view.status.hover()
        expect(view.status).to_contain_text("fox")

        view.page.keyboard.press("Escape")
        expect(token).to_have_attribute("aria-selected", "false")
        expect(view.status).to_contain_text(SILENT)

        # A second click releases too.
        token.click()
        token.click()
        expect(token).to_have_attribute("aria-selected", "false")
        view.status.hover()
        expect(view.status).to_contain_text(SILENT)
