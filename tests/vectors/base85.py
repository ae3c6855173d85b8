"""Bytes as the text of a page."""

from typing import Any

from tests.decoding import to_base85
from tests.vectors.encoding import base64_of


def cases() -> list[dict[str, Any]]:
    """Bytes of every length up to nine, with every digit, and the least and largest numbers."""
    several = [bytes(range(7, 7 + length)) for length in range(10)]
    every = b"".join((digit * 85**3 + digit * 85).to_bytes(4, "big") for digit in range(85))
    given = [*several, every, bytes(5), b"\xff" * 6]
    return [{"bytes": base64_of(data), "text": to_base85(data)} for data in given]
