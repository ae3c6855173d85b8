"""The words that the manifest names: they read as in the text, whatever the tokenizer."""

from typing import Any

import pytest

from attnwidget import AttentionRecord, capture
from attnwidget.record import Fidelity, Layer, Stack, Tokens
from attnwidget.running.labels import token_labels
from attnwidget.running.words import word_spans
from attnwidget.wire import encode_overview
from tests.unit import tokenizing
from tests.unit.records import some_weights
from tests.unit.tiny import Loaded
from tests.unit.tokenizing import unigram

GIVEN = Fidelity("given", "", "weights", None, None, 1e-4, 0)


def _sent(tokens: Tokens) -> Any:
    weights = some_weights(1, len(tokens), len(tokens))
    layer = Layer(None, None, None, weights, GIVEN)
    manifest, _ = encode_overview(AttentionRecord({"self": Stack(tokens, tokens, (layer,))}))
    return manifest["stacks"][0]["queries"]["words"]


def _words(tokenizer: Any, *texts: str, special: bool = True) -> Any:
    """Labels as in a capture of these texts."""
    encoding = tokenizer(*texts, return_tensors="pt", add_special_tokens=special)
    positions = list(range(encoding["input_ids"].shape[1]))
    labels = token_labels(tokenizer, encoding["input_ids"][0].tolist())
    words, offsets = word_spans(encoding, 0, positions, texts)
    return _sent(Tokens(labels, None, (), words, offsets))


def _tokens(*pairs: tuple[str, int | None]) -> Any:
    labels, words = zip(*pairs, strict=True)
    return _sent(Tokens(labels, words=words))


def test_a_capture_tells_its_words(minilm: Loaded) -> None:
    record = capture(*minilm, "Tokenizers' magic", "embeddings")
    manifest, _ = encode_overview(record)
    [stack] = manifest["stacks"]
    assert stack["keys"] is None, "the same as the queries"
    assert stack["queries"]["words"] == {
        "labels": ["[CLS]", "tokenizers", "'", "magic", "[SEP]", "embeddings", "[SEP]"],
        "of": [0, 1, 1, 1, 2, 3, 4, 5, 5, 5, 5, 6],
    }


def test_wordpieces_lose_their_sign_inside_a_word(minilm: Loaded) -> None:
    assert _words(minilm[1], "## कि #tags") == {
        "labels": ["[CLS]", "#", "#", "कि", "#", "tags", "[SEP]"],
        "of": [0, 1, 2, 3, 3, 4, 5, 6],
    }


def test_bytes_of_a_character_become_the_character(smollm2: Loaded) -> None:
    """Older versions of transformers put a special token before SmolLM2's texts."""
    assert _words(smollm2[1], "Two 🦜s,\n\n  né", special=False) == {
        "labels": ["Two", "🦜", "s", ",", "⏎⏎␣", "né"],
        "of": [0, 1, 1, 1, 2, 3, 4, 5, 5],
    }


@pytest.mark.parametrize("text", ["#####x", "####### y", "a##b ##c", "tokenization"])
def test_a_hash_of_other_vocabularies_stays(smollm2: Loaded, text: str) -> None:
    assert "".join(_words(smollm2[1], text, special=False)["labels"]) == text.replace(" ", "")


@pytest.mark.parametrize("kind", ["byte fallback", "unigram"])
def test_pieces_of_sentences_become_words(kind: str) -> None:
    tokenizer = tokenizing.byte_fallback() if kind == "byte fallback" else unigram(split=False)
    found = _words(tokenizer, "the quick fox tokenizes")
    start = ["<s>"] if kind == "byte fallback" else []
    assert found["labels"] == [*start, "the", "quick", "fox", "tokenizes"]


def test_a_character_of_several_bytes_in_a_sentence() -> None:
    found = _words(tokenizing.byte_fallback(), "the é日 🦜")
    assert found["labels"] == ["<s>", "the", "é日", "🦜"]


def test_a_token_of_no_word_stands_alone() -> None:
    assert _tokens(("[CLS]", None), ("a", 0), ("##b", 0), ("[X]", None), ("[X]", None)) == {
        "labels": ["[CLS]", "ab", "[X]", "[X]"],
        "of": [0, 1, 1, 2, 3],
    }
    # Separators are not part of a word.
    assert _tokens(("a", 0), ("[X]", None), ("b", 0))["labels"] == ["a", "[X]", "b"]


def test_a_word_of_one_token_keeps_its_label() -> None:
    alone = ["##ing", "␣␣", "🦜 1/3", "a + b", "◌\u0301", "#"]
    found = _tokens(*((label, word) for word, label in enumerate(alone)))
    assert found == {"labels": alone, "of": [0, 1, 2, 3, 4, 5]}


def test_a_token_that_ends_one_character_and_begins_another() -> None:
    pieces = ("a + 🦜 1/2", "🦜 2/2 + 👨 1/2", "👨 2/2 + !")
    assert _tokens(*((piece, 0) for piece in pieces))["labels"] == ["a🦜👨!"]


def test_unknown_words_are_not_made_up() -> None:
    assert _sent(Tokens(("a", "##b"))) is None
