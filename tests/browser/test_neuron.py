"""The neuron view: how a query and a key make a weight, in numbers that can be checked."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, expect

import attnwidget as aw
from tests.browser.conftest import SavePage
from tests.browser.view import (
    SCORE_TOLERANCE,
    WEIGHT_TOLERANCE,
    View,
    eventually,
    ink,
    look,
    names,
    numbers,
)
from tests.support import OpenPage

# Layer, head, query, key.
PAIRS = [(0, 0, 4, 9), (0, 2, 9, 8), (3, 6, 17, 0), (5, 11, 24, 24)]


def look_at(view: View, place: tuple[int, int, int, int], labels: list[str]) -> str:
    """Go to a layer, head, query and key, and read what is said of the pair."""
    layer, head, query, key = place
    view.show(layer, head)
    view.query(query).click()
    view.key(key).hover()
    expect(view.status).to_contain_text(f"{labels[query]} → {labels[key]} q·k")
    said = view.status.inner_text()
    view.page.keyboard.press("Escape")
    return said


def test_the_numbers_of_pairs(view: View, record: aw.AttentionRecord) -> None:
    labels = names(record.tokens()[0])
    view.open("Neuron")
    for layer, head, query, key in PAIRS:
        q, keys = record.queries(layer, head)[query], record.keys(layer, head)
        said = look_at(view, (layer, head, query, key), labels)
        dot, scaled, softmax, term = numbers(said)
        assert abs(dot - q @ keys[key]) <= SCORE_TOLERANCE, said
        assert abs(scaled - record.scores(layer, head)[query, key]) <= SCORE_TOLERANCE, said
        assert abs(scaled - (q @ keys[key]) / math.sqrt(len(q))) <= SCORE_TOLERANCE, said
        assert abs(softmax - record.weights(layer, head)[query, key]) <= WEIGHT_TOLERANCE, said

        neuron = re.search(r"neuron (\d+) adds", said)
        assert neuron, said
        products = q * keys[key]
        assert abs(term - products[int(neuron[1])]) <= SCORE_TOLERANCE, said
        assert abs(products[int(neuron[1])]) >= np.abs(products).max() - SCORE_TOLERANCE, said

        parts = q * (keys[key] - np.delete(keys, key, axis=0).mean(axis=0))
        shares = np.cumsum(np.sort(parts * np.sign(parts.sum()))[::-1]) / abs(parts.sum())
        # Rounding to float16 may move a sum that just reaches, or just misses, the share.
        least, most = (int(np.argmax(shares >= share)) + 1 for share in (0.795, 0.805))
        few = re.search(rf"(\d+) of {len(q)} neurons makes? 80%", said)
        assert few, said
        assert least <= int(few[1]) <= most


def test_the_neuron_that_matters_most_may_pull_down(view: View, record: aw.AttentionRecord) -> None:
    """The pair whose largest product, by size, is most clearly a negative one."""
    queries, keys = record.queries(0, 0), record.keys(0, 0)
    products = queries[:, None, :] * keys[None, :, :]
    lead = -products.min(axis=2) - products.max(axis=2)
    query, key = (int(n) for n in np.unravel_index(lead.argmax(), lead.shape))
    neuron = int(products[query, key].argmin())
    view.open("Neuron")
    said = look_at(view, (0, 0, query, key), names(record.tokens()[0]))
    assert f"neuron {neuron} adds −" in said


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
    bars = ink(look(view.lines))[:, int(column["x"] - canvas["x"]) :] > 64

    def inked(key: int) -> int:
        row = view.key(key).bounding_box()
        assert row
        top = row["y"] - canvas["y"]
        return int(bars[int(top) : int(top + row["height"])].sum())

    assert np.argmax([inked(key) for key in range(len(weights))]) == weights.argmax()


def neuron(view: View, n: int) -> Locator:
    options = view.within.get_by_role("listbox", name="Neurons", exact=True)
    return options.get_by_role("option", name=f"Neuron {n}", exact=True)


def drag(view: View, first: int, last: int) -> None:
    """With the pointer, over the strip of products."""
    boxes = [neuron(view, n).bounding_box() for n in (first, last)]
    ends = [(box["x"] + box["width"] / 2, box["y"] + 40) for box in boxes if box]
    view.page.mouse.move(*ends[0])
    view.page.mouse.down()
    view.page.mouse.move(*ends[1], steps=8)
    view.page.mouse.up()


def expect_alone(
    view: View, record: aw.AttentionRecord, place: tuple[int, int, int], n: int
) -> None:
    """The model's own numbers of every key of a row, and those of one neuron alone."""
    layer, head, query = place
    q, keys = record.queries(layer, head)[query], record.keys(layer, head)
    seen = np.isfinite(record.scores(layer, head)[query])
    scale = 1 / math.sqrt(len(q))
    scores = np.where(seen, scale * q[n] * keys[:, n], -np.inf)
    powers = np.exp(scores - scores.max())
    weights = powers / powers.sum()
    labels = names(record.tokens()[0])
    for key in np.flatnonzero(seen).tolist():
        view.key(key).hover()
        expect(view.status).to_contain_text(f"{labels[query]} → {labels[key]} q·k")
        said = view.status.inner_text()
        dot, dot_alone, score, score_alone, softmax, softmax_alone, *_ = numbers(said)
        assert abs(dot - q @ keys[key]) <= SCORE_TOLERANCE, said
        assert abs(dot_alone - q[n] * keys[key, n]) <= SCORE_TOLERANCE, said
        assert abs(score - record.scores(layer, head)[query, key]) <= SCORE_TOLERANCE, said
        assert abs(score_alone - scores[key]) <= SCORE_TOLERANCE, said
        assert abs(softmax - record.weights(layer, head)[query, key]) <= WEIGHT_TOLERANCE, said
        assert abs(softmax_alone - weights[key]) <= 0.01, said
        assert f"without {len(q) - 1} neurons" in said


