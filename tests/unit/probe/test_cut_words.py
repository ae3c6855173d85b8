"""Words that max_tokens cuts off, or that a tokenizer drops: the scores are those without them."""

import copy
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Regex, normalizers
from transformers import ProphetNetTokenizer

import attnwidget as aw
from attnwidget.probe import Aligned, Annotated, Mention, word_alignment
from attnwidget.probe.cut_words import LeftOut, fitting, with_words
from attnwidget.record import AttentionRecord
from tests.unit import tokenizing
from tests.unit.tiny import Loaded, bert, t5

WORDS = ["the", "dog", "unbelievably", "cat", "tokenizers", "met", "café", "and", "saw", "lemurs"]

# BERT's tokenizer drops it.
NOTHING = "\u200b"

MOST = 9


def texts(count: int, seed: int = 0) -> list[Annotated]:
    """Texts of 3 to 14 words, of one and of several tokens, with all annotations."""
    random = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        size = int(random.integers(3, 15))
        words = [str(word) for word in random.choice(WORDS, size)]
        heads: list[int | None] = [int(random.integers(place)) for place in range(1, size)]
        mentions = []
        for start in range(0, size - 1, 2):
            end = min(size, start + int(random.integers(1, 4)))
            kind, entity = random.choice(["person", "place"]), random.choice(["a", "b", "c"])
            mentions.append(Mention(start, end, str(entity), kind=str(kind)))
        start = int(random.integers(size - 1))
        made.append(
            Annotated(
                words,
                [None, *heads],
                ["root", *(str(random.choice(["nsubj", "obj", "punct"])) for _ in heads)],
                mentions,
                [(start, min(size, start + 4))],
                [str(random.choice(["NOUN", "VERB", "PRON"])) for _ in words],
            )
        )
    return made


def kept_by_hand(text: Annotated, kept: list[int]) -> Annotated:
    """The words at some places, written with a space between any two."""
    assert text.heads is not None
    assert text.relations is not None
    assert text.tags is not None
    heads = [text.heads[word] for word in kept]
    whole = [m for m in text.mentions if set(range(m.start, m.end)) <= set(kept)]
    inside = [{*range(*span)} & {*kept} for span in text.segments]
    return Annotated(
        [text.words[word] for word in kept],
        [None if head not in kept else kept.index(head) for head in heads],
        [text.relations[word] for word in kept],
        [
            replace(m, start=kept.index(m.start), end=kept.index(m.start) + m.end - m.start)
            for m in whole
        ],
        [(kept.index(min(words)), kept.index(max(words)) + 1) for words in inside if words],
        [text.tags[word] for word in kept],
    )


def shortened(text: Annotated, tokenizer: Any, most: int) -> Annotated:
    """The first words of a text that have at most so many tokens with the special ones."""
    size = max(
        size
        for size in range(len(text) + 1)
        if len(tokenizer(" ".join(text.words[:size]))["input_ids"]) <= most
    )
    return kept_by_hand(text, list(range(size)))


def relations(*args: Any, **options: Any) -> Any:
    return aw.probe.relations(*args, min_count=1, null=None, **options)


def attention_parser(*args: Any, **options: Any) -> Any:
    return aw.probe.attention_parser(*args, null=None, **options)


def layers(*args: Any, **options: Any) -> Any:
    return aw.probe.layers(*args, **options)


PROBES: list[Callable[..., Any]] = [
    relations,
    aw.probe.coreference,
    attention_parser,
    aw.probe.edge_classifier,
    aw.probe.segments,
    layers,
]
# The annotated texts that each probe needs.
COUNTS = [8, 40, 8, 60, 8, 120]


@pytest.fixture(scope="module")
def loaded(minilm: Loaded) -> Loaded:
    """A model without training, for speed."""
    special = {"bos_token_id": None, "eos_token_id": None}
    return bert(vocab_size=len(minilm[1]), **special), minilm[1]


