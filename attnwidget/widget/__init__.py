"""The notebook's views of a record, a comparison or a profile.

In come records and choices, out goes what a notebook displays. Open `record_view.py` first: a
`RecordView` has all that needs no kernel. `widget.py` adds the kernel's replies and the layers in a
saved notebook, `static_view.py` a display without a kernel, and `profile_widget.py` the texts of a
profile and its atlas.
"""

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
