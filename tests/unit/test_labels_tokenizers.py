"""Every kind of tokenizer gives labels that can be read, and words and offsets where it can."""

import json
import re
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
import transformers
from tokenizers import (
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from transformers import (
    BertGenerationTokenizer,
    ByT5Tokenizer,
    CanineTokenizer,
    PerceiverTokenizer,
    PreTrainedTokenizerFast,
)

from attnwidget.capture.labels import token_labels
from attnwidget.capture.words import word_spans
from tests.unit.tiny import Loaded

CORPUS = ["the quick brown fox jumps over the lazy dog", "the tokens of a tokenizer"] * 20

TEXTS = [
    "The naïve café, 12.5 € — “ok”?",
    "🦜 and 👨‍👩‍👧 and 🏴󠁧󠁢󠁷󠁬󠁳󠁿 and ❤️",
    "日本語のテキスト、中文 한국어",
    "مرحبا بالعالم ۝ می‌خواهم שלום",
    "नमस्ते दुनिया क्षि ಕನ್ನಡ",
    "e\u0301 Z̡͖a̶lgo",
    "def f():\n\treturn 1\n\n\n\n\nx",
    "zero\u200bwidth\u00a0and\u00ad\u202econtrols\x1b\x7f",
    "a\ufffdb",
]


def ids_of(tokenizer: Any, *texts: str) -> list[int]:
    return tokenizer(*texts)["input_ids"]


def labels_of(tokenizer: Any, text: str) -> tuple[str, ...]:
    return token_labels(tokenizer, ids_of(tokenizer, text))


def text_of(labels: Sequence[str]) -> str:
    """What a reader makes of labels, without the spaces."""
    text = ""
    for label in labels:
        share = re.fullmatch(r"(.+) (\d)/\d", label)
        if share is None or share[2] == "1":
            text += share[1] if share else label
    text = re.sub("(.)×(\\d+)", lambda run: run[1] * int(run[2]), text)
    text = re.sub("⟨([0-9A-F]{4,6})⟩", lambda code: chr(int(code[1], 16)), text)
    return text.translate({ord("⏎"): "\n", ord("⇥"): "\t", ord("␣"): "", ord("◌"): "", 0x20: ""})


class Spelled:
    """A tokenizer that is no more than how its tokens are spelled, and decoded if otherwise."""

    def __init__(self, *names: Any, texts: Sequence[str] = ()) -> None:
        self.names = names
        self.texts = texts or [str(name) for name in names]

    def __len__(self) -> int:
        return len(self.names)

    def convert_ids_to_tokens(self, ids: list[int]) -> list[Any]:
        return [self.names[token] for token in ids]

    def decode(self, ids: list[int], **_options: Any) -> str:
        return "".join(self.texts[token] for token in ids)


def labels_of_names(*names: Any, texts: Sequence[str] = ()) -> tuple[str, ...]:
    return token_labels(Spelled(*names, texts=texts), list(range(len(names))))


def unigram(split: bool = True) -> Any:
    """T5's kind; without `split`, it takes a text for one word."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    special = ["<unk>", "</s>"]
    trainer = trainers.UnigramTrainer(
        vocab_size=60, special_tokens=special, unk_token="<unk>", show_progress=False
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(split=split)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", eos_token="</s>")


@pytest.fixture(scope="module")
def byte_fallback() -> Any:
    """Llama's kind: a text is one word, and characters outside the vocabulary are bytes."""
    tokenizer = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    tokenizer.decoder = decoders.Sequence(
        [
            decoders.Replace("▁", " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip(" ", 1, 0),
        ]
    )
    fallback = [f"<0x{byte:02X}>" for byte in range(256)]
    trainer = trainers.BpeTrainer(
        vocab_size=330, special_tokens=["<unk>", "<s>", *fallback], show_progress=False
    )
    # Spaces kept out of the merges, as in a vocabulary that was trained on words.
    tokenizer.train_from_iterator([word for line in CORPUS for word in line.split()], trainer)
    content = json.loads(tokenizer.to_str())
    content["added_tokens"] = content["added_tokens"][:2]
    tokenizer = Tokenizer.from_str(json.dumps(content))
    tokenizer.post_processor = processors.TemplateProcessing(
        "<s> $A", "<s> $A <s>:1 $B:1", [("<s>", 1)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token="<unk>",
        bos_token="<s>",
        extra_special_tokens=["<image>"],
    )


@pytest.fixture(scope="module", params=["smollm2", "byte_fallback", "Canine", "ByT5", "Perceiver"])
def lossless(request: pytest.FixtureRequest) -> Any:
    """A tokenizer that keeps every character of a text."""
    if request.param == "smollm2":
        return request.getfixturevalue("smollm2")[1]
    if request.param == "byte_fallback":
        return request.getfixturevalue("byte_fallback")
    return getattr(transformers, f"{request.param}Tokenizer")()


@pytest.mark.parametrize("text", TEXTS)
def test_every_character_of_a_text_can_be_read(lossless: Any, text: str) -> None:
    ids = [token for token in ids_of(lossless, text) if token not in lossless.all_special_ids]
    labels = token_labels(lossless, ids)
    assert len(labels) == len(ids)
    assert text_of(labels) == text.replace(" ", "")
    assert not any(re.search("[\ufffdĠĊ▁]|<0x", label) or not label for label in labels)


@pytest.mark.parametrize("text", TEXTS)
def test_labels_hold_nothing_that_cannot_be_seen(lossless: Any, text: str) -> None:
    joined = re.compile("(?<=.)[\u200c\u200d\ufe0f\U000e0020-\U000e007f]|\u06dd")
    for label in labels_of(lossless, text):
        assert joined.sub("", label).isprintable()
        assert label == label.strip()


def test_tokens_that_share_a_character_say_which_share(smollm2: Loaded) -> None:
    labels = labels_of(smollm2[1], "né 🦜 日本")
    assert labels == ("n", "é", "🦜 1/3", "🦜 2/3", "🦜 3/3", "日 1/3", "日 2/3", "日 3/3", "本")


def test_byte_models_say_which_byte() -> None:
    assert labels_of(ByT5Tokenizer(), "né\n") == ("n", "é 1/2", "é 2/2", "⏎", "</s>")
    assert labels_of(PerceiverTokenizer(), "é") == ("[CLS]", "é 1/2", "é 2/2", "[SEP]")


def test_fallback_bytes_are_joined(byte_fallback: Any) -> None:
    shares = ("🦜 1/4", "🦜 2/4", "🦜 3/4", "🦜 4/4")
    assert labels_of(byte_fallback, "the 🦜\n") == ("<s>", "the", "␣", *shares, "⏎")


def test_a_token_may_end_one_character_and_begin_another() -> None:
    assert labels_of_names(b"a\xf0\x9f", b"\xa6\x9c\xf0", b"\x9f\x91\xa8!\n") == (
        "a + 🦜 1/2",
        "🦜 2/2 + 👨 1/2",
        "👨 2/2 + !⏎",
    )


def test_bytes_that_form_no_character_are_hexadecimal() -> None:
    assert labels_of_names(b" \xf0\x9f", "x", b"\xa6\x9c", b"\xc3", b"\xa9") == (
        "⟨F0 9F⟩",
        "x",
        "⟨A6 9C⟩",
        "é 1/2",
        "é 2/2",
    )
    assert labels_of_names(b"a\xff", b"\xed\xa0\x80") == ("a + ⟨FF⟩", "⟨ED A0 80⟩")


def test_a_special_token_parts_characters() -> None:
    tokenizer = ByT5Tokenizer()
    first, second = ids_of(tokenizer, "é")[:2]
    assert token_labels(tokenizer, [first, 1, second]) == ("⟨C3⟩", "</s>", "⟨A9⟩")


def test_an_end_of_word_marker_is_no_byte() -> None:
    """CLIP's kind: the last token of a word says so."""
    tokenizer = Tokenizer(models.BPE(end_of_word_suffix="</w>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Whitespace(), pre_tokenizers.ByteLevel(False, use_regex=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=0, end_of_word_suffix="</w>", show_progress=False)
    tokenizer.train_from_iterator(["é 日 a"], trainer)
    clip = PreTrainedTokenizerFast(tokenizer_object=tokenizer)
    assert labels_of(clip, "é日") == ("é 1/2", "é 2/2", "日 1/3", "日 2/3", "日 3/3")


def test_unigram_labels_lose_their_marker() -> None:
    tokenizer = unigram()
    labels = labels_of(tokenizer, "the 🦜")
    assert "".join(labels) == "the␣<unk>"
    assert token_labels(tokenizer, [tokenizer.eos_token_id]) == ("</s>",)


def test_sentencepiece_itself_is_read_like_its_fast_copies(tmp_path: Any) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS),
        model_prefix=str(tmp_path / "bpe"),
        model_type="bpe",
        vocab_size=310,
        byte_fallback=True,
        minloglevel=2,
    )
    tokenizer = BertGenerationTokenizer(str(tmp_path / "bpe.model"))
    ids = ids_of(tokenizer, "the dog é  日")
    labels = token_labels(tokenizer, ids)
    assert text_of(labels) == "thedogé日"
    assert labels[-3:] == ("日 1/3", "日 2/3", "日 3/3")
    assert token_labels(tokenizer, [10**6]) == ("⟨id 1000000⟩",)


def test_wordpieces_keep_their_marker_before_a_combining_mark(minilm: Loaded) -> None:
    tokenizer = minilm[1]
    assert labels_of(tokenizer, "tokenizers कि")[1:-1] == ("token", "##izer", "##s", "क", "##◌ि")
    assert labels_of(tokenizer, "# ##")[1:-1] == ("#", "#", "#")


def test_a_hash_of_other_vocabularies_is_text(smollm2: Loaded) -> None:
    assert labels_of(smollm2[1], "## Title\n") == ("##", "Title", "⏎")
    assert labels_of_names("##Ċ", texts=["##\n"]) == ("##⏎",)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("\u0301", "◌\u0301"),
        ("ि", "◌ि"),
        ("\ufe0f", "⟨FE0F⟩"),
        ("❤\ufe0f", "❤\ufe0f"),
        ("👨\u200d👩", "👨\u200d👩"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("می\u200c", "می⟨200C⟩"),
        ("\u200b", "⟨200B⟩"),
        ("\u202eabc", "⟨202E⟩abc"),
        ("\u3000", "⟨3000⟩"),
        ("\u06dd", "\u06dd"),
        ("\u3164", "⟨3164⟩"),
        ("\ud83d", "⟨D83D⟩"),
        ("\U000f0000", "⟨F0000⟩"),
        ("\ufffd", "⟨FFFD⟩"),
        ("\x00", "⟨0000⟩"),
        (" ", "␣"),
        ("   ", "␣␣␣"),
        ("        ", "␣×8"),
        ("▁▁▁▁", "␣×4"),
        ("\n    ", "⏎␣×4"),
        (" a b ", "a b"),
        (";\r\n", ";␍⏎"),
        ("مرحبا", "مرحبا"),
        ("日本", "日本"),
    ],
)
def test_what_cannot_be_seen_is_shown(text: str, label: str) -> None:
    assert labels_of_names(text) == (label,)


def test_special_tokens_keep_their_names(smollm2: Loaded, minilm: Loaded) -> None:
    assert labels_of(smollm2[1], "<|im_start|>hi")[0] == "<|im_start|>"
    assert token_labels(minilm[1], [0, 100, 103]) == ("[PAD]", "[UNK]", "[MASK]")
    # CANINE's are characters without a shape.
    ids = [0, 0xE000, 0xE001, 0xE003, 0xE005]
    labels = ("[PAD]", "[CLS]", "[SEP]", "[MASK]", "⟨E005⟩")
    assert token_labels(CanineTokenizer(), ids) == labels


def test_a_processor_has_the_labels_of_its_tokenizer(byte_fallback: Any) -> None:
    image = byte_fallback.convert_tokens_to_ids("<image>")
    ids = [image, image, *ids_of(byte_fallback, "the")]
    labels = token_labels(SimpleNamespace(tokenizer=byte_fallback), ids)
    assert labels == ("<image>", "<image>", "<s>", "the")


def test_ids_outside_the_vocabulary_are_named(lossless: Any, minilm: Loaded) -> None:
    for tokenizer in (lossless, minilm[1], unigram()):
        for token in (-100, 5_000_000):
            assert token_labels(tokenizer, [token]) == (f"⟨id {token}⟩",)
    assert token_labels(ByT5Tokenizer(), [1000]) == ("⟨id 1000⟩",)  # it spells it all the same
    assert token_labels(Spelled("a", "b"), [-1, 0, 2]) == ("⟨id -1⟩", "a", "⟨id 2⟩")


def test_a_name_that_stands_in_for_another_id_is_not_shown() -> None:
    """Vocabularies that are a dict give the unknown token for what they lack."""
    tokenizer = Spelled("<unk>", "<unk>")
    tokenizer.unk_token, tokenizer.unk_token_id = "<unk>", 0  # type: ignore[attr-defined]
    assert token_labels(tokenizer, [0, 1]) == ("<unk>", "⟨id 1⟩")


def test_a_tokenizer_may_not_know_a_name() -> None:
    labels = labels_of_names(None, None, b"a", b"\xc3\xa9", texts=["", "one", "", ""])
    assert labels == ("⟨id 0⟩", "one", "a", "é")


def test_a_tokenizer_may_not_decode_a_name() -> None:
    """Whisper's leaves time stamps out; others know no such option."""
    assert labels_of_names("<|0.00|>", texts=[""]) == ("<|0.00|>",)

    class Undecoded(Spelled):
        def decode(self, ids: list[int]) -> str:  # type: ignore[override]
            raise AssertionError

    assert token_labels(Undecoded("a", "▁b"), [0, 1, 2]) == ("a", "b", "⟨id 2⟩")


def test_many_ids_are_looked_up_once_each() -> None:
    class Counted(Spelled):
        calls = 0

        def convert_ids_to_tokens(self, ids: list[int]) -> list[Any]:
            self.calls += len(ids)
            return super().convert_ids_to_tokens(ids)

    tokenizer = Counted("a", b"\xc3", b"\xa9")
    assert token_labels(tokenizer, [0, 1, 2] * 5000) == ("a", "é 1/2", "é 2/2") * 5000
    assert tokenizer.calls == 3


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
    """Those of the tokenizer count from the start of each word."""
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
    """Of a text cut at its start, the first word that is left is word 0."""
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
