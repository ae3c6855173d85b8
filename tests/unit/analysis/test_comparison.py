"""Comparisons of two records: what belongs together, and how far heads differ."""

from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cosine, jensenshannon

import attnwidget as aw
from attnwidget.analysis import align
from attnwidget.corpus import Head, HeadMatch
from attnwidget.record import Tokens
from tests.unit.tiny import Loaded

TEXT = "The trophy did not fit in the suitcase because it was too big."
OTHER = "The trophy did not fit in the suitcase because it was too small."


def _random(size: int, *, layers: int = 2, heads: int = 3, seed: int = 0) -> aw.AttentionRecord:
    generator = np.random.default_rng(seed)
    weights = generator.dirichlet(np.ones(size), (layers, heads, size)).astype(np.float32)
    return aw.AttentionRecord.from_arrays(list(weights), [f"token{n}" for n in range(size)])


def _pairs(a: Tokens, b: Tokens, **options: Any) -> list[tuple[list[int], list[int]]]:
    return [(list(pair.a), list(pair.b)) for pair in align(a, b, **options).pairs]


def test_a_record_does_not_differ_from_itself(minilm: Loaded) -> None:
    record = aw.capture(*minilm, TEXT)
    same = aw.compare(record, record)
    assert same.keys().whole
    assert list(same.keys().labels) == record.tokens()[1]
    heads = [(n, head) for n in range(record.num_layers()) for head in range(record.num_heads(n))]
    assert not any(same.difference(*head).any() for head in heads)
    table = same.table()
    assert (table[["moved", "divergence", "weight_change"]] == 0).all(axis=None)
    assert (table["cosine"] == 1).all()
    # Each head is another than the next.
    assert (table["moved_null"] > 0).all()


def test_one_word_is_replaced(minilm: Loaded) -> None:
    """The shares that move were measured with another program, for the design of the view."""
    found = aw.compare(aw.capture(*minilm, TEXT), aw.capture(*minilm, OTHER))
    assert found.keys().whole
    assert found.keys().labels[13] == "big | small"
    assert found.keys().differing == 1
    moved = found.table().set_index(["layer", "head"])["moved"]
    shares = [0.019, 0.025, 0.023, 0.023, 0.023, 0.034, 0.032, 0.015, 0.029, 0.016, 0.028, 0.021]
    assert moved[2].round(3).tolist() == shares
    assert round(moved[3, 11], 3) == 0.051
    largest = found.changes(2, 8)[0]
    assert (largest.query, largest.key) == ("it", "big | small")
    assert [round(number, 3) for number in largest[2:5]] == [0.684, 0.538, -0.146]
    at = found.a.stack().queries.labels.index("it")
    assert largest[5:] == (range(at, at + 1), range(13, 14)) * 2


def test_the_other_way_round_every_sign_changes(minilm: Loaded) -> None:
    records = aw.capture(*minilm, TEXT), aw.capture(*minilm, "The old cup did not quite fit.")
    there, back = aw.compare(*records), aw.compare(*reversed(records))
    assert there.keys().labels != back.keys().labels
    for layer in range(6):
        for head in range(12):
            assert (there.difference(layer, head) == -back.difference(layer, head)).all()


def test_differences_are_those_of_scipy() -> None:
    found = aw.compare(_random(7), _random(7, seed=1))
    for layer in range(2):
        for head in range(3):
            a, b = (each.astype(np.float64) for each in found.weights(layer, head))
            row = found.table().set_index(["layer", "head"]).loc[layer, head]
            expected = np.mean(jensenshannon(a, b, axis=1) ** 2)
            assert row["divergence"] == pytest.approx(expected, rel=1e-9)
            assert row["cosine"] == pytest.approx(1 - cosine(a.ravel(), b.ravel()), rel=1e-9)
            assert row["moved"] == pytest.approx(np.abs(b - a).sum() / 2 / 7, rel=1e-9)
            assert row["weight_change"] == pytest.approx(np.abs(b - a).mean(), rel=1e-9)


def test_two_tokenizers_meet_in_words(minilm: Loaded, smollm2: Loaded) -> None:
    text = "Unbelievable tokenizers tokenize."
    a, b = aw.capture(*minilm, text), aw.capture(*smollm2, text)
    keys = aw.compare(a, b, layers={0: 0}, heads=[]).keys()
    assert keys.level == "words"
    words = ["unbelievable", "tokenizers", "tokenize"]
    assert [pair.label_a for pair in keys.pairs if pair.label_a in words] == words
    assert all(a.tokens()[0][position] in ("[CLS]", "[SEP]") for position in keys.only_a), (
        "special tokens have no partner"
    )


