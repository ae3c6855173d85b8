"""Text that can be sent as UTF-8."""

from __future__ import annotations


def sendable(text: str) -> str:
    """Replace lone surrogates by U+FFFD, because UTF-8 and notebook messages cannot hold them.

    A tokenizer may split a character into surrogates.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
