"""Bytes as text of a page, in five characters for four bytes; `js/src/basics/bytes.ts` decodes it.

The alphabet is printable ASCII without the nine characters that mean something in HTML, in JSON or
in templates, so that the text stays as it is in a script, in an attribute and in a notebook.
"""

from __future__ import annotations

import numpy as np

_LEFT_OUT = "\"$&'<>\\`{"
_ALPHABET = bytes(code for code in range(ord("!"), ord("~") + 1) if chr(code) not in _LEFT_OUT)
_BASE = len(_ALPHABET)
# From digits to letters.
_LETTERS = _ALPHABET.ljust(256)


def base85(data: bytes) -> str:
    """Encode each four bytes, a big-endian number, as five digits of base 85.

    The last one to three bytes are padded with zeros, and as many of their digits left out.
    """
    padding = -len(data) % 4
    numbers = np.frombuffer(data + bytes(padding), ">u4").astype(np.uint32)
    digits = np.empty((len(numbers), 5), np.uint8)
    for place in reversed(range(5)):
        rest = numbers // _BASE
        digits[:, place] = numbers - rest * _BASE
        numbers = rest
    text = digits.tobytes().translate(_LETTERS).decode("ascii")
    return text[: len(text) - padding]


def base85_size(size: int) -> int:
    """The characters that this many bytes take."""
    return -(-size * 5 // 4)