def test_all_neurons_but_one_muted_with_the_pointer(view: View, record: aw.AttentionRecord) -> None:
    layer, head, query, left = 1, 4, 9, 20
    view.open("Neuron")
    view.show(layer, head)
    view.query(query).click()
    drag(view, 0, record.queries(layer, head).shape[1] - 1)
    neuron(view, left).click()
    expect_alone(view, record, (layer, head, query), left)
    # In full where one points at it, also where there is room for a shorter form alone.
    altered = view.body.get_by_title("Softmax, not the model’s own")
    expect(altered).to_be_visible()

    view.open_options()
    view.within.get_by_role("button", name=re.compile("Unmute all")).click()
    expect(altered).to_have_count(0)
    expect(view.status).not_to_contain_text("without")


def test_all_neurons_but_one_muted_with_the_keyboard(
    open_page: OpenPage, smollm2_page: Path, smollm2_record: aw.AttentionRecord
) -> None:
    """In a decoder, whose query heads share their keys."""
    view = View(open_page(smollm2_page))
    layer, head, query, left = 3, 4, 8, 2
    view.open("Neuron")
    view.show(layer, head)
    expect(view.body.get_by_text("keys shared with heads 3, 5")).to_be_visible()
    view.query(query).click()
    strip = view.within.get_by_role("listbox", name="Neurons", exact=True)
    strip.press("Home")
    strip.press("Shift+End")
    strip.press("Home")
    for _ in range(left):
        strip.press("ArrowRight")
    strip.press("Enter")
    expect(neuron(view, left)).to_have_attribute("aria-selected", "false")
    expect_alone(view, smollm2_record, (layer, head, query), left)


