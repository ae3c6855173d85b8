"""The notebook widget, with its pages, saved layers and PNG fallback."""

from .profile_widget import ProfileWidget, StaticProfile, atlas_html
from .record_view import RecordOptions, RecordView, StaticCell
from .selection import Selection
from .static_view import STATIC_VARIABLE, StaticView, static_by_default
from .widget import AttentionWidget

__all__ = [
    "STATIC_VARIABLE",
    "AttentionWidget",
    "ProfileWidget",
    "RecordOptions",
    "RecordView",
    "Selection",
    "StaticCell",
    "StaticProfile",
    "StaticView",
    "atlas_html",
    "static_by_default",
]
