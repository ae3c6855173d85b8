"""The notebook's views of a record, a comparison or a profile.

In come records and choices, out goes what a notebook displays. Open `record_view.py` first: a
`RecordView` has all that needs no kernel. `widget.py` adds the kernel's replies and the layers in a
saved notebook, `static_view.py` a display without a kernel, and `profile_widget.py` the texts of a
profile and its atlas.
"""

from attnwidget.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
