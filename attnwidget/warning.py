"""Warnings that name the line outside of this package at which its caller stands."""

from __future__ import annotations

import sys
import warnings

# The context managers of this package run between their frames.
_OWN = ("attnwidget", "contextlib")


def warn(message: str) -> None:
    """Warn the caller outside of this package."""
    frame, level = sys._getframe(), 1
    while frame.f_back and str(frame.f_globals.get("__name__")).partition(".")[0] in _OWN:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level)
