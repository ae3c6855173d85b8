"""Self-contained HTML pages: views of records that need neither a kernel nor a network.

In come records with the choices of a view (`shown.py`), out comes HTML: `assemble.py`, to be read
first, makes pages and the atlas of a profile, `frame.py` a piece of another page. `pack.py` has the
bytes of layers, and `budget.py` says which of them a notebook has room for. `viewer.py` makes a
page that opens files. Knows no widget.
"""

from attnwidget.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
