"""Every kind of tokenizer gives labels that can be read."""

import re
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    BertGenerationTokenizer,
    ByT5Tokenizer,
    CanineTokenizer,
    PerceiverTokenizer,
    PreTrainedTokenizerFast,
)

from attnwidget.running.labels import token_labels
from tests.unit import tokenizing
from tests.unit.tiny import Loaded
from tests.unit.tokenizing import CORPUS, ids_of, labels_of, unigram

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


def text_of(labels: Sequence[str]) -> str:
    """The text that a reader sees in the labels, without the spaces."""
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


@pytest.fixture(scope="module")
def byte_fallback() -> Any:
    return tokenizing.byte_fallback()


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
