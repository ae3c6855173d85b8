"""The notebook widget, with its pages, saved layers and PNG fallback."""

from .atlas import atlas_html
from .comparison_widget import ComparisonWidget
from .pages import save_html, to_html
from .profile_widget import ProfileWidget
from .record_view import RecordView
from .selection import Selection
from .static_cell import StaticCell
from .static_view import STATIC_VARIABLE, StaticView, static_by_default
from .widget import AttentionWidget

__all__ = [
    "STATIC_VARIABLE",
    "AttentionWidget",
    "ComparisonWidget",
    "ProfileWidget",
    "RecordView",
    "Selection",
    "StaticCell",
    "StaticView",
    "atlas_html",
    "save_html",
    "static_by_default",
    "to_html",
]
