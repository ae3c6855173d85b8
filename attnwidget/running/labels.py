"""Readable labels for token ids."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

# SentencePiece's sign for a space, and BERT's for the continuation of a word.
_METASPACE = "\u2581"
_CONTINUATION = "##"
_END_OF_WORD = "</w>"
# The spellings of a space and a new line in byte-level BPE.
_BYTE_LEVEL = ("\u0120", "\u010a")
_FALLBACK_BYTE = re.compile("<0x([0-9A-Fa-f]{2})>")
# The bytes by the characters that spell them: in byte-level BPE the Latin-1 character, or one from
# U+0100 on if that is invisible; in byte models (ByT5) always the Latin-1 character.
_UNSEEN_BYTES = [*range(0x21), *range(0x7F, 0xA1), 0xAD]
_BYTES = {chr(byte): byte for byte in range(0x21, 0x100)}
_BYTES |= {chr(0x100 + rank): byte for rank, byte in enumerate(_UNSEEN_BYTES)}

_WHITESPACE = {" ": "\u2423", "\n": "\u23ce", "\t": "\u21e5", "\r": "\u240d"}
_WHITESPACE_RUN = re.compile(r" +|\n+|\t+|\r+")
# Controls, formats, surrogates, private use, separators.
_SHAPELESS = {"Cc", "Cf", "Cs", "Co", "Zs", "Zl", "Zp"}
# Format characters that are visible: signs around Arabic, Syriac and Kaithi numbers and names.
_SHAPED = set(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
)
# Invisible letters and symbols; and U+FFFD, which would look like an error of the label.
_BLANK = set("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufffd")
# Joiners and non-joiners of two neighbours, in Indic and Persian words and in emoji.
_JOINERS = set("\u200c\u200d")
# Variation selectors and tags (as in the flag of Wales), which alter the character before them.
_ALTERING = re.compile("[\ufe00-\ufe0f\U000e0020-\U000e007f\U000e0100-\U000e01ef]")
_DOTTED_CIRCLE = "\u25cc"


def text_tokenizer(tokenizer: Any) -> Any:
    """The tokenizer of a processor, or the tokenizer itself."""
    if hasattr(tokenizer, "convert_ids_to_tokens"):
        return tokenizer
    return getattr(tokenizer, "tokenizer", tokenizer)


def token_labels(tokenizer: Any, ids: list[int]) -> tuple[str, ...]:
    """One label per id: the text of a token, without its vocabulary's own markers.

    `tokenizer` may be a processor. Special tokens keep their name, and WordPiece continuations
    their `##`, which readers know. The tokens that share one character are labelled "🦜 1/3",
    "🦜 2/3", "🦜 3/3". Brackets enclose invisible content: ⟨200B⟩ is a character, ⟨F0 9F⟩ are
    bytes that form no character, ⟨id 7⟩ is an id outside of this vocabulary. Without a tokenizer,
    labels are positions.
    """
    tokenizer = text_tokenizer(tokenizer)
    if not hasattr(tokenizer, "convert_ids_to_tokens"):
        return tuple(str(position) for position in range(len(ids)))
    special = set(getattr(tokenizer, "all_special_ids", ()))
    pieces = {token: _piece(tokenizer, token, special) for token in set(ids)}
    return _joined_labels([pieces[token] for token in ids])


def spelled_labels(names: Sequence[str]) -> tuple[str, ...]:
    """One label per token, from the vocabulary's spellings alone.

    The labels are those of `token_labels`, as far as spellings tell: byte-level BPE is recognized
    by a token that begins with its sign for a space or a new line, SentencePiece by its own sign.
    """
    data = [_spelled_bytes(name) for name in names]
    byte_level = (
        all(data)
        and any(name.startswith(_BYTE_LEVEL) for name in names)
        and not any(name.startswith(_CONTINUATION) for name in names)
    )
    if not byte_level:
        pieces = any(_METASPACE in name for name in names)
        data = [_piece_bytes(name, pieces) for name in names]
    return _joined_labels(
        [_visible(piece.decode()) if _is_utf8(piece) else piece for piece in data]
    )


def _joined_labels(pieces: Sequence[str | bytes]) -> tuple[str, ...]:
    """The labels of tokens, with consecutive bytes joined into characters."""
    labels: list[str] = []
    fragments: list[bytes] = []
    for piece in pieces:
        if isinstance(piece, bytes):
            fragments.append(piece)
            continue
        labels += [*_fragment_labels(fragments), piece]
        fragments = []
    return (*labels, *_fragment_labels(fragments))


def _piece_bytes(name: str, pieces: bool) -> bytes:
    if pieces and (byte := _FALLBACK_BYTE.fullmatch(name)):
        return bytes.fromhex(byte[1])
    return name.replace(_METASPACE, " ").removesuffix(_END_OF_WORD).encode(errors="replace")


def _piece(tokenizer: Any, token: int, special: set[int]) -> str | bytes:
    """The label of a token, or its bytes where these are not UTF-8 by themselves."""
    outside = f"\u27e8id {token}\u27e9"
    name = _name(tokenizer, token)
    if name is None:
        return outside
    if isinstance(name, bytes):
        data = name
    elif token in special:
        return _special_label(tokenizer, name) or outside
    elif byte := _FALLBACK_BYTE.fullmatch(name):
        data = bytes.fromhex(byte[1])
    else:
        text = _text(tokenizer, token, name)
        if text is None:
            return outside
        # Decoders return U+FFFD or nothing for an incomplete character.
        data = _spelled_bytes(name) if not text or "\ufffd" in text else b""
        if _is_utf8(data):
            return _text_label(name, text) or outside
    return _visible(data.decode()) if _is_utf8(data) else data


def _name(tokenizer: Any, token: int) -> str | bytes | None:
    """The vocabulary's spelling of a token, "" if it has none, None if it lacks the token."""
    if token < 0:  # an index from the end of a vocabulary that is a list
        return None
    try:
        [name] = tokenizer.convert_ids_to_tokens([token])
    except Exception:  # of a type that depends on the tokenizer
        return None
    if not isinstance(name, (str, bytes)):
        return ""
    if name == getattr(tokenizer, "unk_token", None):  # perhaps for an id that it lacks
        return name if token == getattr(tokenizer, "unk_token_id", None) else None
    return name


