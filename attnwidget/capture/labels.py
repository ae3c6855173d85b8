"""Readable labels for token ids."""

from __future__ import annotations

from typing import Any

_SPACE = "\u2423"
_WHITESPACE = {"\n": "\u23ce", "\t": "\u21e5", "\r": "\u240d"}
_REPLACEMENT = "\ufffd"


def token_labels(tokenizer: Any, ids: list[int]) -> tuple[str, ...]:
    """One label per id: the text of a token, without its vocabulary's own markers.

    WordPiece continuations keep their `##`, which readers know. Bytes that are no character
    by themselves keep the vocabulary's spelling. Without a tokenizer, labels are positions.
    """
    if tokenizer is None:
        return tuple(str(position) for position in range(len(ids)))
    return tuple(
        _label(tokenizer, token, str(name))
        for token, name in zip(ids, tokenizer.convert_ids_to_tokens(ids), strict=True)
    )


def _label(tokenizer: Any, token: int, name: str) -> str:
    if name.startswith("##"):
        return name
    text = str(tokenizer.decode([token], clean_up_tokenization_spaces=False))
    if _REPLACEMENT in text:
        return name
    visible = text.strip(" ") or _SPACE
    return "".join(_WHITESPACE.get(character, character) for character in visible)
