"""Running texts: sentences, sinks, and what an answer was written from."""

from typing import Any

import numpy as np
import pytest

from attnwidget.analysis import (
    SentenceOrder,
    combined_heads,
    place_ratios,
    rollout,
    running_text,
    sentence_orders,
    sentence_spans,
    text_shares,
)
from attnwidget.record import AttentionRecord, Piece, Stack, Tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dr. Ada came. She left!", ["Dr. Ada came.", "She left!"]),
        ("Built in 1871. Then J. R. sold it.", ["Built in 1871.", "Then J. R. sold it."]),
        ("It was\nwrapped. Yes.", ["It was\nwrapped.", "Yes."]),
        ("1. One\n2. Two\n- three", ["1. One", "2. Two", "- three"]),
        ("See:\n```py\na = 1. \n\nb\n```\nDone.", ["See:", "```py\na = 1. \n\nb\n```", "Done."]),
        ("这是一句。这是第二句！", ["这是一句。", "这是第二句！"]),
        ('He said "Why?" At 3.5 p.m. we left.', ['He said "Why?"', "At 3.5 p.m. we left."]),
        ("هذا سؤال؟ نعم.", ["هذا سؤال؟", "نعم."]),
        ("", []),
    ],
)
def test_a_text_is_divided_into_sentences(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in sentence_spans(text)] == expected


def _stack(answer: int) -> Stack:
    """A chat of two sentences, and an answer, of which all tokens but the last are read."""
    text = "<u>A cat. It sat.</u>" + answer * "Cat"
    labels = ("<u>", "A", "cat.", "It", "sat.", "</u>", *answer * ["Cat"])
    offsets = ((0, 3), (3, 4), (4, 9), (9, 12), (12, 17), (17, 21))
    offsets += tuple((21 + 3 * at, 24 + 3 * at) for at in range(answer))
    pieces = (
        Piece(0, 1, "user", 0, True),
        Piece(1, 5, "user", 0, False),
        Piece(5, 6, "assistant", 1, True),
        Piece(6, 6 + answer, "assistant", 1, False),
    )
    tokens = Tokens(labels, offsets=offsets, generated=6, text=text, pieces=pieces)
    size = len(labels)
    weights = np.tril(np.random.default_rng(0).random((3, size, size)) + 0.01)
    weights /= weights.sum(-1, keepdims=True)
    # "It" gets more than half of every row.
    weights[:, 5:] /= 2
    weights[:, 5:, 3] += 0.5
    stack = AttentionRecord.from_arrays(weights[None].astype(np.float32), labels).stack()
    return Stack(tokens, tokens, stack.layers)


def test_shares_are_sums_of_the_rows_that_wrote_the_answer() -> None:
    stack = _stack(answer=8)
    found = running_text(stack)
    assert found is not None
    assert found.rows == range(5, 14)
    assert found.sentences == ((1, 3), (3, 5))
    assert found.template == (0, 5)
    assert [piece.role for piece in found.messages] == ["user", "assistant"]
    shares = text_shares(stack, found)
    weights = np.stack([stack.layers[0].head_weights(head) for head in range(3)])[:, 5:]
    np.testing.assert_allclose(shares.mean, weights.mean(0), atol=1e-6)
    assert [(sink.label, sink.keys) for sink in shares.sinks] == [
        ("first token", (0,)),
        ("template", (5,)),
        ("It", (3,)),
    ]
    np.testing.assert_allclose(shares.heads[:, 0], weights[:, :, 1:3].sum(2).T, atol=1e-6)
    np.testing.assert_allclose(shares.heads[:, 1], weights[:, :, 4].T, atol=1e-6)
    factors = np.arange(1, 3 * len(found.keys) + 1, dtype=np.float32).reshape(3, -1)
    weighted = text_shares(stack, found, {0: factors})
    own = weights * factors[:, None]
    own /= own.sum(-1, keepdims=True)
    np.testing.assert_allclose(weighted.mean, own.mean(0), atol=1e-6)
    np.testing.assert_allclose(weighted.heads[:, 0], own[:, :, 1:3].sum(2).T, atol=1e-6)
    assert weighted.sinks == shares.sinks


def test_what_a_short_answer_was_written_from_is_no_sink() -> None:
    stack = _stack(answer=2)
    found = running_text(stack)
    assert found is not None
    assert [sink.label for sink in text_shares(stack, found).sinks] == ["first token", "template"]


def test_a_stack_without_a_text_has_no_running_text() -> None:
    assert (
        running_text(AttentionRecord.from_arrays(np.full((1, 1, 2, 2), 0.5), ["a", "b"]).stack())
        is None
    )


def test_sentences_in_other_orders_keep_their_tokens_and_their_message() -> None:
    stack = _stack(answer=2)
    text = running_text(stack)
    assert text is not None
    orders = list(sentence_orders(text, 20, seed=0))
    swapped = next(order for order in orders if order.keys[1] == 3)
    assert swapped.keys.tolist() == [0, 3, 4, 1, 2, 5, 6, 7]
    assert (swapped.sentences, swapped.spans) == ((1, 0), ((1, 3), (3, 5)))
    assert any(order.keys.tolist() == list(range(8)) for order in orders)


def test_a_place_gets_a_multiple_of_an_even_share() -> None:
    text = running_text(_stack(answer=2))
    assert text is not None
    order = SentenceOrder(np.array([0, 3, 4, 1, 2, 5, 6, 7]), (1, 0), ((1, 3), (3, 5)))
    counted = np.array([False, True, True, True, False, False, False, False])
    # Now "It" (3), "sat" (a sink), "A" and "cat" stand there.
    mean = np.array([[0.1, 0.3, 0.2, 0.1, 0.2, 0.1, 0, 0]], np.float32)
    ratios = place_ratios(order, counted, mean)
    assert ratios[0] == pytest.approx([(0.3 / 0.6) / (1 / 3), (0.3 / 0.6) / (2 / 3)])
    counted[3] = False
    assert np.isnan(place_ratios(order, counted, mean)[0, 0])
    stays = SentenceOrder(np.arange(8), (0, 1), ((1, 3), (3, 5)))
    assert np.isnan(place_ratios(stays, counted, mean)).all()


def test_the_first_position_is_a_sink_whichever_token_stands_there() -> None:
    counted = np.array([False, True, True, True])
    order = SentenceOrder(np.array([2, 3, 0, 1]), (1, 0), ((0, 2), (2, 4)))
    # Even attention, but for the first position.
    mean = np.array([[0.7, 0.1, 0.1, 0.1]], np.float32)
    # The token that stood first counts as any other now, but is not among those that were counted.
    assert place_ratios(order, counted, mean)[0] == pytest.approx([1, 1])


@pytest.mark.parametrize("of_stack", [running_text, text_shares, rollout, combined_heads])
def test_a_record_in_place_of_its_stack_is_named(of_stack: Any) -> None:
    record = AttentionRecord.from_arrays([np.full((1, 2, 2), 0.5)], ["a", "b"])
    with pytest.raises(TypeError, match=r"stack is AttentionRecord; expected a Stack, as of rec"):
        of_stack(record, *([None] if of_stack is text_shares else []))
