"""Self-contained HTML pages: views of records that need neither a kernel nor a network."""

from .assemble import ShownRecord, page_html, save_page
from .budget import layers_within
from .frame import frame_html

__all__ = ["ShownRecord", "frame_html", "layers_within", "page_html", "save_page"]
