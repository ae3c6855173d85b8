"""A record on its way to a file that others open."""

from .page import page

__all__ = ["page"]