def numbers(found: Any) -> dict[str, Any]:
    """What a probe found: its table, and the numbers of every head or layer."""
    table = found.table().drop(columns="lost", errors="ignore").to_dict("list")
    if isinstance(found, aw.probe.LayerScores):
        return table | {name: score.cumulative for name, score in found.scores.items()}
    return table | {name: scores.values() for name, scores in found.heads.items()}


def check_equal(cut: Any, by_hand: Any) -> None:
    found, expected = numbers(cut), numbers(by_hand)
    assert found.keys() == expected.keys()
    for name, value in found.items():
        if np.asarray(value).dtype.kind == "f":
            np.testing.assert_allclose(value, expected[name], rtol=1e-4, atol=1e-6, err_msg=name)
        else:
            assert value == expected[name], name
    assert cut.num_texts == by_hand.num_texts
    assert by_hand.lost == 0


@pytest.mark.parametrize(("probe", "count"), list(zip(PROBES, COUNTS, strict=True)))
def test_scores_are_those_of_texts_shortened_by_hand(
    probe: Callable[..., Any], count: int, loaded: Loaded
) -> None:
    model, tokenizer = loaded
    long = texts(count)
    short = [shortened(text, tokenizer, MOST) for text in long]
    with pytest.warns(UserWarning, match="were left out") as warned:
        cut = probe(model, tokenizer, long, max_tokens=MOST)
    assert len(warned) == 1
    assert warned[0].filename == __file__
    lost = sum(map(len, long)) - sum(map(len, short))
    assert cut.lost == lost > 0
    assert str(lost) in str(warned[0].message)
    assert str(lost) in repr(cut)
    assert set(cut.table()["lost"]) == {lost}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        by_hand = probe(model, tokenizer, short)
    check_equal(cut, by_hand)
    assert "lost" not in by_hand.table()


@pytest.mark.parametrize(("probe", "count"), list(zip(PROBES, COUNTS, strict=True)))
def test_scores_are_those_without_the_words_that_a_tokenizer_drops(
    probe: Callable[..., Any], count: int, loaded: Loaded
) -> None:
    model, tokenizer = loaded
    random = np.random.default_rng(1)
    some, without = [], []
    for text in texts(count):
        dropped = set(random.choice(len(text), 2, replace=False).tolist())
        words = [NOTHING if n in dropped else word for n, word in enumerate(text.words)]
        some.append(replace(text, words=words, text=None, spans=None))
        without.append(kept_by_hand(text, [n for n in range(len(text)) if n not in dropped]))
    with pytest.warns(
        UserWarning, match="were left out: the tokenizer has no tokens for"
    ) as warned:
        cut = probe(model, tokenizer, some)
    assert len(warned) == 1
    assert cut.lost == 2 * count
    check_equal(cut, probe(model, tokenizer, without))


def test_a_null_leaves_out_the_same_words_and_counts_them_once(loaded: Loaded) -> None:
    model, tokenizer = loaded
    for probe in (aw.probe.layers, aw.probe.segments):
        long = texts(120)
        with pytest.warns(UserWarning, match="left out") as warned:
            cut = probe(model, tokenizer, long, null=_null(probe), max_tokens=MOST)  # type: ignore[operator]
        short = [shortened(text, tokenizer, MOST) for text in long]
        assert cut.lost == sum(map(len, long)) - sum(map(len, short))
        assert len(warned) == 1
        check_equal(cut, probe(model, tokenizer, short, null=_null(probe)))  # type: ignore[operator]


def _null(probe: Any) -> Any:
    return True if probe is aw.probe.layers else "random weights"


def test_texts_of_which_nothing_remains_are_no_texts(loaded: Loaded) -> None:
    model, tokenizer = loaded
    long = texts(8)
    # "unbelievably" has more tokens than fit, and nothing has no tokens.
    tree: Any = [None, 0], ["root", "obj"], (), (), ["NOUN", "NOUN"]
    long[2] = Annotated(["unbelievably"] * 2, *tree)
    long[5] = Annotated([NOTHING] * 2, *tree)
    tokens = len(tokenizer("unbelievably")["input_ids"])
    short = [shortened(text, tokenizer, tokens - 1) for text in long]
    short[5] = kept_by_hand(long[5], [])
    empty = sum(not len(text) for text in short)
    assert empty >= 2
    with pytest.warns(UserWarning, match=f"{empty} texts have no other words"):
        cut = attention_parser(model, tokenizer, long, max_tokens=tokens - 1)
    assert sum(cut.num_texts) == 8 - empty
    check_equal(cut, attention_parser(model, tokenizer, short))


