"""The notebook widget, with its pages, saved layers and PNG fallback."""

from .pages import save_html, to_html
from .selection import Selection
from .widget import AttentionWidget

__all__ = ["AttentionWidget", "Selection", "save_html", "to_html"]
