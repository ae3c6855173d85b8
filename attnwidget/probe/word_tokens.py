"""The tokens of each word, for every tokenizer."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any, TypeAlias

import numpy as np

from attnwidget.record import Floats, Tokens
from attnwidget.running.labels import text_tokenizer
from attnwidget.running.words import word_spans

from .annotated import Annotated

# (start, end) of each token in the text, in characters; None for tokens that stand for none.
_Spans: TypeAlias = "Sequence[tuple[int, int] | None]"

# A label of one of several tokens that share a character: "🦜 2/3".
_FRACTION = re.compile(r"^(.*) (\d+)/\d+$", re.DOTALL)

# A label of whitespace: "␣␣", "␣×4".
_SPACES = re.compile(r"[␣⏎⇥␍]+(×\d+)?")


def tokens_of_words(tokenizer: Any, text: Annotated, tokens: Tokens) -> Floats:
    """The tokens of each word: 1 for those that belong to it, float32 [words, tokens].

    A token belongs to the word with which it shares most characters. Words for which none is left,
    as where one token has both "do" and "n't", share the tokens that have their characters. The row
    of a word without any token is 0: the tokenizer drops its characters.

    Args:
        tokens: the tokens of the whole text.
    """
    tokenizer = text_tokenizer(tokenizer)
    source = text.text or ""
    spans: _Spans | None = None
    if getattr(tokenizer, "is_fast", False):
        positions = list(range(len(tokens)))
        spans = word_spans(tokenizer(source), 0, positions, (source,))[1]
    if spans is None:
        return tokens_by_labels(text, tokens, getattr(tokenizer, "unk_token", None))
    return _members(text, spans)


def tokens_by_labels(text: Annotated, tokens: Tokens, unknown: str | None) -> Floats:
    """The tokens of each word, by comparing the letters of their labels; see `tokens_of_words`.

    Args:
        unknown: the label of an unknown token, if there is one.
    """
    return _members(text, _matched_spans(text.text or "", tokens, unknown))


def span_of(members: Floats, shift: int = 0) -> tuple[int, int]:
    """(start, end) of the tokens of a word, from the first to the last, moved by a number."""
    positions = np.flatnonzero(members)
    return int(positions[0]) + shift, int(positions[-1]) + 1 + shift


def _members(text: Annotated, spans: _Spans) -> Floats:
    """The tokens of each word, from the characters of the tokens."""
    edges = np.array([span or (0, 0) for span in spans]).reshape(-1, 2)
    words = np.array(text.spans).reshape(-1, 2)
    shared = np.minimum(edges[:, 1], words[:, 1:]) - np.maximum(edges[:, 0], words[:, :1])
    shared = shared.clip(0)
    best = shared.argmax(axis=0)
    # Words that are written as one have the same characters, and all of them have its tokens.
    members = (words[:, None] == words[best]).all(axis=-1) & (shared.max(axis=0) > 0)
    without = ~members.any(axis=1)
    members[without] = shared[without] > 0
    found: Floats = members.astype(np.float32)
    return found


def _matched_spans(text: str, tokens: Tokens, unknown: str | None) -> _Spans:
    """The characters of tokens whose tokenizer does not tell them, by comparing the labels.

    Letters are compared without case and accents. Tokens of which no character is found, such as
    an unknown word, stand for the characters between their neighbours; those of whitespace do not.
    """
    places = [place for place, char in enumerate(text) for _ in _folded(char)]
    owners: list[int] = []
    letters: list[str] = []
    # Tokens that continue a character of the one before.
    continued: set[int] = set()
    for token, label in enumerate(tokens.labels):
        if token in tokens.special or label == unknown:
            continue
        fraction = _FRACTION.match(label)
        if fraction is not None:
            label = fraction[1]
            if fraction[2] != "1":
                continued.add(token)
                continue
        for letter in "".join(map(_folded, label.removeprefix("##"))):
            owners.append(token)
            letters.append(letter)
    matcher = SequenceMatcher(None, "".join(map(_folded, text)), "".join(letters), autojunk=False)
    found: dict[int, tuple[int, int]] = {}
    for block in matcher.get_matching_blocks():
        for step in range(block.size):
            token, place = owners[block.b + step], places[block.a + step]
            start, end = found.get(token, (place, place))
            found[token] = min(start, place), max(end, place + 1)
    for token in range(len(tokens)):
        if token in continued and token - 1 in found:
            found[token] = found[token - 1]
        elif token not in found and not _SPACES.fullmatch(tokens.labels[token]):
            start = max((end for t, (_, end) in found.items() if t < token), default=0)
            following = (start for t, (start, _) in found.items() if t > token)
            end = min(following, default=len(text))
            if text[start:end].strip():
                found[token] = start, end
    return [found.get(token) for token in range(len(tokens))]


def _folded(char: str) -> str:
    """A character without case, accents and whitespace."""
    parts = unicodedata.normalize("NFKD", char.casefold())
    return "".join(part for part in parts if not (unicodedata.combining(part) or part.isspace()))
