"""Words and offsets of tokens, where a tokenizer can tell."""

from typing import Any

import pytest
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import ByT5Tokenizer, PreTrainedTokenizerFast

from attnwidget.running.words import spans_of_ids, word_spans
from tests.unit import tokenizing
from tests.unit.tiny import Loaded
from tests.unit.tokenizing import labels_of, unigram


@pytest.fixture(scope="module")
def byte_fallback() -> Any:
    return tokenizing.byte_fallback()


def spans(tokenizer: Any, *texts: str) -> tuple[Any, Any]:
    encoding = tokenizer(*texts, return_tensors="pt")
    return word_spans(encoding, 0, list(range(encoding["input_ids"].shape[1])), texts)


def test_words_and_offsets_of_a_pair_of_wordpieces(minilm: Loaded) -> None:
    first, second = "Tokenizers' magic", "日本 é"
    words, offsets = spans(minilm[1], first, second)
    assert words == (None, 0, 0, 0, 1, 2, None, 3, 4, 5, None)
    assert [first[slice(*span)] for span in offsets[1:6]] == ["Token", "izer", "s", "'", "magic"]
    assert [second[slice(*span)] for span in offsets[7:10]] == ["日", "本", "é"]
    assert [offsets[position] for position in (0, 6, 10)] == [None] * 3


def test_words_and_offsets_of_byte_level_tokens(smollm2: Loaded) -> None:
    text = "Two 🦜s,\n\n  né"
    words, offsets = spans(smollm2[1], text)
    labels = labels_of(smollm2[1], text)
    found = list(zip(labels, words, (text[slice(*span)] for span in offsets), strict=True))
    assert found == [
        ("Two", 0, "Two"),
        ("🦜 1/3", 1, " 🦜"),
        ("🦜 2/3", 1, "🦜"),
        ("🦜 3/3", 1, "🦜"),
        ("s", 2, "s"),
        (",", 3, ","),
        ("⏎⏎␣", 4, "\n\n "),
        ("n", 5, " n"),
        ("é", 5, "é"),
    ]


@pytest.mark.parametrize("model", ["minilm", "smollm2"])
def test_a_word_does_not_end_within_a_sign(model: str, request: pytest.FixtureRequest) -> None:
    """Between letters and their vowel signs, nor within emoji of several characters."""
    _, tokenizer = request.getfixturevalue(model)
    for text in ("हिन्दी भाषा", "x 👩\u200d🚀 y", "ok 👍🏽 no"):
        words, offsets = spans(tokenizer, text)
        found = [word.strip() for word in in_words(text, words, offsets)]
        assert found == text.split()


def in_words(text: str, words: Any, offsets: Any) -> list[str]:
    """The text from the first to the last character of each word, in the words' order."""
    ends: dict[int, list[int]] = {}
    for word, span in zip(words, offsets, strict=True):
        if word is not None:
            ends.setdefault(word, []).extend(span)
    assert list(ends) == list(range(len(ends)))
    return [text[min(found) : max(found)] for found in ends.values()]


@pytest.mark.parametrize("kind", ["byte fallback", "unigram"])
def test_a_text_that_is_one_word_is_split_at_its_whitespace(byte_fallback: Any, kind: str) -> None:
    tokenizer = byte_fallback if kind == "byte fallback" else unigram(split=False)
    encoding = tokenizer(text := "the quick  dog\nfox\n\n", return_tensors="pt")
    assert set(encoding.word_ids(0)) <= {None, 0}
    words, offsets = spans(tokenizer, text)
    found = in_words(text, words, offsets)
    assert found == ["the", " quick", " ", " dog", "\n", "fox", "\n\n"]


def test_words_of_a_second_text_go_on_counting(byte_fallback: Any) -> None:
    words, offsets = spans(byte_fallback, "the dog", "the fox é")
    second = words.index(2)
    assert set(words[:second]) == {None, 0, 1}
    assert words[0] is offsets[0] is None
    assert in_words("the dog", words[:second], offsets[:second]) == ["the", " dog"]
    later = [None if word is None else word - 2 for word in words[second:]]
    assert in_words("the fox é", later, offsets[second:]) == ["the", " fox", " é"]


def test_words_that_the_tokenizer_does_not_know_need_the_text(byte_fallback: Any) -> None:
    encoding = byte_fallback("the dog", return_tensors="pt")
    positions = list(range(len(encoding[0])))
    words, offsets = word_spans(encoding, 0, positions)
    assert words is None
    assert offsets == spans(byte_fallback, "the dog")[1]
    one = byte_fallback("the")
    assert word_spans(one, 0, list(range(len(one[0]))))[0] == (None, 0)


@pytest.mark.parametrize("given", [["token", "izers", "."], ["a", "b", "c"], [" a", "b", "c"]])
def test_a_text_given_in_words_has_no_offsets(
    smollm2: Loaded, minilm: Loaded, given: list[str]
) -> None:
    """The tokenizer's offsets count from the start of each word."""
    for tokenizer in (smollm2[1], minilm[1]):
        encoding = tokenizer(given, is_split_into_words=True, return_tensors="pt")
        words, offsets = word_spans(encoding, 0, list(range(len(encoding[0]))))
        assert offsets is None
        assert words is not None
        assert set(words) - {None} == {0, 1, 2}


