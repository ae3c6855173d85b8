"""The notebook widget, with its pages, saved layers and PNG fallback."""

from .pages import save_html, to_html
from .record_view import RecordView
from .selection import Selection
from .static_cell import StaticCell
from .static_view import STATIC_VARIABLE, StaticView, static_by_default
from .widget import AttentionWidget

__all__ = [
    "STATIC_VARIABLE",
    "AttentionWidget",
    "RecordView",
    "Selection",
    "StaticCell",
    "StaticView",
    "save_html",
    "static_by_default",
    "to_html",
]
