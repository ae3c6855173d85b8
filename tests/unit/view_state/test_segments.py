"""The tokens that a choice of segments shows."""

import numpy as np
import pytest

from attnwidget.record import Fidelity, Layer, Stack, Tokens
from attnwidget.view_state.following import following
from attnwidget.view_state.segments import segment_choice, shown_positions

# [CLS] a b [SEP] c d [SEP]
TOKENS = Tokens(
    ("[CLS]", "a", "b", "[SEP]", "c", "d", "[SEP]"), (0, 0, 0, 0, 1, 1, 1), special=(0, 3, 6)
)
LAYER = Layer(
    None,
    None,
    None,
    np.full((1, 7, 7), 1 / 7, np.float32),
    Fidelity("given", "", "", None, None, 1e-5, 0),
)
NAMED = [(1, 3, "the subject")]


@pytest.mark.parametrize(
    ("choice", "queries", "keys"),
    [
        ("all", range(7), range(7)),
        ("content", [1, 2, 4, 5], [1, 2, 4, 5]),
        ("ab", range(4), [4, 5, 6]),
        ("content ab", [1, 2], [4, 5]),
        ("content from:3-5", [4], [1, 2, 4, 5]),
        ("content to:6-7", [1, 2, 4, 5], [6]),
    ],
)
def test_what_is_shown(choice: str, queries: list[int], keys: list[int]) -> None:
    shown = shown_positions(Stack(TOKENS, TOKENS, (LAYER,)), choice)
    assert [*map(list, shown)] == [list(queries), list(keys)]


@pytest.mark.parametrize(
    ("chosen", "choice"),
    [
        ("content", "content"),
        ("content all", "content"),
        ("content ba", "content ba"),
        ("from:the subject", "from:1-3"),
        ("content from:the subject", "content from:1-3"),
        ("content from:1-3", "content from:1-3"),
    ],
)
def test_names_become_positions(chosen: str, choice: str) -> None:
    assert segment_choice(chosen, NAMED) == choice


@pytest.mark.parametrize("chosen", ["contents", "content abc", "ab content", "content content"])
def test_what_does_not_exist_is_said(chosen: str) -> None:
    with pytest.raises(
        ValueError, match=r"there are 'all', 'aa'.*and each of them without special"
    ):
        segment_choice(chosen, NAMED)


@pytest.mark.parametrize(
    ("chosen", "left"),
    [
        ("from:1-3", "all"),
        ("content from:1-3", "content"),
        ("content to:4-6", "content to:4-6"),
        ("content ab", "content ab"),
    ],
)
def test_a_segment_that_is_named_no_more_is_not_shown_either(chosen: str, left: str) -> None:
    before = {"segments": chosen, "named_segments": NAMED, "head": 0, "parts": "sentences"}
    stack = Stack(TOKENS, TOKENS, (LAYER,))
    follow = following(stack, before, "named_segments", [(4, 6, "the object")])
    assert follow == {"segments": left}


def test_named_parts_end_with_their_segments() -> None:
    before = {"segments": "all", "named_segments": NAMED, "head": 0, "parts": "named", "part": 2}
    stack = Stack(TOKENS, TOKENS, (LAYER,))
    follow = following(stack, before, "named_segments", [])
    assert follow == {"segments": "all", "parts": "sentences", "part": None, "cut_part": None}
