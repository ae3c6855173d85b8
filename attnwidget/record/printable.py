"""Untrusted text in messages for a terminal."""

from __future__ import annotations


def printable(text: str) -> str:
    """The text on one line, escaped if it holds control characters that a terminal would obey."""
    return text if text.isprintable() else repr(text)
