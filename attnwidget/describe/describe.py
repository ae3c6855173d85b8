"""`describe`: the words for whatever `show` opens and has numbers of its own."""

from __future__ import annotations

from functools import singledispatch
from os import PathLike
from typing import Any

from attnwidget.analysis import Comparison, GridScores, HeadScores
from attnwidget.corpus import HeadProfile
from attnwidget.interventions.answer import Answer
from attnwidget.record import AttentionRecord
from attnwidget.record.described import kind_of_file

from .answers import describe_answer
from .comparisons import describe_comparison
from .profiles import describe_profile
from .records import describe_record
from .scores import describe_grid, describe_scores


def describe(x: Any, /) -> str:
    """Say in words what is there and what stands out: plain text of at most 60 lines.

        describe(record)         or the path of a saved one
        describe(profile)        heads by their words and numbers, beside the nulls
        describe(comparison)     what moves between two records
        describe(scores)         the heads of a scan or a gradient, beside the null of their layer
        describe(grid)           the cells of `patch_scan` beside its null
        describe(answer)         the parts of a prompt that an answer looks at
        describe(widget)         what the view shows now, as `widget.describe()`

    For a reader who does not see the view, or a program. The order is fixed, the same record gives
    the same text, and what is called strongest, highest or most stands with its number. Links are
    ranked without sinks, which are told by their place: special tokens, a chat template's, and in
    self-attention the first token. "Even" is the same number if each query gave as much to every
    key that it sees. Of stacks with more than 17 million weights, evenly spread queries are read,
    which the text says. Where there is more to say than 60 lines hold, the last line names what is
    left out.

    A record has no such method, since it does not import what reads it: this function is to words
    what `show` is to views.

    Raises:
        TypeError: `x` is none of these.
        FileNotFoundError, ValueError: there is no such file, or it is none of attnwidget's.
    """
    return _described(x)


@singledispatch
def _described(x: Any) -> str:
    own = getattr(x, "describe", None)
    if callable(own) and hasattr(x, "record"):
        return str(own())
    raise TypeError(
        f"{type(x).__name__} cannot be described: describe takes a record, a profile, a "
        "comparison, scores of heads or of a grid, an answer, a widget, or the path of a saved "
        "record or profile"
    )


_described.register(AttentionRecord, describe_record)
_described.register(HeadProfile, describe_profile)
_described.register(Comparison, describe_comparison)
_described.register(GridScores, describe_grid)
_described.register(HeadScores, describe_scores)
_described.register(Answer, describe_answer)


@_described.register(str)
@_described.register(PathLike)
def _of_file(path: str | PathLike[str]) -> str:
    kind = HeadProfile if kind_of_file(path, needed=True) == "profile" else AttentionRecord
    return _described(kind.load(path))
