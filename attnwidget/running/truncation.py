"""Tokens that a tokenizer cut off."""

from __future__ import annotations

from typing import Any

from .words import encoding_of


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
