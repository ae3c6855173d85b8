"""Heads as coreference resolvers, on heads that are planted."""

import numpy as np
import pytest

import attnwidget as aw
from attnwidget.probe import Annotated, Mention
from tests.unit.probe.planted import GOLD, mentioned, resolving


def test_a_head_that_links_mentions_scores_100_above_both_baselines() -> None:
    texts = mentioned(60)
    found = aw.probe.coreference(list(zip(resolving(texts), texts, strict=True)))
    assert (found.layer, found.head, found.direction) == (*GOLD, "attends")
    assert found.accuracy.value == 1
    assert found.pronouns is not None
    assert found.pronouns.value == 1
    assert found.nearest.high < 0.7
    assert np.sort(found.heads["antecedents"].values().ravel())[-2] < 0.7
    assert found.metrics()["finds antecedents"].null_label == "nearest mention"
    assert len(found.table()) == 4


def test_baselines_are_those_of_the_paper() -> None:
    words = ["Ann", "met", "Bea", "and", "Ann", "left", "her"]
    mentions = [
        Mention(0, 1, "a"),
        Mention(2, 3, "b"),
        Mention(4, 5, "a"),
        Mention(6, 7, "b"),
    ]
    text = Annotated(words, mentions=mentions)
    pairs = [(np.full((1, 1, 7, 7), 1 / 7), text)]
    found = aw.probe.coreference(pairs, held_out=pairs)
    # "Ann" goes back to the second last mention, which has the same word; "her" to the same.
    assert found.count == 2
    assert (found.nearest.value, found.same_word.value) == (0, 0.5)
    assert np.isnan(found.nearest.low)
    assert found.pronouns is None


def test_texts_without_antecedents_say_so() -> None:
    pairs = [(np.full((1, 1, 1, 1), 1), Annotated(["a"]))] * 2
    with pytest.raises(ValueError, match="no mention of the held-out texts"):
        aw.probe.coreference(pairs)