def test_a_text_whose_tokens_all_start_at_once_has_offsets(smollm2: Loaded) -> None:
    encoding = smollm2[1]("🦜", return_tensors="pt")
    assert word_spans(encoding, 0, [0, 1, 2]) == ((0, 0, 0), ((0, 1),) * 3)
    # One character that becomes three words.
    fraction = Tokenizer(models.WordLevel({"1": 0, "⁄": 1, "2": 2}))
    fraction.normalizer = normalizers.NFKC()
    fraction.pre_tokenizer = pre_tokenizers.Digits(individual_digits=True)
    words, offsets = spans(PreTrainedTokenizerFast(tokenizer_object=fraction), "½")
    assert (words, offsets) == ((0, 1, 2), ((0, 1),) * 3)


def test_whitespace_stays_where_the_tokenizer_puts_it() -> None:
    characters = Tokenizer(models.BPE({"a": 0, "b": 1, " ": 2, "\n": 3}, []))
    characters.pre_tokenizer = pre_tokenizers.Split(Regex(r"\S+\s*"), "isolated")
    words, _ = spans(PreTrainedTokenizerFast(tokenizer_object=characters), "a \nb")
    assert words == (0, 0, 0, 1)


def test_a_token_over_whitespace_is_of_the_word_that_it_begins() -> None:
    pieces = [("<unk>", 0.0), ("a", -1.0), ("▁▁b", -1.0), ("b", -3.0)]
    tokenizer = Tokenizer(models.Unigram(pieces, 0))
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    words, offsets = spans(PreTrainedTokenizerFast(tokenizer_object=tokenizer), "a  bb")
    assert (words, offsets) == ((0, 1, 1), ((0, 1), (1, 4), (4, 5)))


def test_a_space_may_have_no_extent() -> None:
    """RoBERTa's kind trims offsets, which leaves nothing of a space at the end."""
    tokenizer = Tokenizer(models.BPE({"a": 0, "b": 1, "Ġ": 2}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=True)
    words, offsets = spans(PreTrainedTokenizerFast(tokenizer_object=tokenizer), "a b ")
    assert offsets[-1] == (4, 4)
    assert words == (0, 1, 1, 2)


def test_padding_and_other_items_are_told_apart(minilm: Loaded) -> None:
    texts = ["One.", "A longer text"]
    encoding = minilm[1](texts, padding=True, return_tensors="pt")
    assert word_spans(encoding, 0, [0, 1, 2, 3])[0] == (None, 0, 1, None)
    assert word_spans(encoding, 0, [1, 4])[0] == (0, None)
    words, offsets = word_spans(encoding, 1, [1, 2, 3], ("A longer text",))
    assert (words, offsets) == ((0, 1, 2), ((0, 1), (2, 8), (9, 13)))


def test_truncated_words_count_from_zero(minilm: Loaded) -> None:
    """The first remaining word of a text that is cut at its start is word 0."""
    tokenizer = Tokenizer.from_str(minilm[1].backend_tokenizer.to_str())
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, truncation_side="left")
    encoding = fast("one two three", truncation=True, max_length=4, return_tensors="pt")
    words, offsets = word_spans(encoding, 0, [0, 1, 2, 3])
    assert (words, offsets) == ((None, 0, 1, None), (None, (4, 7), (8, 13), None))


def test_without_a_fast_tokenizers_account_nothing_is_known(minilm: Loaded) -> None:
    encoding = minilm[1]("one two", return_tensors="pt")
    unknown = (None, None)
    assert word_spans(encoding, 0, [1, 2]) == ((0, 1), ((0, 3), (4, 7)))
    assert word_spans(dict(encoding), 0, [1, 2]) == unknown
    assert word_spans(ByT5Tokenizer()("one two"), 0, [1, 2]) == unknown
    assert word_spans(encoding, 1, [1, 2]) == unknown
    assert word_spans(encoding, 0, [1, 4]) == unknown
    # Someone changed the ids afterwards: they are no longer what the account is about.
    encoding["input_ids"] = encoding["input_ids"][:, 1:]
    assert word_spans(encoding, 0, [1, 2]) == unknown


@pytest.mark.parametrize("model", ["minilm", "smollm2"])
def test_ids_are_read_back_to_their_words(model: str, request: pytest.FixtureRequest) -> None:
    tokenizer = request.getfixturevalue(model)[1]
    ids = tokenizer("two lawyers ran.", add_special_tokens=False)["input_ids"]
    words, offsets = spans(tokenizer, "two lawyers ran.")
    special = tokenizer.all_special_ids[0]
    own = [word for word in words if word is not None]
    inside = [span for span in offsets if span is not None]
    assert spans_of_ids(tokenizer, [special, *ids], [0]) == ((None, *own), (None, *inside))
    # A special token within a text has a place there, and no word.
    words, offsets = spans_of_ids(tokenizer, [*ids, special, *ids[:1]], [len(ids)])
    assert words == (*own, None, max(own) + 1)
    assert offsets[len(ids)] is None
    assert offsets[-1][0] > inside[-1][1]


def test_ids_that_a_tokenizer_would_split_otherwise_have_no_words(smollm2: Loaded) -> None:
    tokenizer = smollm2[1]
    ids = [tokenizer.convert_tokens_to_ids(letter) for letter in "the"]
    assert spans_of_ids(tokenizer, ids, []) == (None, None)
