"""Self-contained HTML pages: views of records that need neither a kernel nor a network.

In come records with the choices of a view (`shown.py`), out comes HTML: `assemble.py`, to be read
first, makes pages and the atlas of a profile, `frame.py` a piece of another page. `pack.py` has the
bytes of layers, and `budget.py` says which of them a notebook has room for. Knows no widget.
"""

from .assemble import pack_example, page_html, page_of_examples
from .budget import Method, check_selection, layers_within
from .frame import frame_html
from .shown import layer_numbers

__all__ = [
    "Method",
    "check_selection",
    "frame_html",
    "layer_numbers",
    "layers_within",
    "pack_example",
    "page_html",
    "page_of_examples",
]
