"""Heads as dependency parsers, on heads that are planted."""

import numpy as np
import pytest
import torch

import attnwidget as aw
from attnwidget.probe import Annotated
from attnwidget.probe.model_attention import ModelAttention
from tests.unit.probe.planted import GOLD, REVERSED, planted, trees
from tests.unit.tiny import Loaded


def test_a_head_that_is_the_gold_relation_scores_100() -> None:
    texts = trees(60)
    found = aw.probe.relations(list(zip(planted(texts), texts, strict=True)), min_count=20)
    assert list(found.scores)[-1] == "all"
    assert found.num_texts == (30, 30)
    for score in found.scores.values():
        assert (score.layer, score.head) in (GOLD, REVERSED)
        assert score.accuracy.value == score.accuracy.low == score.accuracy.high == 1
        assert score.offset_accuracy.high < 0.6
    assert set(found.scores) == {"nsubj", "obj", "nmod", "nmod:poss", "nmod:*", "all"}
    counts = {name: score.count for name, score in found.scores.items()}
    assert counts["nmod:*"] == counts["nmod"] + counts["nmod:poss"]
    for head in (GOLD, REVERSED):
        assert found.heads["all"].values()[head] == 1
    assert np.delete(found.heads["all"].values().ravel(), [1, 6]).max() < 0.4


def test_a_direction_is_that_of_the_attention() -> None:
    texts = trees(40)
    pairs = []
    for weights, text in zip(planted(texts), texts, strict=True):
        weights[GOLD] = 1
        pairs.append((weights, text))
    found = aw.probe.relations(pairs, min_count=20).scores["all"]
    assert (found.layer, found.head, found.direction) == (*REVERSED, "is attended to")
    assert found.accuracy.value == 1


def test_shuffled_trees_score_as_chance_does() -> None:
    texts = trees(200)
    wrong = trees(200, shuffled=True)
    found = aw.probe.relations(list(zip(planted(texts), wrong, strict=True)), min_count=20)
    # One of the other words is right, so each text has one hit on average.
    held_out = wrong[1::2]
    chance = len(held_out) / sum(len(text) - 1 for text in held_out)
    score = found.scores["all"].accuracy
    assert score.low < chance < score.high
    assert np.nanmax(found.heads["all"].values()) < 0.3


def test_a_model_is_read_beside_random_weights(minilm: Loaded) -> None:
    texts = [
        Annotated(f"the {kind} dog saw a cat".split(), [2, 2, 3, None, 5, 3], list("abcdef"))
        for kind in ("big", "old", "bad", "red")
    ]
    before = torch.get_rng_state()
    found = aw.probe.relations(*minilm, texts, min_count=1)
    assert torch.equal(before, torch.get_rng_state())
    assert found.lost == 0
    assert found.num_texts == (2, 2)
    assert found.heads["a"].null_values().shape == (6, 12)
    record = aw.capture(*minilm, texts[1].text)
    metrics = found.metrics(["a"])
    widget = aw.show(record, view="map", metrics=metrics)
    assert "finds a" in widget.metrics
    with pytest.raises(KeyError, match="no 'x' among the scores; there are"):
        found.metrics(["x"])
    assert list(found.table()["relation"])[-1] == "all"


def test_words_are_summed_over_keys_and_averaged_over_queries(minilm: Loaded) -> None:
    text = Annotated(["Tokenizers", "tokenize"])
    source = ModelAttention(*minilm, null=False, seed=0, batch_size=4, max_tokens=None)
    [read] = source.read([text])
    record = aw.capture(*minilm, text.text)
    assert list(record.tokens()[0]) == [
        "[CLS]",
        "token",
        "##izer",
        "##s",
        "token",
        "##ize",
        "[SEP]",
    ]
    weights = record.weights(3, 5)
    np.testing.assert_allclose(
        read.weights[3, 5],
        [
            [weights[1:4, 1:4].sum() / 3, weights[1:4, 4:6].sum() / 3],
            [weights[4:6, 1:4].sum() / 2, weights[4:6, 4:6].sum() / 2],
        ],
        rtol=1e-4,
    )


