"""Words of several tokens, and their labels."""

from __future__ import annotations

import re
from typing import NamedTuple

from attnwidget.record import Tokens

# Labels of a token inside a word keep BERT's sign, and begin with a circle under a combining mark.
# BERT splits every "#" of a text; other tokenizers do not.
_INSIDE = re.compile("(?:##(?=[^#]))?\u25cc?")
# Labels of tokens that share a character have its number among them: "🦜 1/3".
_FIRST_SHARE = re.compile(r"(.+) 1/\d+")
_LATER_SHARE = re.compile(r".+ (?!1/)\d+/\d+")
_SHARES = " + "
# A space that is a token of its own.
_SPACE = "\u2423"


class Words(NamedTuple):
    """The words of a token sequence.

    Attributes:
        labels: their texts, in order.
        of: the word of each token, an index of `labels`.
    """

    labels: tuple[str, ...]
    of: tuple[int, ...]


def words(tokens: Tokens) -> Words | None:
    """The words of a token sequence; None if they are unknown.

    A token of no word, such as [CLS], counts as a word of its own.
    """
    if tokens.words is None:
        return None
    parts: list[list[str]] = []
    of: list[int] = []
    last: int | None = None
    for label, word in zip(tokens.labels, tokens.words, strict=True):
        if word is None or word != last:
            parts.append([])
        parts[-1].append(label)
        of.append(len(parts) - 1)
        last = word
    return Words(tuple(map(_joined, parts)), tuple(of))


def _joined(labels: list[str]) -> str:
    """The label of a word from those of its tokens."""
    if len(labels) == 1:
        return labels[0]
    first, *rest = labels
    text = _whole(first) + "".join(map(label_text, rest))
    return text.lstrip(_SPACE) or text


def label_text(label: str) -> str:
    """The text that a token adds to a word, without the sign of a token inside one."""
    return _whole(_INSIDE.sub("", label, count=1))


def _whole(label: str) -> str:
    """The text that a token adds to a word; a shared character belongs to its first token."""
    shown = []
    for part in label.split(_SHARES):
        if first := _FIRST_SHARE.fullmatch(part):
            shown.append(first[1])
        elif not _LATER_SHARE.fullmatch(part):
            shown.append(part)
    return "".join(shown)
