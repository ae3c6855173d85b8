"""Layers without a softmax: numbers of their coefficients, and reasons for what they lack."""

import numpy as np
import pytest

from attnwidget import AttentionRecord
from attnwidget.analysis import (
    ATTENTION,
    COEFFICIENTS,
    CONTRIBUTION,
    LENSES,
    HeadSummary,
    by_segments,
    by_words,
    combined_heads,
    compare,
    contributions,
    flow,
    mixing_ratio,
    on_image,
    own_lenses,
    pattern_of,
    reading,
    rollout,
    running_text,
    summarize_heads,
    text_shares,
    value_norms,
)
from attnwidget.analysis import metrics as table
from attnwidget.analysis.patterns import PATTERNS
from attnwidget.analysis.thumbnails import signed_cells, signed_levels
from attnwidget.record import Floats, Grid, Patches, Stack, Tokens
from tests.unit.records import HEADS, LENGTH, floats, record_with_every_program
from tests.unit.signed import kept, linear, recurrent, with_both


def summaries(coefficients: Floats) -> list[HeadSummary]:
    layer = kept(coefficients)
    return summarize_heads(linear(layer), layer)


def test_metrics_are_of_magnitudes_and_signs() -> None:
    # Σ|a| is 2, 4 and 0; the last row has no number.
    head = np.array([[2, 0, 0], [-3, 1, 0], [0, 0, 0]], np.float32)
    [found] = summaries(head[None])
    expected = {
        "distance": -0.375,
        "previous": 0.75,
        "same": 0.625,
        "next": 0,
        "first": 0.875,
        "special": 0.875,
        "negative": 0.375,
        "row_sum": 0,
    }
    assert {name: found.metrics[name] for name in expected} == expected
    assert not {"entropy", "entropy_first"} & found.metrics.keys()
    assert PATTERNS[pattern_of(found.metrics)] == "rests on the first token"


def test_thumbnails_have_signs_and_a_peak() -> None:
    head = np.array([[0.5, 0, 0], [-2, 0.5, 0], [0, 0.02, -0.5]], np.float32)
    [found] = summaries(head[None])
    assert found.peak == 2
    # √(0.5 / 2) is half of seven levels.
    assert found.levels.tolist() == [[12, 8, 8], [1, 12, 8], [8, 9, 4]]


@pytest.mark.parametrize("length", [LENGTH, 100])
def test_thumbnails_of_a_recurrence_are_the_largest_of_their_cells(length: int) -> None:
    layer = recurrent(length=length)
    stack = linear(layer)
    for head, found in enumerate(summarize_heads(stack, layer)):
        numbers = layer.head_coefficients(head)
        cells = signed_cells(stack, lambda rows, of=numbers: of[rows], np.arange(length))
        assert found.peak == pytest.approx(np.abs(numbers).max())
        np.testing.assert_array_equal(found.levels, signed_levels(cells, np.abs(numbers).max()))


def test_the_table_has_all_that_each_stack_has() -> None:
    rows = table(with_both()).set_index(["stack", "layer"])
    own, softmax = rows.loc["linear"], rows.loc["self"]
    assert own["entropy"].isna().all()
    assert own["previous"].between(0, 1).all()
    assert own["negative"].between(0, 1).all()
    assert softmax[["negative", "row_sum"]].isna().all(axis=None)
    assert softmax["entropy"].notna().all()
    assert "negative" not in table(record_with_every_program())


def test_attention_is_read_as_coefficients() -> None:
    record = with_both()
    stack, layer = record.stack("linear"), record.layer(1, "linear")
    lens = reading(ATTENTION, stack)
    assert (lens, lens.name) == (COEFFICIENTS, "attention")
    assert reading(ATTENTION, record.stack("self")) is ATTENTION
    np.testing.assert_array_equal(lens.matrix(record, "linear", 1, 2), layer.head_coefficients(2))
    lacking = [each for each in LENSES if each not in (ATTENTION, CONTRIBUTION)]
    for each in lacking:
        why = each.why_not(record, "linear", 1)
        assert why is not None
        assert why.brief == "no softmax"
        assert "signed coefficients" in why.sentence