def test_a_limit_that_no_word_fits_into_is_refused(loaded: Loaded) -> None:
    for most in (1, 2):
        for probe in (relations, layers, aw.probe.coreference):
            with pytest.raises(ValueError, match=f"max_tokens={most} cuts off"):
                probe(*loaded, texts(4), max_tokens=most)
    nothing = [Annotated([NOTHING], [None], ["root"])] * 2
    with pytest.raises(ValueError, match="tokenizer has no tokens for"):
        relations(*loaded, nothing)


def test_a_tokenizer_that_cuts_the_beginning_keeps_the_last_words(loaded: Loaded) -> None:
    model, tokenizer = loaded
    tokenizer = copy.deepcopy(tokenizer)
    tokenizer.truncation_side = "left"
    long = texts(8)
    short = []
    for text in long:
        start = min(
            start
            for start in range(len(text) + 1)
            if len(tokenizer(" ".join(text.words[start:]))["input_ids"]) <= MOST
        )
        short.append(kept_by_hand(text, list(range(start, len(text)))))
    with pytest.warns(UserWarning, match="left out"):
        cut = relations(model, tokenizer, long, max_tokens=MOST)
    check_equal(cut, relations(model, tokenizer, short))


def test_words_of_which_a_part_is_cut_off_do_not_fit(minilm: Loaded) -> None:
    text = Annotated(["the", "unbelievably", "old", "cat"])
    # "the" and the special tokens are three, "unbelievably" five.
    for most in range(3, 8):
        assert fitting(text, minilm[1], most).words == ["the"]
    assert fitting(text, minilm[1], 8).words == ["the", "unbelievably"]
    assert fitting(text, minilm[1], 9).words == ["the", "unbelievably", "old"]
    assert fitting(text, minilm[1], 10) is text


def test_texts_end_where_the_last_word_that_fits_does(minilm: Loaded) -> None:
    clitics = Annotated(
        ["I", "do", "n't", "!"], text=" I don't! ", spans=[(1, 2), (3, 5), (5, 8), (8, 9)]
    )
    found = fitting(clitics, minilm[1], 4)
    assert (found.words, found.text, found.spans) == (["I", "do"], " I do", [(1, 2), (3, 5)])
    as_one = Annotated(["de", "le", "pain"], text="du pain", spans=[(0, 2), (0, 2), (3, 7)])
    assert fitting(as_one, minilm[1], 3).words == ["de", "le"]


def test_an_unknown_word_does_not_stand_for_those_that_are_cut_off(tmp_path: Path) -> None:
    vocabulary = tmp_path / "vocab.txt"
    vocabulary.write_text("[PAD]\n[UNK]\n[SEP]\n[CLS]\nthe\nquick\n##ly\ncafe")
    text = Annotated(["The", "fun", "quickly", "Café"])
    for most, words in ((3, 2), (4, 2), (5, 3), (6, 4)):
        assert len(fitting(text, ProphetNetTokenizer(str(vocabulary)), most)) == words


