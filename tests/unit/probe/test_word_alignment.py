"""Cross-attention heads as aligners, on heads that are planted, and a model without training."""

from typing import Any

import numpy as np
import pytest

import attnwidget as aw
from attnwidget.probe import Aligned
from attnwidget.probe.word_alignment import _between_words, _members
from attnwidget.record import AttentionRecord
from tests.unit.tiny import t5

GOLD = 1, 2
LINKED, UNLINKED = Aligned(["a"], ["b"], [(0, 0)]), Aligned(["a"], ["b"], [])


def planted(count: int, *, shuffled: bool = False) -> list[tuple[Any, Aligned]]:
    """Pairs whose words are linked at random, and attention whose head GOLD is the links."""
    random = np.random.default_rng(0)
    pairs = []
    for _ in range(count):
        size = int(random.integers(4, 10))
        order = random.permutation(size)
        weights = random.dirichlet(np.ones(size), (2, 4, size))
        weights[(*GOLD, range(size), order)] = 1
        linked = random.permutation(size) if shuffled else order
        words = [f"w{word}" for word in range(size)]
        pairs.append((weights, Aligned(words, words, list(enumerate(linked.tolist())))))
    return pairs


def test_a_head_that_is_the_links_scores_100() -> None:
    found = aw.probe.alignment(planted(40))
    assert (found.layer, found.head, found.moment) == (*GOLD, "writes")
    assert found.accuracy.value == 1
    assert max(found.diagonal.high, found.offset_accuracy.high) < 0.5
    assert found.num_texts == (20, 20)
    assert list(found.by_moment) == ["writes"]  # no other rows were given
    others = np.delete(found.heads["links"].values().ravel(), 6)
    assert others.max() < 0.4
    assert found.metrics()["aligns words"].values("cross").shape == (2, 4)


def test_a_pair_without_words_has_nothing_to_score() -> None:
    nothing = np.zeros((2, 4, 0, 0)), Aligned([], [], [])
    found = aw.probe.alignment([*planted(4), nothing, nothing])
    assert found.accuracy == aw.probe.alignment(planted(4)).accuracy


def test_shuffled_links_score_as_chance_does() -> None:
    pairs = planted(200, shuffled=True)
    found = aw.probe.alignment(pairs)
    chance = 100 / sum(len(pair.target) for _, pair in pairs[1::2])
    assert found.accuracy.low < chance < found.accuracy.high


def test_the_row_that_makes_a_word_is_that_before_it() -> None:
    weights = np.zeros((1, 4, 3), np.float32)
    weights[0, 0, 1] = weights[0, 1, 0] = weights[0, 2, 0] = weights[0, 3, 2] = 1
    given = AttentionRecord.from_arrays(
        [weights], ["<s>", "le", "ch", "at"], key_tokens=["the", "cat", "</s>"]
    )
    record = AttentionRecord({"cross": given.stack()})
    pair = Aligned(["the", "cat"], ["le", "chat"], [(0, 1), (1, 0)])
    members = _members(None, pair, record)
    writes, reads = _between_words(record, members)[:, 0, 0]
    assert writes.tolist() == [[0, 1], [1, 0]]
    assert reads.tolist() == [[1, 0], [0.5, 0]]


@pytest.mark.parametrize(
    ("pairs", "error", "message"),
    [
        (3, TypeError, "expected a model, its tokenizer and pairs"),
        ([np.zeros((1, 1, 1, 1))] * 2, TypeError, r"expected a pair \(weights .*, Aligned\)"),
        ([(np.ones((1, 1, 2, 2)), LINKED)] * 2, ValueError, r"here \[layers, heads, 1, 1\]"),
        ([(np.ones((1, n, 1, 1)), LINKED) for n in (1, 2)], ValueError, "as many layers and heads"),
        ([(np.ones((0, 1, 1, 1)), LINKED)] * 2, ValueError, "as many layers and heads"),
        ([(np.full((1, 1, 1, 1), np.nan), LINKED)] * 2, ValueError, "not finite"),
        ([(np.ones((1, 1, 1, 1)), p) for p in (LINKED, UNLINKED)], ValueError, "words to score"),
        (planted(1), ValueError, "too few texts, 1"),
    ],
)
def test_what_cannot_be_aligned_is_refused(pairs: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        aw.probe.alignment(pairs)
    with pytest.raises(ValueError, match="outside of the 1 target and 1 source words"):
        Aligned(["a"], ["b"], [(0, 1)])


def test_a_text_in_place_of_pairs_is_refused() -> None:
    pair = Aligned(["a"], ["b"], [(0, 0)])
    for wrong in (pair, 3):
        with pytest.raises(TypeError, match=r"pairs is .*; expected a list of Aligned"):
            aw.probe.alignment(t5(), "tokenizer", wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a pair is str; expected"):
        aw.show(aw.probe.alignment(planted(4)), t5(), None, "The cat")
