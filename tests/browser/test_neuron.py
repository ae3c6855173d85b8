"""The neuron view: how a query and a key make a weight, in numbers that can be checked."""

import math
import re

import numpy as np
import pytest
from playwright.sync_api import expect

import attnwidget as aw
from tests.browser.view import WEIGHT_TOLERANCE, View, ink, look, names, numbers

# Layer, head, query, key.
PAIRS = [(0, 0, 4, 9), (0, 2, 9, 8), (3, 6, 17, 0), (5, 11, 24, 24)]


def dot_tolerance(q: np.ndarray, k: np.ndarray) -> float:
    """Two decimals are shown, of vectors whose every component was rounded to float16."""
    return 0.0051 + 2**-10 * float(np.abs(q * k).sum())


@pytest.mark.parametrize(("layer", "head", "query", "key"), PAIRS)
def test_the_numbers_of_a_pair(
    view: View, record: aw.AttentionRecord, layer: int, head: int, query: int, key: int
) -> None:
    labels = names(record.tokens()[0])
    q, k = record.queries(layer, head)[query], record.keys(layer, head)[key]
    view.open("Neuron")
    view.show(layer, head)
    view.query(query).click()
    view.key(key).hover()
    expect(view.status).to_contain_text(f"{labels[query]} → {labels[key]} q·k")

    said = view.status.inner_text()
    dot, scaled, softmax, term = numbers(said)
    tolerance = dot_tolerance(q, k)
    assert abs(dot - q @ k) <= tolerance, said
    assert abs(scaled - record.scores(layer, head)[query, key]) <= tolerance, said
    assert abs(scaled - (q @ k) / math.sqrt(len(q))) <= tolerance, said
    assert abs(softmax - record.weights(layer, head)[query, key]) <= WEIGHT_TOLERANCE, said

    neuron = re.search(r"neuron (\d+)", said)
    assert neuron, said
    products = q * k
    assert abs(term - products[int(neuron[1])]) <= tolerance, said
    assert abs(products[int(neuron[1])]) >= np.abs(products).max() - tolerance, said


def test_the_neuron_that_matters_most_may_pull_down(view: View, record: aw.AttentionRecord) -> None:
    """Of the pair whose largest product, by size, is most clearly a negative one."""
    queries, keys = record.queries(0, 0), record.keys(0, 0)
    products = queries[:, None, :] * keys[None, :, :]
    lead = -products.min(axis=2) - products.max(axis=2)
    query, key = (int(n) for n in np.unravel_index(lead.argmax(), lead.shape))
    neuron = int(products[query, key].argmin())
    labels = names(record.tokens()[0])
    view.open("Neuron")
    view.query(query).click()
    view.key(key).hover()
    expect(view.status).to_contain_text(f"{labels[query]} → {labels[key]} q·k")
    expect(view.status).to_contain_text(f"neuron {neuron}, −")


def test_the_scale_is_named(view: View, record: aw.AttentionRecord) -> None:
    view.open("Neuron")
    dimensions = record.queries(0, 0).shape[1]
    expect(view.body.get_by_text(re.compile(rf"q\s*·\s*k\s*÷ √{dimensions}"))).to_be_visible()


def test_something_is_explained_before_anything_is_chosen(
    view: View, record: aw.AttentionRecord
) -> None:
    """The first word, and the key it attends to most."""
    labels = names(record.tokens()[0])
    first = next(p for p in range(len(labels)) if p not in record.stack().queries.special)
    strongest = int(record.weights(0, 0)[first].argmax())
    view.open("Neuron")
    expect(view.status).to_contain_text(f"{labels[first]} → {labels[strongest]} q·k")


def test_every_key_has_its_softmax_in_the_picture(view: View, record: aw.AttentionRecord) -> None:
    """The longest bar is where the largest weight is."""
    layer, head, query = 0, 2, 9
    weights = record.weights(layer, head)[query]
    view.open("Neuron")
    view.show(layer, head)
    view.query(query).click()
    column = view.body.get_by_text("Softmax", exact=True).bounding_box()
    canvas = view.lines.bounding_box()
    assert column
    assert canvas
    view.status.hover()
    bars = ink(look(view.lines))[:, int(column["x"] - canvas["x"]) :]
    inked = (bars > 64).sum(axis=1)
    rows = inked[: len(inked) // len(weights) * len(weights)].reshape(len(weights), -1).sum(axis=1)
    assert rows.argmax() == weights.argmax()
