"""Tokens are labelled so that they can be read."""

import pytest
import torch

from attnwidget import capture
from attnwidget.wire.running_text import text_of
from tests.unit.tiny import Loaded, llama, token_ids


def test_wordpieces_keep_their_marker(minilm: Loaded) -> None:
    record = capture(*minilm, "Tokenizers aren't magical.")
    expected = ["[CLS]", "token", "##izer", "##s", "aren", "'", "t", "magical", ".", "[SEP]"]
    assert record.tokens() == (expected, expected)
    assert record.stack().queries.special == (0, 9)


def test_byte_level_tokens_lose_their_marker(smollm2: Loaded) -> None:
    record = capture(*smollm2, "Two words\n and\ttabs")
    assert record.tokens()[0] == ["Two", "words", "⏎", "and", "⇥", "t", "abs"]
    assert record.stack().queries.special == ()


def test_a_space_alone_can_be_seen(smollm2: Loaded) -> None:
    assert capture(*smollm2, " ").tokens()[0] == ["␣"]


def test_tokens_that_share_a_character_say_so(smollm2: Loaded) -> None:
    record = capture(*smollm2, "né 🦜")
    assert record.tokens()[0] == ["n", "é", "🦜 1/3", "🦜 2/3", "🦜 3/3"]


def test_without_a_tokenizer_labels_are_positions() -> None:
    record = capture(llama(), None, {"input_ids": token_ids(4)})
    assert record.tokens() == (["0", "1", "2", "3"],) * 2


def test_tokenized_inputs_have_labels_where_the_tokenizer_is_given(minilm: Loaded) -> None:
    model, tokenizer = minilm
    encoding = tokenizer("A text.", return_tensors="pt")
    assert (
        capture(model, tokenizer, encoding).tokens()
        == capture(model, tokenizer, "A text.").tokens()
    )
    assert capture(model, None, encoding).tokens()[0] == ["0", "1", "2", "3", "4"]


def test_a_pair_has_segments(minilm: Loaded) -> None:
    """A special token belongs to the text before it."""
    record = capture(*minilm, "One two.", "Three.")
    assert record.tokens()[0] == ["[CLS]", "one", "two", ".", "[SEP]", "three", ".", "[SEP]"]
    assert record.stack().queries.segments == (0, 0, 0, 0, 0, 1, 1, 1)


def test_a_pair_for_a_decoder_has_segments(smollm2: Loaded) -> None:
    record = capture(*smollm2, "One", " two three")
    assert record.stack().queries.segments == (0, 1, 1)


def test_a_pair_has_words_and_offsets(minilm: Loaded) -> None:
    tokens = capture(*minilm, "Tokenizers.", "Three").stack().queries
    assert tokens.labels[1:4] == ("token", "##izer", "##s")
    assert tokens.words == (None, 0, 0, 0, 1, None, 2, None)
    assert tokens.offsets is not None
    # The second text stands below the first.
    assert tokens.text == "Tokenizers.\n\nThree"
    assert tokens.offsets[1:7] == ((0, 5), (5, 9), (9, 10), (10, 11), None, (13, 18))


def test_a_pair_is_two_messages_of_a_running_text(minilm: Loaded) -> None:
    record = capture(*minilm, "A cat sat. It slept.", "Dogs bark.")
    text = text_of(record, "self")
    assert text is not None
    labels = text.keys.labels
    assert [(labels[m.start], m.role, labels[m.end - 1]) for m in text.messages] == [
        ("[CLS]", "A", "[SEP]"),
        ("dogs", "B", "[SEP]"),
    ]
    said = [labels[start:end] for start, end in text.sentences]
    assert said == [("a", "cat", "sat", "."), ("it", "slept", "."), ("dogs", "bark", ".")]
    assert (text.template, text.answered) == (record.stack().keys.special, False)


@pytest.mark.parametrize("texts", [("One two.",), ("One two.", "")])
def test_a_single_text_has_none(minilm: Loaded, texts: tuple[str, ...]) -> None:
    assert capture(*minilm, *texts).stack().queries.segments is None


def test_the_record_is_named_after_the_model(minilm: Loaded) -> None:
    assert capture(*minilm, "A text.").model == "all-MiniLM-L6-v2"
    model = llama()
    text = {"input_ids": torch.tensor([[3, 4]])}
    assert capture(model, None, text).model == "LlamaModel"
    model.config._name_or_path = "someone/a-model"
    assert capture(model, None, text).model == "a-model"