def test_what_is_known_of_words_that_are_gone_is_gone() -> None:
    text = Annotated(
        ["a", "b", "c", "d", "e"],
        heads=[1, 2, None, 2, 2],
        relations=["det", "nsubj", "root", "obj", "punct"],
        mentions=[Mention(0, 2, "x"), Mention(1, 4, "x"), Mention(3, 5, "y", head=4, kind="thing")],
        segments=[(0, 3), (2, 3), (3, 5)],
        tags=list("ABCDE"),
    )
    found = with_words(text, np.array([True, True, False, True, True]))
    assert found.words == ["a", "b", "d", "e"]
    assert found.heads == [1, None, None, None]
    assert found.relations == ["det", "nsubj", "obj", "punct"]
    assert found.mentions == [Mention(0, 2, "x"), Mention(2, 4, "y", head=3, kind="thing")]
    assert found.segments == [(0, 2), (2, 4)]
    assert found.tags == ["A", "B", "D", "E"]
    assert (found.text, found.spans) == ("a b c d e", [(0, 1), (2, 3), (6, 7), (8, 9)])
    assert len(with_words(text, np.zeros(5, bool))) == 0
    bare = with_words(Annotated(["a", "b"]), np.array([False, True]))
    assert (bare.heads, bare.relations, bare.tags) == (None, None, None)


def test_words_are_counted_by_the_reason_why_they_are_left_out(
    recwarn: pytest.WarningsRecorder,
) -> None:
    left_out = LeftOut(24)
    left_out.add(10, 10, 10)
    left_out.warn()
    assert not recwarn
    left_out.add(10, 8, 7)
    left_out.add(2_000, 0, 0)
    left_out.warn()
    assert left_out.words == 2_003
    assert str(recwarn.pop().message) == (
        "2,003 of 2,020 words were left out: max_tokens=24 cuts off 2,002, the tokenizer has no "
        "tokens for 1; 1 text has no other words. All scores, baselines and nulls are of the others"
    )


def test_alignment_is_scored_without_words_that_a_tokenizer_drops() -> None:
    tokenizer = tokenizing.unigram()
    backend = tokenizer.backend_tokenizer
    drops = normalizers.Replace(Regex("~ ?"), "")
    backend.normalizer = normalizers.Sequence([drops, backend.normalizer])
    words = ["the", "quick", "brown", "fox", "jumps", "over", "lazy", "dog"]
    random = np.random.default_rng(0)
    some, without = [], []
    for _ in range(6):
        source, target = (random.permutation(words).tolist() for _ in range(2))
        links = [(n, words.index(word)) for n, word in enumerate(target)]
        without.append(Aligned(source, target, links))
        # One word more at the start of both, and one within the translation.
        longer = [(t + (1 if t < 4 else 2), s + 1) for t, s in links]
        more = ["~", *target[:4], "~", *target[4:]]
        some.append(Aligned(["~", *source], more, [(0, 0), (5, 3), *longer, (1, 0)]))
    some.append(Aligned(["the"], ["~"], [(0, 0)]))
    some.append(Aligned(["~"], ["the"], [(0, 0)]))
    model = t5(vocab_size=len(tokenizer), eos_token_id=1)
    with pytest.warns(UserWarning, match="left out: the tokenizer has no tokens for") as warned:
        found = aw.probe.alignment(model, tokenizer, some)
    assert len(warned) == 1
    assert found.lost == 3 * 6 + 4
    assert found.table()["lost"].tolist()[0] == found.lost
    check_equal(found, aw.probe.alignment(model, tokenizer, without))


def test_a_layer_that_is_missing_in_one_pair_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    captured = word_alignment._captured

    def without_one(model: Any, tokenizer: Any, pair: Aligned) -> AttentionRecord:
        record = captured(model, tokenizer, pair)
        stack = record.stack("cross")
        if pair.source == ["dog"]:
            stack = replace(stack, layers=stack.layers[:1])
        return AttentionRecord({"cross": stack}, missing=["decoder.1: of no known kind"])

    monkeypatch.setattr(word_alignment, "_captured", without_one)
    tokenizer = tokenizing.unigram()
    model = t5(vocab_size=len(tokenizer), eos_token_id=1)
    pairs = [Aligned([word], ["the"], [(0, 0)]) for word in ("fox", "over", "lazy", "dog")]
    found = aw.probe.alignment(model, tokenizer, pairs[:2], null=None)
    assert found.missing == ("decoder.1: of no known kind",)
    with pytest.raises(ValueError, match="not be read in all texts: decoder"):
        aw.probe.alignment(model, tokenizer, pairs, null=None)
