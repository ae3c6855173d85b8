"""Attention between words and segments, against loops over tokens."""

from typing import Any

import numpy as np
import pytest

import attnwidget as aw
from attnwidget.analysis import by_segments, by_words
from attnwidget.record import Tokens
from tests.unit.records import PROGRAMS, layer_of, record_of, weights_of
from tests.unit.tiny import Loaded

# Seven tokens: the first is special, and a word of three is split.
WORDS = (None, 0, 1, 1, 1, 2, 3)
OF_WORDS = [[0], [1], [2, 3, 4], [5], [6]]
SEGMENTS = [(4, 6, "end"), (1, 4, "start")]
OF_SEGMENTS = [[0], [1, 2, 3], [4, 5], [6]]


def record(**tokens: Any) -> aw.AttentionRecord:
    return record_of(layer_of(PROGRAMS["causal"]), layer_of(PROGRAMS["sinks"], 5), **tokens)


def summed(record: aw.AttentionRecord, units: list[list[int]]) -> np.ndarray:
    weights = weights_of(record).astype(np.float64)
    shape = *weights.shape[:2], len(units), len(units)
    found = np.zeros(shape)
    for row, queries in enumerate(units):
        for column, keys in enumerate(units):
            for query in queries:
                for key in keys:
                    found[:, :, row, column] += weights[:, :, query, key] / len(queries)
    return found


def test_weights_are_summed_over_the_keys_of_a_word_and_averaged_over_its_queries() -> None:
    offsets = (None, (0, 3), (4, 6), (6, 7), (7, 9), (9, 10), (11, 12))
    of_tokens = record(
        words=WORDS, special=(0,), segments=(0, 0, 0, 0, 0, 0, 1), offsets=offsets, generated=3
    )
    found = by_words(of_tokens)
    np.testing.assert_allclose(weights_of(found), summed(of_tokens, OF_WORDS), rtol=0, atol=1e-7)
    assert found.stack().queries == Tokens(
        ("token0", "token1", "token2token3token4", "token5", "token6"),
        segments=(0, 0, 0, 0, 1),
        special=(0,),
        offsets=(None, (0, 3), (4, 9), (9, 10), (11, 12)),
        generated=3,  # the word that holds the first generated token began before it
    )
    own, of_words = of_tokens.fidelity["self"][0], found.fidelity["self"][0]
    assert own.weights_error is not None
    assert (of_words.kept, of_words.output_error) == ("weights", None)
    assert of_words.weights_error == pytest.approx(3 * own.weights_error)
    assert of_words.exact


def test_segments_and_the_tokens_between_them() -> None:
    of_tokens = record(special=(0, 4, 5))
    found = by_segments(of_tokens, [(*np.array(span), name) for *span, name in SEGMENTS])
    np.testing.assert_allclose(weights_of(found), summed(of_tokens, OF_SEGMENTS), rtol=0, atol=1e-7)
    labels, _ = found.tokens()
    assert labels == ["token0", "start", "end", "token6"]
    assert found.stack().queries.special == (0, 2)


def test_segments_of_the_keys_alone() -> None:
    found = by_segments(record(), [], key_segments=[(0, 7, "all")])
    assert found.tokens()[1] == ["all"]
    np.testing.assert_allclose(found.weights(0, 0), np.ones((7, 1)), rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("segments", "message"),
    [
        ([(0, 2, "a"), (1, 3, "b")], "segment 'b' overlaps 'a'"),
        ([(2, 2, "a")], "positions 2 to 2; expected 0 <= start < end <= 7"),
        ([(0, 8, "a")], "positions 0 to 8"),
        ([(0, 2)], r"\(0, 2\) is no segment; expected \(start, end, name\)"),
        ([(0, 2, 3)], "the name of a segment is 3"),
    ],
)
def test_segments_that_cannot_be(segments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        by_segments(record(), segments)


def test_words_that_are_not_known() -> None:
    with pytest.raises(ValueError, match="words of the tokens of stack 'self' are not known"):
        by_words(record())


def test_every_view_and_number_of_a_record_of_words(minilm: Loaded) -> None:
    of_tokens = aw.capture(*minilm, "The tokenizers were unbelievably fast.")
    found = by_words(of_tokens)
    labels, _ = found.tokens()
    assert labels == ["[CLS]", "the", "tokenizers", "were", "unbelievably", "fast", ".", "[SEP]"]
    rows = np.stack([found.weights(2, head).sum(axis=1) for head in range(12)])
    np.testing.assert_allclose(rows, 1, rtol=0, atol=1e-5)
    widget = aw.model_view(found, layer=2, head=9)
    assert "8 x 8 tokens" in repr(widget)
    [previous] = aw.analysis.metrics(found).query("layer == 2 and head == 9")["previous"]
    expected = np.diagonal(found.weights(2, 9), -1).sum() / 7
    assert previous == pytest.approx(expected, abs=1e-6)
