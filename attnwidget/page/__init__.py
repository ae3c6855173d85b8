"""Self-contained HTML pages: views of records that need neither a kernel nor a network."""

from .assemble import ShownRecord, page_html, save_page
from .budget import check_selection, layers_within, numbers_within
from .examples import PackedExample, pack_example, page_of_examples
from .frame import frame_html
from .included import layer_numbers

__all__ = [
    "PackedExample",
    "ShownRecord",
    "check_selection",
    "frame_html",
    "layer_numbers",
    "layers_within",
    "numbers_within",
    "pack_example",
    "page_html",
    "page_of_examples",
    "save_page",
]
