"""The head view of many heads, many tokens, unequal stacks, and of tokens side by side."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

import attnwidget as aw
from attnwidget.default_model import default_model
from tests.browser.conftest import SavePage
from tests.browser.view import View, expect_lines, expect_strongest, look
from tests.support import OpenPage
from tests.unit import tiny

LONG_TEXT = (
    "The lawyer questioned the witness because she had seen the quick brown fox that jumped over "
    "the lazy dog in the park behind the old town hall ."
)
LONG_PAIR = (
    "Nobody believed a word of it , for foxes had not been seen in that part of the city since "
    "the long and very cold winter of the great war ."
)
# Each character is a token of its own.
CHINESE = "日本人山上大学中国"


@pytest.fixture(scope="module")
def many_heads() -> aw.AttentionRecord:
    model = tiny.bert(num_attention_heads=32, hidden_size=128)
    return aw.capture(model, None, {"input_ids": tiny.token_ids(12)})


@pytest.fixture(scope="module")
def long_pair() -> aw.AttentionRecord:
    record = aw.capture(*default_model(), LONG_TEXT, LONG_PAIR)
    assert len(record.tokens()[0]) >= 60
    return record


@pytest.fixture(scope="module")
def translator() -> aw.AttentionRecord:
    inputs = {"input_ids": tiny.token_ids(7), "decoder_input_ids": tiny.token_ids(5, seed=1)}
    return aw.capture(tiny.bart(), None, inputs)


@pytest.fixture(scope="module")
def chinese_page(save_page: SavePage) -> Path:
    return save_page(aw.capture(*default_model(), CHINESE), "chinese.html")


def opened(open_page: OpenPage, record: aw.AttentionRecord, width: int = 1100) -> View:
    page = open_page(aw.AttentionWidget(record).to_html(quality="exact"), width=width, height=1000)
    return View(page)


def test_32_heads_have_colours_names_and_numbers(
    open_page: OpenPage, many_heads: aw.AttentionRecord
) -> None:
    view = opened(open_page, many_heads)
    colors = set()
    for head in range(32):
        expect(view.swatch(head)).to_have_text(str(head))
        colors.add(view.swatch(head).evaluate("node => getComputedStyle(node).backgroundColor"))
    assert len(colors) == 32
    expect(view.swatch(32)).to_have_count(0)
    labels = many_heads.tokens()[0]
    expect_lines(view)
    for head in (0, 17, 31):
        view.swatch(head).dblclick()
        view.query(5).hover()
        start = f"Layer 0 · Head {head} {labels[5]} →"
        expect_strongest(view, start, {head: many_heads.weights(0, head)[5]}, labels)
    view.button("All").click()
    view.layer.press("ArrowUp")
    view.key(3).hover()
    columns = {head: many_heads.weights(1, head)[:, 3] for head in range(32)}
    expect_strongest(view, f"Layer 1 {labels[3]} ←", columns, labels)


def test_60_tokens_have_their_numbers_and_stand_apart(
    open_page: OpenPage, long_pair: aw.AttentionRecord
) -> None:
    view = opened(open_page, long_pair)
    labels = long_pair.tokens()[0]
    view.swatch(4).dblclick()
    last = len(labels) - 1
    for width, token in ((1400, 0), (600, labels.index("lawyer")), (1100, labels.index("winter"))):
        view.page.set_viewport_size({"width": width, "height": 1000})
        view.query(token).hover()
        weights = {4: long_pair.weights(0, 4)[token]}
        expect_strongest(view, f"Layer 0 · Head 4 {labels[token]} →", weights, labels)
        # None of them is out of reach.
        view.key(last).click()
        expect(view.key(last)).to_have_attribute("aria-selected", "true")
        view.point_at_cell(last, 0, len(labels), len(labels))
        expect(view.status).to_contain_text("→ [CLS] weight")
        view.page.keyboard.press("Escape")
    for tokens in (view.tokens("Queries"), view.tokens("Keys")):
        boxes = [token.bounding_box() for token in tokens.all()]
        for before, after in pairwise(boxes):
            assert before
            assert after
            assert after["y"] >= before["y"] + before["height"] - 0.5


def test_stacks_of_unequal_layers(open_page: OpenPage, translator: aw.AttentionRecord) -> None:
    view = opened(open_page, translator)
    for option, stack, layers, heads in (
        ("Encoder", "encoder", 2, 4), ("Decoder", "decoder", 3, 2), ("Cross", "cross", 3, 2),
    ):  # fmt: skip
        view.open_options()
        view.combine.select_option("Single heads")
        view.filter.select_option(option)
        queries, keys = translator.tokens(stack)
        expect(view.tokens("Queries")).to_have_text(queries)
        expect(view.tokens("Keys")).to_have_text(keys)
        expect(view.layer).to_have_attribute("aria-valuemax", str(layers - 1))
        last = layers - 1
        view.show(last, 0)
        weights = {head: translator.weights(last, head, stack) for head in range(heads)}
        view.query(3).hover()
        rows = {head: w[3] for head, w in weights.items()}
        expect_strongest(view, f"Layer {last} {queries[3]} →", rows, keys)
        view.key(2).hover()
        columns = {head: w[:, 2] for head, w in weights.items()}
        expect_strongest(view, f"Layer {last} {keys[2]} ←", columns, queries)
        view.combine.select_option("Mean of all layers")
        every = [translator.weights(n, head, stack) for n in range(layers) for head in range(heads)]
        view.query(3).hover()
        mean = np.mean(every, axis=0)[3]
        expect_strongest(view, f"Mean of all {len(every)} heads {queries[3]} →", {0: mean}, keys)


def test_a_decoder_sees_nothing_that_comes_later(
    open_page: OpenPage, smollm2_page: Path, smollm2_record: aw.AttentionRecord
) -> None:
    view = View(open_page(smollm2_page, height=1000))
    labels = smollm2_record.tokens()[0]
    view.show(18, 0)
    weights = {head: smollm2_record.weights(18, head) for head in range(9)}
    view.query(5).hover()
    rows = {head: w[5] for head, w in weights.items()}
    expect_strongest(view, f"Layer 18 {labels[5]} →", rows, labels)
    view.key(7).hover()
    columns = {head: w[:, 7] for head, w in weights.items()}
    assert all((column[:7] == 0).all() for column in columns.values())
    expect_strongest(view, f"Layer 18 {labels[7]} ←", columns, labels)


def test_tokens_side_by_side(open_page: OpenPage, chinese_page: Path) -> None:
    record = aw.capture(*default_model(), CHINESE)
    labels = record.tokens()[0]
    assert list(labels[1:-1]) == list(CHINESE)
    view = View(open_page(chinese_page, height=1000))
    view.button("Horizontal").click()
    queries = view.within.get_by_role("listbox", name="Queries", exact=True)
    expect(queries).to_have_attribute("aria-orientation", "horizontal")
    boxes = [token.bounding_box() for token in view.tokens("Queries").all()]
    keys = view.key(0).bounding_box()
    lines = view.lines.bounding_box()
    assert keys
    assert lines
    for before, after in pairwise(boxes):
        assert before
        assert after
        assert after["y"] == before["y"]
        assert after["x"] >= before["x"] + before["width"] - 0.5
        assert after["y"] + after["height"] <= lines["y"]
    assert lines["y"] + lines["height"] <= keys["y"]
    expect_lines(view)

    view.swatch(3).dblclick()
    for press in ("Home", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft"):
        queries.press(press)
    weights = {3: record.weights(0, 3)[2]}
    expect_strongest(view, f"Layer 0 · Head 3 {labels[2]} →", weights, labels)
    view.key(4).hover()
    weights = {3: record.weights(0, 3)[:, 4]}
    expect_strongest(view, f"Layer 0 · Head 3 {labels[4]} ←", weights, labels)
    assert look(view.lines).std() > 0