def test_lenses_of_ones_own_are_matrices() -> None:
    record = with_both()
    factors = np.ones((3, HEADS, LENGTH))
    mine, matrices = own_lenses(
        record,
        {
            "mine": {"factors": {"linear": factors}},
            "whole": {"linear": np.ones((3, HEADS, LENGTH, LENGTH))},
        },
    )
    why = mine.why_not(record, "linear", 1)
    assert why is not None
    assert why.brief == "no softmax"
    assert matrices.why_not(record, "linear", 1) is None


def test_what_needs_a_softmax_says_so() -> None:
    stack = with_both().stack("linear")
    for of_stack in (rollout, flow):
        with pytest.raises(ValueError, match=r"layer has no softmax.*rows are shares"):
            of_stack(stack)
    for of_layer in (mixing_ratio, value_norms):
        with pytest.raises(ValueError, match="layer 2 has no softmax"):
            of_layer(stack.layers[2])


def test_combined_heads_are_of_shares() -> None:
    stack = linear(recurrent())
    shares = [stack.layers[0].head_shares(head) for head in range(HEADS)]
    np.testing.assert_allclose(combined_heads(stack).mean, np.mean(shares, axis=0), atol=1e-6)


def test_running_texts_and_images_have_shares() -> None:
    layer = recurrent()
    offsets = tuple((2 * at, 2 * at + 1) for at in range(LENGTH))
    patches = Patches((Grid(2, 3),), (None, *range(6)))
    tokens = Tokens(
        tuple("abcdefg"), text="a b c d e f g", offsets=offsets, generated=4, patches=patches
    )
    stack = Stack(tokens, tokens, (layer,))
    text = running_text(stack)
    assert text is not None
    shares = np.array([layer.head_shares(head) for head in range(HEADS)])
    np.testing.assert_allclose(text_shares(stack, text).mean, shares.mean(axis=0)[3:], atol=1e-6)
    record = AttentionRecord({"linear": stack})
    pixels = on_image(record, 0, 1, 6, size=(3, 2))
    np.testing.assert_allclose(pixels, shares[1, 6, 1:].reshape(2, 3), atol=1e-6)


def test_words_sum_coefficients() -> None:
    tokens = Tokens(("a", "##b", "c"), words=(0, 0, 1))
    head = np.array([[1, 0, 0], [3, -1, 0], [-1, 2, 4]], np.float32)
    record = AttentionRecord({"linear": Stack(tokens, tokens, (kept(head[None]),))})
    assert by_words(record).coefficients(0, 0).tolist() == [[1.5, 0], [1, 4]]


def test_two_records_are_compared_by_coefficients() -> None:
    def record(*layers: Floats) -> AttentionRecord:
        return AttentionRecord({"linear": linear(*(kept(each[None]) for each in layers))})

    a = np.tril(floats(LENGTH, LENGTH))
    found = compare(record(a), record(-a))
    np.testing.assert_array_equal(found.difference(0, 0), -2 * a)
    [row] = found.table().to_dict("records")
    assert row["cosine"] == pytest.approx(-1)
    # The magnitudes are the same.
    assert row["moved"] == row["divergence"] == 0
    assert row["weight_change"] == pytest.approx(np.abs(2 * a).mean())
    assert found.records[1].coefficients(0, 0).tolist() == (-a).tolist()
    both = with_both()
    softmax = AttentionRecord({"linear": both.stack("self")})
    with pytest.raises(ValueError, match="b has no softmax"):
        compare(softmax, both)


def test_coefficients_of_words_are_no_contributions() -> None:
    of_words = by_segments(with_both(), [(1, 3, "a")], stack="linear")
    [first, *_] = of_words.stack("linear").layers
    assert (first.signed, first.of_channels) == (True, False)
    assert reading(ATTENTION, of_words.stack("linear")) is COEFFICIENTS
    with pytest.raises(ValueError, match="has no values"):
        contributions(first)
