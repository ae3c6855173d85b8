"""Planted heads have exactly the numbers that they must have."""

import pytest

import attnwidget as aw
from tests.unit.corpus.planted import Planted
from tests.unit.tiny import token_ids


@pytest.fixture(scope="module")
def planted() -> aw.HeadProfile:
    texts = [{"input_ids": token_ids(length, seed=length)} for length in (30, 40, 40, 50)]
    return aw.profile(Planted(), None, texts, null="shuffled")


def test_what_each_head_does_and_no_other_does(planted: aw.HeadProfile) -> None:
    assert planted.missing == ()
    expected = {"previous": (0, 0), "first": (0, 1), "induction": (1, 0), "same": (1, 1)}
    for name, place in expected.items():
        assert planted.values(name).mean[place] == 1, name
    assert planted.values("induction").mean.tolist() == [[0, 0], [1, 0]]
    assert planted.values("sink").mean[0, 1] == 1
    assert planted.values("entropy").mean[0].tolist() == [0, 0]
    assert planted.values("variability").mean[0].tolist() == [0, 0]


def test_the_shuffled_null(planted: aw.HeadProfile) -> None:
    """Heads of positions do the same on shuffled text, the induction head does not."""
    assert planted.null_values("previous").mean[0, 0] == 1
    assert planted.null_values("induction").mean[1, 0] == 1, "it follows copies in any order"


def test_the_words_for_each_head(planted: aw.HeadProfile) -> None:
    assert [[head.words for head in layer] for layer in planted.patterns()] == [
        ["looks at the previous token", "rests on the first token"],
        ["follows repeats", "looks at the token itself"],
    ]
    [reason] = planted.patterns()[0][0].reasons
    assert reason == "previous 1.00 > .5"
