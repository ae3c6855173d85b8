"""The data that goes to the browser, as docs/protocol.md says it; `js/src/data` reads it.

In come records, profiles and comparisons, out go JSON and bytes. Open `manifest.py` first, which
has all that a view paints first; `block.py` has the arrays of a layer, `compression/` puts them
into few bytes within stated errors, and `requests.py` replies to a view while a kernel runs.
"""

from attnwidget.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
