"""Self-contained HTML pages: views of records that need neither a kernel nor a network."""

from .assemble import ShownRecord, page_html, save_page

__all__ = ["ShownRecord", "page_html", "save_page"]