def _text(tokenizer: Any, token: int, name: str) -> str | None:
    if name and not name.strip(_METASPACE):
        return " " * len(name)  # decoders drop the first
    try:
        return str(tokenizer.decode([token], clean_up_tokenization_spaces=False))
    except Exception:
        # ByT5 has spellings for ids that it lacks, but cannot decode them.
        return name.replace(_METASPACE, " ") if token < len(tokenizer) else None


def _text_label(name: str, text: str) -> str:
    if text == name and name.startswith(_CONTINUATION):
        return _CONTINUATION + _visible(name.removeprefix(_CONTINUATION))
    return _visible(text or name)


def _special_label(tokenizer: Any, name: str) -> str:
    """The name of a special token; its role, such as "[CLS]", if the name is invisible (CANINE)."""
    if name.isprintable():
        return name
    # A token may have two roles, such as [CLS] and the beginning of a sequence: the first counts.
    for role in ("cls", "sep", "pad", "mask", "bos", "eos"):
        if getattr(tokenizer, f"{role}_token", None) == name:
            return f"[{role.upper()}]"
    return _visible(name)


def _spelled_bytes(name: str) -> bytes:
    """The bytes that a name spells; empty if it does not spell bytes."""
    try:
        return bytes(_BYTES[character] for character in name.removesuffix(_END_OF_WORD))
    except KeyError:
        return b""


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _fragment_labels(fragments: list[bytes]) -> list[str]:
    """Labels of consecutive tokens whose bytes form characters only together, if at all."""
    owners = [owner for owner, fragment in enumerate(fragments) for _ in fragment]
    parts: list[list[tuple[str, str]]] = [[] for _ in fragments]
    start = 0
    # A byte that belongs to no character is decoded as a surrogate, which UTF-8 does not have.
    for character in b"".join(fragments).decode(errors="surrogateescape"):
        stray = "\ud800" <= character <= "\udfff"
        end = start + (1 if stray else len(character.encode()))
        first, last = owners[start], owners[end - 1]
        if stray:
            parts[first].append(("bytes", f"{ord(character) - 0xDC00:02X}"))
        elif first == last:
            parts[first].append(("text", character))
        else:
            count = last - first + 1
            for share in range(count):
                part = f"{_visible(character)} {share + 1}/{count}"
                parts[first + share].append(("share", part))
        start = end
    return [_fragment_label(part) for part in parts]


def _fragment_label(parts: list[tuple[str, str]]) -> str:
    shown: list[str] = []
    for kind, group in groupby(parts, itemgetter(0)):
        values = [value for _, value in group]
        if kind == "share":
            shown += values
        elif kind == "bytes":
            shown.append(f"\u27e8{' '.join(values)}\u27e9")
        elif text := "".join(values).strip(" "):
            shown.append(_visible(text))
    return " + ".join(shown)


def _visible(text: str) -> str:
    """Make every character of a text visible, and strip spaces."""
    if not text.strip(" \n\t\r"):
        return _WHITESPACE_RUN.sub(_visible_whitespace, text)
    text = text.strip(" ")
    if text.isascii() and text.isprintable():
        return text
    shown: list[str] = []
    bare = True  # no base character for a combining mark yet
    for position, character in enumerate(text):
        category = unicodedata.category(character)
        if character in _WHITESPACE:
            shown.append(" " if character == " " else _WHITESPACE[character])
            bare = True
        elif _is_shapeless(text, position, category):
            shown.append(f"\u27e8{ord(character):04X}\u27e9")
            bare = True
        else:
            if bare and category.startswith("M"):
                shown.append(_DOTTED_CIRCLE)
            shown.append(character)
            bare = False
    return "".join(shown)


def _visible_whitespace(run: re.Match[str]) -> str:
    sign, count = _WHITESPACE[run[0][0]], len(run[0])
    return sign * count if count <= 3 else f"{sign}×{count}"


def _is_shapeless(text: str, position: int, category: str) -> bool:
    character = text[position]
    if character in _JOINERS:
        return not 0 < position < len(text) - 1
    if _ALTERING.match(character):
        return position == 0
    if character in _SHAPED:
        return False
    return category in _SHAPELESS or character in _BLANK