def test_two_queries_compared(view: View, record: aw.AttentionRecord) -> None:
    layer, head, first, second, key = 0, 2, 9, 4, 8
    labels = names(record.tokens()[0])
    view.open("Neuron")
    view.show(layer, head)
    view.query(first).click()
    view.query(second).click(modifiers=["Shift"])
    view.key(key).hover()
    expect(view.status).to_contain_text(f"{labels[first]} → {labels[key]} q·k")
    expect(view.status).to_contain_text(f"compared with {labels[second]} → {labels[key]} q·k")
    said = view.status.inner_text()
    keys = record.keys(layer, head)
    for query, (dot, score, softmax) in zip(
        (first, second), np.reshape(numbers(said), (2, 3)), strict=True
    ):
        q = record.queries(layer, head)[query]
        assert abs(dot - q @ keys[key]) <= SCORE_TOLERANCE, said
        assert abs(score - record.scores(layer, head)[query, key]) <= SCORE_TOLERANCE, said
        assert abs(softmax - record.weights(layer, head)[query, key]) <= WEIGHT_TOLERANCE, said
    expect(view.body.get_by_text(f"{labels[first]} above, {labels[second]} below")).to_be_visible()


def test_a_finger_mutes(browser: Browser, pair_page: Path) -> None:
    context = browser.new_context(has_touch=True, viewport={"width": 1100, "height": 1000})
    page = context.new_page()
    page.goto(pair_page.as_uri())
    view = View(page)
    view.open("Neuron")
    neuron(view, 5).tap()
    expect(neuron(view, 5)).to_have_attribute("aria-selected", "true")
    neuron(view, 5).tap()
    expect(neuron(view, 5)).to_have_attribute("aria-selected", "false")
    context.close()


def test_weights_that_no_program_explains(open_page: OpenPage, save_page: SavePage) -> None:
    """Queries and keys are shown as far as they go: their products, without scores."""
    rng = np.random.default_rng(0)
    tokens = ["a", "record", "of", "vectors"]
    weights = rng.dirichlet(np.full(4, 0.5), (1, 2, 4)).astype(np.float32)
    queries, keys = rng.normal(size=(2, 1, 2, 4, 16)).astype(np.float32)
    record = aw.AttentionRecord.from_arrays(weights, tokens, queries=queries, keys=keys)
    view = View(open_page(save_page(record, "unexplained.html")))
    view.open("Neuron")
    view.query(2).click()
    view.key(1).hover()
    expect(view.status).to_contain_text("of → record q·k")
    dot, softmax, _ = numbers(view.status.inner_text())
    assert abs(dot - queries[0, 0, 2] @ keys[0, 0, 1]) <= 0.02
    assert abs(softmax - weights[0, 0, 2, 1]) <= WEIGHT_TOLERANCE
    expect(view.body.get_by_text("scores not recorded")).to_be_visible()


CUT = """row => [...row.querySelectorAll("span")].filter(
  ({ scrollWidth, clientWidth }) => scrollWidth > clientWidth
).map(({ textContent }) => textContent)"""


@pytest.mark.parametrize("which", ["pair_page", "smollm2_page"])
def test_nothing_above_the_columns_is_cut(
    open_page: OpenPage, request: pytest.FixtureRequest, which: str
) -> None:
    page: Path = request.getfixturevalue(which)
    view = View(open_page(page, height=1000))
    view.open("Neuron")
    headers = view.body.locator(".column-headers")

    def nothing_is_cut() -> None:
        assert headers.evaluate(CUT) == []

    for muted in (False, True):
        if muted:
            strip = view.within.get_by_role("listbox", name="Neurons", exact=True)
            strip.press("Home")
            strip.press("Enter")
            expect(view.body.get_by_text("1 muted").first).to_be_visible()
        else:
            # A shortened text is given in full on hover.
            full = re.compile(r"\d+ of \d+ neurons makes? 80% of the difference to the other keys")
            expect(view.body.get_by_title(full)).to_have_count(1)
        for width in (500, 600, 760, 1000, 1400):
            view.page.set_viewport_size({"width": width, "height": 1000})
            eventually(view.page, nothing_is_cut)
