"""The notebook widget, and what is made of it: pages, saved layers and a picture."""

from .pages import save_html, to_html
from .selection import Selection
from .widget import AttentionWidget

__all__ = ["AttentionWidget", "Selection", "save_html", "to_html"]
