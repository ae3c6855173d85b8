"""Self-contained HTML pages: views of records that need neither a kernel nor a network."""

from .assemble import ShownRecord, page_html, save_page
from .budget import check_selection, layers_within, rollouts_within
from .frame import frame_html
from .included import layer_numbers

__all__ = [
    "ShownRecord",
    "check_selection",
    "frame_html",
    "layer_numbers",
    "layers_within",
    "page_html",
    "rollouts_within",
    "save_page",
]
