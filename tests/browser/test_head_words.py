"""Words instead of their tokens: attention to a word is a sum, from a word a mean."""

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

import attnwidget as aw
from attnwidget.default_model import default_model
from tests.browser.conftest import SavePage
from tests.browser.view import WEIGHT_TOLERANCE, View, expect_strongest, names, numbers
from tests.support import OpenPage

TEXT = "The tokenizer splits unbelievably long words."
PAIR = "Donaudampfschifffahrtsgesellschaft is one of them."
LONG = "donaudampfschifffahrtsgesellschaft"
WORDS = [
    *["[CLS]", "the", "tokenizer", "splits", "unbelievably", "long", "words", ".", "[SEP]"],
    *[LONG, "is", "one", "of", "them", ".", "[SEP]"],
]


@pytest.fixture(scope="module")
def worded() -> aw.AttentionRecord:
    return aw.capture(*default_model(), TEXT, PAIR)


@pytest.fixture(scope="module")
def words_page(worded: aw.AttentionRecord, save_page: SavePage) -> Path:
    return save_page(worded, "words.html")


@pytest.fixture
def view(open_page: OpenPage, words_page: Path) -> View:
    view = View(open_page(words_page, height=1000))
    view.button("Words").click()
    expect(view.tokens("Queries")).to_have_count(len(WORDS))
    return view


def belongs(record: aw.AttentionRecord) -> np.ndarray:
    """1 where a token is part of a word: [words, tokens]."""
    of = record.stack().queries.words
    assert of
    # Each special token stands for itself.
    starts = [n == 0 or word is None or word != of[n - 1] for n, word in enumerate(of)]
    which = np.cumsum(starts) - 1
    return (which == np.arange(len(WORDS))[:, None]).astype(float)


def between_words(record: aw.AttentionRecord, layer: int, head: int) -> np.ndarray:
    of = belongs(record)
    means = of / of.sum(axis=1, keepdims=True)
    return np.asarray(means @ record.weights(layer, head) @ of.T)


def test_every_word_is_one_option(view: View) -> None:
    for column in ("Queries", "Keys"):
        for position, word in enumerate(WORDS):
            expect(view.tokens(column).nth(position)).to_have_accessible_name(word)


def test_the_numbers_of_rows_and_columns(view: View, worded: aw.AttentionRecord) -> None:
    for layer, word in ((0, 2), (0, 9), (4, 4), (4, 11)):
        view.show(layer, 0)
        weights = {head: between_words(worded, layer, head) for head in range(12)}
        view.query(word).hover()
        rows = {head: w[word] for head, w in weights.items()}
        expect_strongest(view, f"Layer {layer} {WORDS[word]} →", rows, WORDS)
        view.key(word).hover()
        columns = {head: w[:, word] for head, w in weights.items()}
        expect_strongest(view, f"Layer {layer} {WORDS[word]} ←", columns, WORDS)


def test_the_numbers_of_cells(view: View, worded: aw.AttentionRecord) -> None:
    weights = between_words(worded, 0, 0)
    # A word of one token has that token's own score.
    score = worded.scores(0, 0)[belongs(worded).argmax(axis=1)[1], 0]
    named = names(WORDS)
    for row, column in (2, 4), (4, 2), (9, 9), (0, 15), (1, 0):
        view.point_at_cell(row, column, *weights.shape)
        expect(view.status).to_contain_text(f"{named[row]} → {named[column]} weight")
        weight, *scores = numbers(view.status.inner_text())
        assert abs(weight - weights[row, column]) <= WEIGHT_TOLERANCE
        if (row, column) == (1, 0):
            assert abs(scores[0] - score) <= 0.02
        elif (row, column) != (0, 15):
            assert not scores


def test_combined_heads_between_words(view: View, worded: aw.AttentionRecord) -> None:
    places = [(layer, head) for layer in range(worded.num_layers()) for head in range(12)]
    of_heads = np.array([between_words(worded, *place) for place in places])
    # A maximum is not a share that could be added up: of tokens, the largest.
    most = np.max([worded.weights(*place) for place in places], axis=0)
    of = belongs(worded).astype(bool)
    largest = np.array([[most[np.ix_(row, column)].max() for column in of] for row in of])
    for option, name, weights in (
        ("Mean of heads", "Layer 0 · Mean of 12 heads", of_heads[:12].mean(axis=0)),
        ("Mean of all layers", "Mean of all 72 heads", of_heads.mean(axis=0)),
        ("Max of all layers", "Largest of all 72 heads, by token", largest),
    ):
        view.combine.select_option(option)
        view.query(4).hover()
        expect_strongest(view, f"{name} unbelievably →", {0: weights[4]}, WORDS)
        view.status.hover()


def test_a_long_word_is_shortened_in_the_middle(view: View) -> None:
    for column in ("Queries", "Keys"):
        options = view.within.get_by_role("listbox", name=column, exact=True)
        long = options.get_by_role("option", name=LONG, exact=True)
        shown = long.inner_text()
        first, last = shown.split("…")
        assert LONG.startswith(first)
        assert LONG.endswith(last)
        expect(long).to_have_attribute("title", LONG)
        # All of what is left of it can be seen.
        assert long.evaluate("node => node.scrollWidth <= node.clientWidth")
    view.query(9).hover()
    expect(view.status).to_contain_text(f"{LONG} →")