def test_wrong_input_says_what_is_wrong(minilm: Loaded) -> None:
    text = Annotated(["a", "b"], [1, None], ["det", "root"])
    weights = np.ones((1, 1, 2, 2)) / 2
    with pytest.raises(TypeError, match="needs a tokenizer"):
        aw.probe.relations(minilm[0], None, [text])
    with pytest.raises(ValueError, match="no relation is frequent enough"):
        aw.probe.relations([(weights, text)] * 4)
    with pytest.raises(ValueError, match="too few texts, 1: every second one is held out"):
        aw.probe.relations([(weights, text)])
    with pytest.raises(ValueError, match="too few texts, 1: every second one is held out"):
        aw.probe.relations(*minilm, iter([text]), null=None)
    with pytest.raises(ValueError, match=r"text 0 has the shape \[1, 1, 3, 3\]"):
        aw.probe.relations([(np.ones((1, 1, 3, 3)), text)] * 2)
    with pytest.raises(ValueError, match="a text has no heads or no relations: 'a b'"):
        aw.probe.relations([(weights, Annotated(["a", "b"]))] * 2)
    with pytest.raises(TypeError, match="read only once"):
        aw.probe.relations(iter([(weights, text)]))
    with pytest.raises(TypeError, match=r"list of words is Annotated\(words\)"):
        aw.probe.relations(*minilm, [["a", "b"]] * 2)


def test_misses_are_those_of_the_best_head() -> None:
    texts = trees(60)
    pairs = list(zip(planted(texts), texts, strict=True))
    weights, text = pairs[1]
    word = next(w for w, head in enumerate(text.heads or ()) if head is not None)
    head = (text.heads or ())[word]
    wrong = next(w for w in range(len(text)) if w not in (word, head))
    for place in (GOLD, REVERSED):
        weights[place][word, wrong] = weights[place][wrong, word] = 0.9
    found = aw.probe.relations(pairs, min_count=20)
    miss = found.misses["all"][0]
    assert (miss.word, miss.head, miss.found) == (
        word, head, wrong,
    )  # fmt: skip
    assert found.misses["all"][0].text is text
    assert len(found.misses["all"]) <= 2


def test_heads_are_named_with_what_they_are_compared_with() -> None:
    texts = trees(60)
    found = aw.probe.relations(list(zip(planted(texts), texts, strict=True)), min_count=20)
    names = " ".join(found.head_names().values())
    score = found.scores["obj"]
    offset = f"{score.offset_accuracy.value:.2f}"
    assert f"finds objects (obj): 1.00 of {score.count}, best offset {offset}" in names
    assert set(found.head_names()) <= {GOLD, REVERSED}
    wrong = trees(200, shuffled=True)
    chance = aw.probe.relations(list(zip(planted(trees(200)), wrong, strict=True)), min_count=20)
    assert chance.head_names() == {}


def test_a_relation_with_subtypes_is_named_once() -> None:
    texts = [
        Annotated(
            text.words, text.heads, ["nmod" if n % 2 else "nmod:poss" for n in range(len(text))]
        )
        for text in trees(60)
    ]
    found = aw.probe.relations(list(zip(planted(texts), texts, strict=True)), min_count=20)
    (name,) = found.head_names().values()
    assert "(nmod:*)" in name
    assert "(nmod:poss)" in name
    assert "(nmod)" not in name


def test_a_relation_is_shown_in_the_head_that_finds_it(minilm: Loaded) -> None:
    text = Annotated(
        ["the", "old", "dog", "saw", "unbelievable", "cats"],
        [2, 2, 3, None, 5, 3],
        ["det", "amod", "nsubj", "root", "amod", "obj"],
    )
    found = aw.probe.relations(*minilm, [text] * 2, min_count=1, null=None)
    widget = aw.show(found, *minilm, text=text, relation="amod", view="model")
    score = found.scores["amod"]
    assert (widget.layer, widget.head) == (score.layer, score.head)
    tokens = widget.record.tokens()[0]
    ends = [
        {" ".join(tokens[slice(*span)]) for span in (arc["query"], arc["key"])}
        for arc in widget._arcs
    ]
    assert {"old", "dog"} in ends
    assert len(ends) == 2
    assert {arc["by"] for arc in widget._arcs} == {
        "query" if score.direction == "attends" else "key"
    }
    words = widget._manifest["patterns"]["words"]["self"]
    for (layer, head), name in found.head_names().items():
        assert words[layer][head] == name
    with pytest.raises(KeyError, match="no 'iobj' among the scores"):
        aw.show(found, *minilm, relation="iobj")
    assert found.metrics("amod").keys() == {"finds amod"}
    with pytest.raises(TypeError, match="text is str; expected an Annotated"):
        aw.show(found, *minilm, "The old dog.", relation="amod")
    with pytest.raises(ValueError, match="the text has no amod"):
        aw.show(
            found,
            *minilm,
            text=Annotated(["a", "dog"], [1, None], ["det", "root"]),
            relation="amod",
        )
