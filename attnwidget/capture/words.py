"""The word that each token belongs to, and the characters of its text that it stands for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, TypeAlias

Words: TypeAlias = tuple[int | None, ...] | None
Offsets: TypeAlias = tuple[tuple[int, int] | None, ...] | None

# The number of a text and of a word in it, and of a piece of that word if it was several.
_Word: TypeAlias = tuple[int | None, ...]

# SentencePiece's sign for a space.
_METASPACE = "\u2581"
_SEVERAL_WORDS = re.compile(r"\S\s+\S")
# A word takes along the one space before it, as it does in most tokenizers; other whitespace is
# apart.
_PIECE = re.compile(r" ?\S+|\s+(?= \S)|\s+")


def word_spans(
    encoding: Any, batch_index: int, positions: list[int], texts: tuple[str, ...] | None = None
) -> tuple[Words, Offsets]:
    """(words, offsets) of the tokens at `positions` of one item of a batch.

    A word is a number from 0 on; the second text of a pair goes on where the first ends. Offsets
    are (start, end) in the token's own text, in code points. Tokens that the tokenizer added, such
    as [CLS], have neither. Only what a fast tokenizer returned says either; else both are None.

    Args:
        texts: what was tokenized. Some tokenizers (Llama's, Gemma's) take a whole text for one
            word. It is then split at its whitespace, or the words are None without it.
    """
    tokens = _encoding(encoding, batch_index)
    if tokens is None or not set(positions) <= set(range(len(tokens))):
        return None, None
    words: list[_Word | None] = [
        None if text is None else (text, word)
        for text, word in zip(tokens.sequence_ids, tokens.word_ids, strict=True)
    ]
    spans: list[tuple[int, int]] = tokens.offsets
    offsets: Offsets = None
    if texts or not _start_anew(words, spans):
        offsets = tuple(spans[p] if words[p] is not None else None for p in positions)
    if not _split(words, spans, tokens.tokens, texts or ()):
        return None, offsets
    numbers: dict[_Word, int] = {}
    return tuple(
        None if (word := words[p]) is None else numbers.setdefault(word, len(numbers))
        for p in positions
    ), offsets


def _encoding(encoding: Any, batch_index: int) -> Any:
    """The tokenizer's own account of one item, or None if there is none or it is out of date."""
    encodings = getattr(encoding, "encodings", None)
    if not encodings or not 0 <= batch_index < len(encodings) or "input_ids" not in encoding:
        return None
    ids = encoding["input_ids"]
    rows = ids.tolist() if hasattr(ids, "tolist") else ids
    if encodings[batch_index].ids in (rows, *rows[batch_index : batch_index + 1]):
        return encodings[batch_index]
    return None


def _start_anew(words: Sequence[_Word | None], spans: Sequence[tuple[int, int]]) -> bool:
    """True if offsets count from the start of each word: the text was given in words."""
    starts: dict[int | None, list[int]] = {}
    previous = None
    for word, (start, _) in zip(words, spans, strict=True):
        if word is not None and word != previous:
            starts.setdefault(word[0], []).append(start)
        previous = word
    return any(
        len(found) > 1 and (not any(found) or any(b < a for a, b in pairwise(found)))
        for found in starts.values()
    )


def _split(
    words: list[_Word | None],
    spans: Sequence[tuple[int, int]],
    names: Sequence[str],
    texts: tuple[str, ...],
) -> bool:
    """Split in place what is several words by its whitespace; False if that cannot be known."""
    members: dict[_Word, list[int]] = {}
    for token, word in enumerate(words):
        if word is not None:
            members.setdefault(word, []).append(token)
    pieces: dict[int, list[int]] = {}
    for word, inside in members.items():
        number = word[0] or 0
        if number >= len(texts):
            if _SEVERAL_WORDS.search("".join(names[t] for t in inside).replace(_METASPACE, " ")):
                return False
            continue
        text = texts[number]
        start, end = min(spans[t][0] for t in inside), max(spans[t][1] for t in inside)
        if not _SEVERAL_WORDS.search(text, start, end):
            continue
        if number not in pieces:
            pieces[number] = [
                piece for piece, found in enumerate(_PIECE.finditer(text)) for _ in found[0]
            ]
        for token in inside:
            words[token] = (*word, pieces[number][_first_shown(text, *spans[token])])
    return True


def _first_shown(text: str, start: int, end: int) -> int:
    """The first character of text[start:end] that is not whitespace, else the last one."""
    shown = start + len(text[start:end]) - len(text[start:end].lstrip())
    return min(shown, max(start, end - 1), len(text) - 1)
