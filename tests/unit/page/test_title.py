"""The titles of pages: what they show, in a line."""

import html
from typing import Any

import numpy as np

import attnwidget as aw
from attnwidget.analysis import HeadScores
from attnwidget.page.title import title_of
from attnwidget.record import Piece
from tests.unit.elements import Elements
from tests.unit.records import PROGRAMS, layer_of, record_of
from tests.unit.tiny import Loaded

LONG = "The dog was tired because it ran, and the cat was not."
CUT = "Attention of all-MiniLM-L6-v2 on “The dog was tired because it ran, and…”"


def _title(page: str) -> str:
    [(_, title)] = Elements(page).all("title")
    return title


def test_a_text_is_cut_between_words(minilm: Loaded) -> None:
    widget = aw.show(*minilm, LONG)
    assert _title(widget.to_html(layers=[0])) == CUT
    assert f'title="{CUT}"' in html.unescape(widget.static(layers=[0]).html)


def test_of_several_texts_the_model_is_named_once(minilm: Loaded) -> None:
    pages = [aw.show(*minilm, text) for text in ("One dog.", "A cat.")]
    assert _title(aw.to_html(*pages, layers=[0])) == "Attention of all-MiniLM-L6-v2"


def test_comparisons_name_both_sides(minilm: Loaded) -> None:
    record = aw.capture(*minilm, "A dog slept.")
    other = aw.capture(*minilm, "A cat slept.")
    assert _title(aw.to_html([record, other])) == "a dog slept . beside a cat slept ."
    other = aw.capture(*minilm, "A dog slept.")
    other.model = "another"
    assert _title(aw.to_html([record, other])) == "all-MiniLM-L6-v2 beside another"


def test_profiles_and_atlases_count_their_texts(minilm: Loaded) -> None:
    found = aw.profile(*minilm, ["A dog slept.", "Nobody knew why."])
    assert _title(aw.to_html(found)) == "Atlas of all-MiniLM-L6-v2 over 2 texts"
    shown = aw.show(found).shown_record()
    assert title_of([shown]) == "Profile of all-MiniLM-L6-v2 over 2 texts"


def test_scores_are_named(minilm: Loaded) -> None:
    record = aw.capture(*minilm, "A dog slept.")
    lost = HeadScores("damage", "what is lost", {"self": {0: np.ones(record.num_heads(0))}})
    page = aw.to_html(lost, record)
    assert _title(page) == "Damage of the heads of all-MiniLM-L6-v2 on “A dog slept.”"


def test_of_a_chat_the_question_is_named() -> None:
    pieces = (
        Piece(0, 2, "system", 0, template=False),
        Piece(2, 3, "user", 1, template=True),
        Piece(3, 6, "user", 1, template=False),
        Piece(6, 7, "assistant", 2, template=True),
    )
    assert _of_tokens(pieces=pieces, words=tuple(range(7))) == " on “token3 token4 token5”"


def test_without_its_text_the_words_of_the_tokens_are_named() -> None:
    words = (None, 0, 0, 1, 2, 2, None)
    said = _of_tokens(words=words, special=(0, 6))
    assert said == " on “token1token2 token3 token4token5”"
    assert _of_tokens() == ""


def test_a_title_is_one_line_that_can_be_written() -> None:
    offsets = tuple((n, n + 1) for n in range(7))
    assert _of_tokens(text="\ud83e a\n\nbc", offsets=offsets) == " on “\ufffd a bc”"
    # Without a space in it, as in Chinese.
    assert _of_tokens(text="字" * 50, offsets=((0, 50),) * 7) == f" on “{'字' * 40}…”"


def _of_tokens(**tokens: Any) -> str:
    record = record_of(layer_of(PROGRAMS["causal"]), **tokens)
    return _title(aw.to_html(record)).removeprefix("Attention of a model")
