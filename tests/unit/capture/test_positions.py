"""Tokens that a reader names by a text, by characters or by a segment."""

from typing import Any

import numpy as np
import pytest

import attnwidget as aw
from attnwidget.analysis import positions
from attnwidget.record import Tokens
from tests.unit.records import PROGRAMS, layer_of, record_of

LABELS = ("[CLS]", "The", "law", "##yer", "saw", "the", "judge", ".", "[SEP]")
OFFSETS = (None, (0, 3), (4, 7), (7, 10), (11, 14), (15, 18), (19, 24), (24, 25), None)
TOKENS = Tokens(LABELS, segments=(0, 0, 0, 0, 0, 1, 1, 1, 1), special=(0, 8), offsets=OFFSETS)


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ({"text": "lawyer"}, range(2, 4)),
        ({"text": "The lawyer"}, range(1, 4)),
        ({"text": "Judge."}, range(6, 8)),
        ({"text": "the"}, range(5, 6)),  # with capitals, it is another token
        ({"text": "[CLS]"}, range(1)),
        ({"characters": (4, 10)}, range(2, 4)),
        ({"characters": (9, 12)}, range(3, 5)),
        ({"segment": "A"}, range(5)),
        ({"segment": "B"}, range(5, 9)),
    ],
)
def test_what_is_named(named: Any, expected: range) -> None:
    assert positions(TOKENS, **named) == expected


@pytest.mark.parametrize(
    ("named", "error", "message"),
    [
        ({"text": "THE"}, ValueError, "'THE' occurs 2 times, at the positions 1, 5: give"),
        ({"text": "yer saw the j"}, ValueError, r"no tokens are the text .*; there are 0 '\[CLS"),
        ({"text": "  "}, ValueError, "the text is empty"),
        ({"characters": (30, 40)}, ValueError, "no token has characters 30 to 40; .* 0 to 25"),
        ({"segment": "C"}, ValueError, "no segment 'C': there are 'A', 'B'"),
        ({}, TypeError, "give one of text"),
        ({"text": "saw", "segment": "A"}, TypeError, "give one of text"),
    ],
)
def test_what_is_not_there(named: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        positions(TOKENS, **named)


def test_tokens_of_one_text_without_characters() -> None:
    tokens = Tokens(("a", "b"))
    with pytest.raises(ValueError, match="characters of these tokens are not known"):
        positions(tokens, characters=(0, 1))
    with pytest.raises(ValueError, match="these tokens have no segments"):
        positions(tokens, segment="A")


def test_a_record_in_place_of_its_tokens() -> None:
    with pytest.raises(TypeError, match=r"tokens is AttentionRecord; .* record.stack\(\).keys"):
        positions(record_of(layer_of(PROGRAMS["causal"])), "dog")  # type: ignore[arg-type]


def test_a_segment_that_has_no_token() -> None:
    with pytest.raises(ValueError, match="no token is in segment 'B'"):
        positions(Tokens(("a", "b"), segments=(0, 0)), segment="B")


def test_signs_of_whitespace_are_no_text() -> None:
    tokens = Tokens(("Hi", "⏎", "␣␣", "you", "there"))
    assert positions(tokens, "Hi\n  you") == range(4)
    assert positions(tokens, "you there") == range(3, 5)


def test_edges_between_texts() -> None:
    record = record_of(layer_of(PROGRAMS["causal"]))
    labels = record.tokens()[1]
    edge = aw.KnockOut(labels[4], labels[1], record=record)
    assert aw.KnockOut([labels[4], 2], labels[1], record=record).queries == (4, 2)
    assert (list(edge.queries), list(edge.keys)) == ([4], [1])  # type: ignore[arg-type]
    assert aw.KnockOut(4, np.arange(2).tolist()) == aw.KnockOut(4, [0, 1])
    with pytest.raises(ValueError, match="queries has the text 'saw': give record="):
        aw.KnockOut("saw", 1)
    with pytest.raises(TypeError, match="record is str; expected an AttentionRecord"):
        aw.KnockOut("saw", 1, record="She saw it")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^keys of stack 'self': no tokens are the text 'x'"):
        aw.KnockOut(4, "x", record=record)
    several = aw.AttentionRecord({"encoder": record.stack(), "cross": record.stack()})
    with pytest.raises(ValueError, match=r"'encoder': .* give stack=, one of 'encoder', 'cross'"):
        aw.KnockOut(4, "x", record=several)
    with pytest.raises(ValueError, match="keys has -1; positions count from 0"):
        aw.KnockOut(1, [0, -1])
