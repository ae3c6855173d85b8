"""Probes that read all heads together, on heads that are planted."""

from dataclasses import replace

import numpy as np
import pytest

import attnwidget as aw
from attnwidget.probe import Annotated
from tests.unit.probe.planted import GOLD, REVERSED, planted, trees


def test_a_parser_learns_which_heads_are_gold() -> None:
    texts = trees(800)
    found = aw.probe.attention_parser(list(zip(planted(texts), texts, strict=True)))
    assert found.accuracy.value > 0.99
    assert found.distance.high < 0.5
    assert found.right_branching.high < 0.5
    attends, attended = (scores.values() for scores in found.heads.values())
    assert np.unravel_index(attends.argmax(), attends.shape) == GOLD
    assert np.unravel_index(attended.argmax(), attended.shape) == REVERSED
    assert found.null_accuracy is None
    assert list(found.table()["parser"]) == ["attention", "next word", "distance"]


def test_a_parser_of_shuffled_trees_finds_no_more_than_chance() -> None:
    texts = trees(400)
    wrong = trees(400, shuffled=True)
    found = aw.probe.attention_parser(list(zip(planted(texts), wrong, strict=True)))
    held_out = wrong[1::2]
    assert found.accuracy.low < len(held_out) / sum(len(text) - 1 for text in held_out)


def test_edges_are_told_by_the_weights_of_all_heads() -> None:
    texts = trees(150)
    pairs = []
    random = np.random.default_rng(0)
    for weights, text in zip(planted(texts), texts, strict=True):
        # A head whose weight on the head word tells the relation, so that both tasks can be solved.
        for word, (head, relation) in enumerate(
            zip(text.heads or (), text.relations or (), strict=True)
        ):
            if head is not None:
                kind = ["nmod", "nsubj", "obj"].index(relation.split(":")[0])
                weights[0, 0, word, head] = kind + 0.1 * random.random()
        pairs.append((weights, text))
    found = aw.probe.edge_classifier(pairs)
    assert found.related.accuracy.value > 0.99
    assert 0.4 < found.related.majority.value < 0.6
    assert found.related.distance.high < 0.8
    assert found.relation.accuracy.value > 0.99
    assert found.relation.classes == 3
    assert found.relation.distance.high < 0.65
    assert np.unravel_index(found.heads["relation"].values().argmax(), (2, 4)) == (0, 0)
    assert list(found.table()["task"]) == ["related", "relation"]


def test_edges_of_shuffled_trees_are_guessed() -> None:
    texts = trees(150)
    wrong = trees(150, shuffled=True)
    noise = [np.random.default_rng(0).random((1, 2, len(t), len(t))) for t in texts]
    found = aw.probe.edge_classifier(list(zip(noise, wrong, strict=True)))
    assert found.related.accuracy.low < 0.53
    assert found.relation.accuracy.low < found.relation.majority.high


def test_segments_are_measured_by_the_weight_on_a_word() -> None:
    text = Annotated(["a", "b", "c", "d"], segments=[(1, 3)])
    weights = np.zeros((1, 2, 4, 4))
    weights[0, 0] = [0.1, 0.3, 0.4, 0.0]
    weights[0, 1] = 0.25
    pairs = [(weights, text)] * 3 + [(weights, replace(text, segments=()))]
    found = aw.probe.segments(pairs)
    np.testing.assert_allclose(found.heads["segments"].values(), [[0.3, 0]], atol=1e-7)
    assert found.head_weights.tolist() == [[1, 0]]
    assert (found.num_texts, found.left_out) == ((0, 3), 1)
    assert found.table()["head"].tolist() == [0, 1]
    with pytest.raises(ValueError, match="no text has segments"):
        aw.probe.segments(pairs[3:])
