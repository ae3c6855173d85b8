"""The word of each token, and the characters of the text that it stands for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, TypeAlias
from unicodedata import category

Words: TypeAlias = tuple[int | None, ...] | None
Offsets: TypeAlias = tuple[tuple[int, int] | None, ...] | None

# The number of a text, of a word in it, and of a piece if the word was split.
_Word: TypeAlias = tuple[int | None, ...]

# Joins emoji, as 👩 and 🚀 in 👩‍🚀.
_JOINER = "\u200d"
_SKIN_TONES = "🏻🏼🏽🏾🏿"

# SentencePiece's sign for a space.
_METASPACE = "\u2581"
_SEVERAL_WORDS = re.compile(r"\S\s+\S")
# A word includes the one space before it, as in most tokenizers; other whitespace is separate.
_PIECE = re.compile(r" ?\S+|\s+(?= \S)|\s+")


def word_spans(
    encoding: Any, batch_index: int, positions: list[int], texts: tuple[str, ...] | None = None
) -> tuple[Words, Offsets]:
    """(words, offsets) of the tokens at `positions` of one item of a batch.

    Words are numbered from 0, continuing through the second text of a pair. Offsets are (start,
    end) in the token's own text, in code points. Tokens that the tokenizer added, such as [CLS],
    have neither. Both are None without the encoding of a fast tokenizer.

    Args:
        texts: the texts that were tokenized. Some tokenizers (Llama's, Gemma's) report a whole
            text as one word, which is then split at its whitespace; without texts, words are None.
    """
    tokens = encoding_of(encoding, batch_index)
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
    _join(words, spans, texts or ())
    if not _split(words, spans, tokens.tokens, texts or ()):
        return None, offsets
    numbers: dict[_Word, int] = {}
    return tuple(
        None if (word := words[p]) is None else numbers.setdefault(word, len(numbers))
        for p in positions
    ), offsets


def spans_of_ids(tokenizer: Any, ids: list[int], special: Sequence[int]) -> tuple[Words, Offsets]:
    """(words, offsets) of token ids without their text, as of a generated one.

    The text is what the tokenizer reads back from them, without special tokens at either end. Both
    are None if it would split that text in another way, or if it is no fast tokenizer.
    """
    inside = [position for position in range(len(ids)) if position not in special]
    if not inside or not getattr(tokenizer, "is_fast", False):
        return None, None
    begin, end = inside[0], inside[-1] + 1
    text = tokenizer.decode(ids[begin:end], clean_up_tokenization_spaces=False)
    encoding = tokenizer(text, add_special_tokens=False)
    if list(encoding["input_ids"]) != ids[begin:end]:
        return None, None
    words, offsets = word_spans(encoding, 0, list(range(end - begin)), (text,))

    def placed(values: Sequence[Any] | None) -> dict[int, Any]:
        own = enumerate(values or (), begin)
        return {at: each for at, each in own if at not in special}

    numbers: dict[int | None, int] = {}
    in_words = {at: numbers.setdefault(word, len(numbers)) for at, word in placed(words).items()}
    in_text = placed(offsets)
    places = range(len(ids))
    return (
        None if words is None else tuple(map(in_words.get, places)),
        None if offsets is None else tuple(map(in_text.get, places)),
    )


def encoding_of(encoding: Any, batch_index: int) -> Any:
    """The tokenizer's encoding of one item, or None if there is none or the ids have changed."""
    encodings = getattr(encoding, "encodings", None)
    if not encodings or not 0 <= batch_index < len(encodings) or "input_ids" not in encoding:
        return None
    ids = encoding["input_ids"]
    rows = ids.tolist() if hasattr(ids, "tolist") else ids
    if encodings[batch_index].ids in (rows, *rows[batch_index : batch_index + 1]):
        return encodings[batch_index]
    return None


def _start_anew(words: Sequence[_Word | None], spans: Sequence[tuple[int, int]]) -> bool:
    """True if offsets count from the start of each word: the input was split into words."""
    starts: dict[int | None, list[int]] = {}
    previous = None
    for word, (start, _) in zip(words, spans, strict=True):
        if word is not None and word != previous:
            starts.setdefault(word[0], []).append(start)
        previous = word
    return any(
        len(of_text) > 1 and (not any(of_text) or any(b < a for a, b in pairwise(of_text)))
        for of_text in starts.values()
    )


def _join(
    words: list[_Word | None], spans: Sequence[tuple[int, int]], texts: tuple[str, ...]
) -> None:
    """Join words, in place, between which letters with marks, or an emoji, go on: हिन्दी, 👩‍🚀."""
    same: dict[_Word, _Word] = {}
    for token, word in enumerate(words):
        before = words[token - 1] if token else None
        if word is None or (word[0] or 0) >= len(texts):
            continue
        if before is not None and before[0] == word[0] and word not in same:
            same[word] = before if _goes_on(texts[word[0] or 0], spans[token][0]) else word
        words[token] = same.get(word, word)


def _goes_on(text: str, at: int) -> bool:
    """True if the character at this place goes on with the sign, or the letters, before it."""
    if not 0 < at < len(text) or text[at - 1].isspace():
        return False
    before, here = category(text[at - 1]), category(text[at])
    joined = _JOINER in (text[at - 1], text[at]) or text[at] in _SKIN_TONES
    return joined or here.startswith("M") or (before in ("Mc", "Mn") and here.startswith("L"))


def _split(
    words: list[_Word | None],
    spans: Sequence[tuple[int, int]],
    names: Sequence[str],
    texts: tuple[str, ...],
) -> bool:
    """Split words with whitespace in them, in place; False if the text is not known."""
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
                piece for piece, match in enumerate(_PIECE.finditer(text)) for _ in match[0]
            ]
        for token in inside:
            words[token] = (*word, pieces[number][_first_shown(text, *spans[token])])
    return True


def _first_shown(text: str, start: int, end: int) -> int:
    """The index of the first character of text[start:end] that is no whitespace, else the last."""
    shown = start + len(text[start:end]) - len(text[start:end].lstrip())
    return min(shown, max(start, end - 1), len(text) - 1)


def cut_off(encoding: Any, batch_index: int) -> str | None:
    """The tokens of one item that its tokenizer cut off, as "text: reason"; None if it cut none.

    Only fast tokenizers keep what they cut off, and only until their result is copied.
    """
    kept = encoding_of(encoding, batch_index)
    if kept is None:
        return None
    # With a stride, what was cut off begins with tokens that were kept.
    tokens = set(_tokens(kept))
    count = len(tokens)
    for rest in kept.overflowing:
        tokens.update(_tokens(rest))
    if len(tokens) == count:
        return None
    return f"text: its tokenizer cut off {len(tokens) - count:,} of {len(tokens):,} tokens"


def _tokens(encoding: Any) -> list[tuple[Any, ...]]:
    """The place and id of every token of a text; special tokens are left out."""
    places = zip(
        encoding.sequence_ids, encoding.word_ids, encoding.offsets, encoding.ids, strict=True
    )
    special = encoding.special_tokens_mask
    return [place for place, added in zip(places, special, strict=True) if not added]
