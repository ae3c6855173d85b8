"""The tokens of words."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from transformers import ByT5Tokenizer, ProphetNetTokenizer

from attnwidget.probe import Annotated
from attnwidget.probe.word_tokens import tokens_by_labels, tokens_of_words
from attnwidget.record import Tokens
from attnwidget.running.inputs import labelled
from tests.unit import tokenizing
from tests.unit.tiny import Loaded


def tokens_by_word(tokenizer: Any, text: Annotated) -> list[str]:
    """The labels of each word's tokens, with spaces between."""
    tokens = labelled(tokenizer, tokenizer(text.text)["input_ids"])
    members = tokens_of_words(tokenizer, text, tokens)
    return [" ".join(tokens.labels[t] for t in np.flatnonzero(row)) for row in members]


CLITIC = Annotated(["I", "do", "n't", "!"], text="I don't!", spans=[(0, 1), (2, 4), (4, 7), (7, 8)])


def test_a_token_belongs_to_the_word_with_most_of_its_characters(minilm: Loaded) -> None:
    assert tokens_by_word(minilm[1], Annotated(["Tokenizers", "café"])) == [
        "token ##izer ##s",
        "cafe",
    ]
    assert tokens_by_word(minilm[1], CLITIC) == ["i", "don", "' t", "!"]


def test_byte_level_tokens_are_aligned_by_offsets(smollm2: Loaded) -> None:
    assert tokens_by_word(smollm2[1], CLITIC) == ["I", "don", "'t", "!"]
    assert tokens_by_word(smollm2[1], Annotated(["Two", "🦜s"])) == [
        "Two",
        "🦜 1/3 🦜 2/3 🦜 3/3 s",
    ]


def test_words_that_are_written_as_one_share_tokens(minilm: Loaded) -> None:
    text = Annotated(["de", "le", "pain"], text="du pain", spans=[(0, 2), (0, 2), (3, 7)])
    assert tokens_by_word(minilm[1], text) == ["du", "du", "pain"]


def test_a_word_without_tokens_of_its_own_shares_that_which_covers_it(minilm: Loaded) -> None:
    text = Annotated(["can", "not"], text="cannot", spans=[(0, 3), (3, 6)])
    assert tokens_by_word(minilm[1], text) == ["cannot", "cannot"]


def test_tokenizers_without_offsets_are_aligned_by_characters(tmp_path: Path) -> None:
    vocabulary = tmp_path / "vocab.txt"
    vocabulary.write_text("[PAD]\n[UNK]\n[SEP]\n[CLS]\nthe\nquick\n##ly\ncafe")
    tokenizer = ProphetNetTokenizer(str(vocabulary))
    assert not tokenizer.is_fast
    text = Annotated(["The", "quickly", "fun", "Café"])
    assert tokens_by_word(tokenizer, text) == ["the", "quick ##ly", "[UNK]", "cafe"]


@pytest.mark.parametrize("words", [["né", "🦜s"], ["a", "b", "a"]])
def test_bytes_are_aligned_by_characters(words: list[str]) -> None:
    tokenizer = ByT5Tokenizer()
    text = Annotated(words)
    tokens = labelled(tokenizer, tokenizer(text.text)["input_ids"])
    counts = tokens_of_words(tokenizer, text, tokens).sum(axis=1)
    assert counts.tolist() == [len(word.encode()) for word in words]


def test_tokens_of_whitespace_are_of_no_word() -> None:
    text, tokens = Annotated(["the", "~", "fox"]), Tokens(("the", "␣", "␣×4", "fox"))
    assert tokens_by_labels(text, tokens, None).tolist() == [[1, 0, 0, 0], [0] * 4, [0, 0, 0, 1]]


def test_tokenizers_that_report_a_text_as_one_word(minilm: Loaded) -> None:
    tokenizer = tokenizing.byte_fallback()
    found = tokens_by_word(tokenizer, Annotated(["the", "tokens"]))
    assert [word.replace(" ", "") for word in found] == ["the", "tokens"]
