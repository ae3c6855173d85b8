"""Several heads as one: their mean, or the largest of them, of a layer or of all layers."""

import numpy as np
from playwright.sync_api import expect

import attnwidget as aw
from tests.browser.view import (
    WEIGHT_TOLERANCE,
    View,
    expect_lines,
    expect_strongest,
    names,
    numbers,
)


def mean(heads: np.ndarray) -> np.ndarray:
    return np.asarray(heads.mean(axis=0))


def largest(heads: np.ndarray) -> np.ndarray:
    return np.asarray(heads.max(axis=0))


def of_layer(record: aw.AttentionRecord, layer: int) -> np.ndarray:
    return np.stack([record.weights(layer, head) for head in range(record.num_heads(layer))])


def expect_matrix(view: View, place: str, weights: np.ndarray, labels: list[str]) -> None:
    """Rows, columns and cells are said to be these."""
    named = names(labels)
    view.query(11).hover()
    expect_strongest(view, f"{place} {named[11]} →", {0: weights[11]}, labels)
    view.key(9).hover()
    expect_strongest(view, f"{place} {named[9]} ←", {0: weights[:, 9]}, labels)
    for row, column in (0, 0), (4, 9), (11, 15), (24, 3):
        view.point_at_cell(row, column, *weights.shape)
        expect(view.status).to_contain_text(f"{place} {named[row]} → {named[column]} weight")
        # And no score: those of several heads have no mean that means anything.
        [weight] = numbers(view.status.inner_text())
        assert abs(weight - weights[row, column]) <= WEIGHT_TOLERANCE


def test_the_heads_of_a_layer(view: View, record: aw.AttentionRecord) -> None:
    for layer, option, name, fold in (
        (0, "Mean of heads", "Mean", mean),
        (3, "Max of heads", "Largest", largest),
    ):
        view.show(layer, 0)
        view.combine.select_option(option)
        weights = fold(of_layer(record, layer))
        expect_matrix(view, f"Layer {layer} · {name} of 12 heads", weights, record.tokens()[0])
        expect_lines(view)


def test_only_heads_that_are_on(view: View, record: aw.AttentionRecord) -> None:
    view.swatch(2).dblclick()
    view.swatch(7).click()
    view.combine.select_option("Mean of heads")
    weights = mean(of_layer(record, 0)[[2, 7]])
    expect_matrix(view, "Layer 0 · Mean of 2 heads", weights, record.tokens()[0])


def test_all_layers(view: View, record: aw.AttentionRecord) -> None:
    every = np.concatenate([of_layer(record, layer) for layer in range(record.num_layers())])
    for option, name, fold in (
        ("Mean of all layers", "Mean", mean),
        ("Max of all layers", "Largest", largest),
    ):
        view.combine.select_option(option)
        place = f"{name} of all {len(every)} heads"
        expect(view.body).to_contain_text(place)
        expect_matrix(view, place, fold(every), record.tokens()[0])
        expect(view.swatch(0)).to_be_hidden()
        expect_lines(view)


def test_several_tokens_of_a_mean(view: View, record: aw.AttentionRecord) -> None:
    view.combine.select_option("Mean of heads")
    view.query(4).click()
    view.query(9).click()
    view.status.hover()
    weights = mean(of_layer(record, 0))
    start = "Layer 0 · Mean of 12 heads fox + dog →"
    expect_strongest(view, start, {0: weights[4] + weights[9]}, record.tokens()[0])