def test_tokens_of_a_word_are_summed_over_keys_and_averaged_over_queries() -> None:
    tokens = Tokens(("un", "##do", "it"), words=(0, 0, 1))
    short = Tokens(("undo", "it"), words=(0, 1))
    assert _pairs(tokens, short) == [([0, 1], [0]), ([2], [1])]
    weights = np.array([[[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.2, 0.2, 0.6]]], np.float32)
    record = aw.AttentionRecord.from_arrays([weights], ["un", "##do", "it"])
    stack = record.stack()
    whole = aw.AttentionRecord({"self": type(stack)(tokens, tokens, stack.layers)})
    joined, _ = aw.compare(whole, whole, level="words").weights(0, 0)
    assert np.allclose(joined, [[0.75, 0.25], [0.4, 0.6]])


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("x a b", "a b", [([1], [0]), ([2], [1])]),
        ("a b", "a b y", [([0], [0]), ([1], [1])]),
        ("a p q b", "a r b", [([0], [0]), ([1, 2], [1]), ([3], [2])]),
        ("a p b", "a q b", [([0], [0]), ([1], [1]), ([2], [2])]),
    ],
)
def test_tokens_that_belong_together(
    a: str, b: str, expected: list[tuple[list[int], list[int]]]
) -> None:
    sides = Tokens(tuple(a.split())), Tokens(tuple(b.split()))
    assert _pairs(*sides, level="tokens") == expected
    assert _pairs(*reversed(sides), level="tokens") == [(y, x) for x, y in expected]


def test_rows_of_a_long_text_are_read_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    records = _random(9), _random(9, seed=1)
    whole = aw.compare(*records).table()
    monkeypatch.setattr("attnwidget.analysis.head_difference._CELLS", 20)
    assert np.allclose(aw.compare(*records).table().iloc[:, 5:], whole.iloc[:, 5:], rtol=1e-12)


def test_layers_are_paired_by_number_depth_or_as_asked() -> None:
    short, long = _random(4), _random(4, layers=5)
    with pytest.raises(ValueError, match=r"a has 2 layers and b 5.*layers='depth'"):
        aw.compare(short, long)
    deep = aw.compare(short, long, layers="depth")
    assert [deep.partner(layer, 1) for layer in range(2)] == [(0, 1), (4, 1)]
    assert aw.compare(short, long, layers={1: 3}).partner(1, 2) == (3, 2)
    with pytest.raises(ValueError, match="b has no layer 7"):
        aw.compare(short, long, layers={0: 7})


def test_heads_are_paired_as_matched() -> None:
    record = _random(5, heads=4)
    order = [2, 0, 3, 1]
    layers = [np.stack([record.weights(layer, head) for head in order]) for layer in range(2)]
    other = aw.AttentionRecord.from_arrays(layers, record.tokens()[0])
    with pytest.raises(ValueError, match="has 4 heads"):
        aw.compare(record, _random(5))
    heads = [
        HeadMatch(Head(layer, head), Head(layer, order.index(head)), 0, 0)
        for layer in range(2)
        for head in range(4)
    ]
    assert (aw.compare(record, other, heads=heads).table()["moved"] == 0).all()
    with pytest.raises(ValueError, match="layer 1 of b has no head 9"):
        aw.compare(record, other, heads=[HeadMatch(Head(0, 0), Head(1, 9), 0, 0)])


def test_the_metrics_are_those_of_a_view() -> None:
    a, b = _random(4), _random(4, seed=1)
    found = aw.compare(a, b, layers={1: 0})
    metrics = found.metrics()
    widget = aw.AttentionWidget(a, metrics=metrics, color="moved", map_x="moved", map_y="cosine")
    assert widget.color == "moved"
    assert np.isnan(metrics["moved"].values()[0]).all()
    assert metrics["moved"].values()[1].tolist() == found.table()["moved"].tolist()
    assert metrics["moved"].null_values()[1].tolist() == found.table()["moved_null"].tolist()


def test_what_cannot_be_compared_is_said() -> None:
    a = _random(4)
    with pytest.raises(TypeError, match="b is str; expected an AttentionRecord"):
        aw.compare(a, "record.safetensors")  # type: ignore[arg-type]
    other = aw.AttentionRecord.from_arrays([a.weights(0, 0)[None]], list("wxyz"))
    with pytest.raises(ValueError, match="no token in common"):
        aw.compare(a, other)
    with pytest.raises(ValueError, match="words of a text are not known"):
        aw.compare(a, a, level="words")
    with pytest.raises(ValueError, match="level is 'word'; expected one of 'tokens'"):
        aw.compare(a, a, level="word")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no stack 'cross'"):
        aw.compare(a, a, stack="cross")
    with pytest.raises(IndexError, match="head 0-7 is not compared"):
        aw.compare(a, a).weights(0, 7)


def test_texts_with_little_in_common_give_a_warning(minilm: Loaded) -> None:
    def record(text: str) -> aw.AttentionRecord:
        return aw.capture(*minilm, text)

    with pytest.warns(UserWarning, match="only 1 of 5 tokens in common"):
        found = aw.compare(record("Dogs ran home quickly."), record(TEXT))
    assert len(found.keys().pairs) == 4
    # Of the shorter text, all is in common.
    aw.compare(record("the trophy"), record(TEXT))
