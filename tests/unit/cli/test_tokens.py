"""--query: a position, or a token's text"""

import pytest

from attnwidget.cli.tokens import position_of
from attnwidget.record import Tokens

TOKENS = Tokens(("[CLS]", "the", "The", "cat", "##s", "7", "7", "12", "cat"))


@pytest.mark.parametrize(
    ("query", "position"),
    [("0", 0), ("8", 8), ("the", 1), ("The", 2), ("[cls]", 0), ("##s", 4), ("7", 7), ("12", 7)],
)
def test_one(query: str, position: int) -> None:
    assert position_of(query, TOKENS) == position


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("cat", "2 tokens are 'cat', so give a position: 3 'cat', 8 'cat'$"),
        ("THE", "2 tokens are 'THE', so give a position: 1 'the', 2 'The'$"),
        ("cats", r"no query is the token 'cats'; there are 0 '\[CLS\]', 1 'the', .* 8 'cat'$"),
        ("c", r"no query is the token 'c'; these contain it: 0 '\[CLS\]', 3 'cat', 8 'cat'$"),
        ("9", "no query is the token '9'; there are 0 "),
        ("-1", "no query is the token '-1'; there are 0 "),
        ("", "no query is the token ''; there are 0 "),
    ],
)
def test_none_or_several(query: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        position_of(query, TOKENS)


def test_a_long_text_is_not_listed_as_a_whole() -> None:
    with pytest.raises(ValueError, match=r"0 'a', .* 11 'a', \.\.\.$"):
        position_of("b", Tokens(("a",) * 1000))
