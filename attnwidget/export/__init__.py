"""A widget on its way to a file that others open."""

from attnwidget.page.assemble import save_html, to_html
from attnwidget.widget.autoembed import embed_after_cell
from attnwidget.widget.made import tell_of_made

__all__ = ["save_html", "to_html"]

tell_of_made.append(embed_after_cell)
