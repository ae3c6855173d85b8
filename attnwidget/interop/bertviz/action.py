"""BertViz's html_action: display a view, or return it as HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from attnwidget.widget import AttentionWidget

if TYPE_CHECKING:
    from IPython.display import HTML

HtmlAction = Literal["view", "return"]
DisplayMode = Literal["dark", "light"]


def act(widget: AttentionWidget, html_action: HtmlAction) -> HTML | None:
    """Display the widget, or return its HTML, the `data` of which can be written to a file."""
    from IPython.display import HTML, display

    if html_action == "view":
        display(widget)  # type: ignore[no-untyped-call]
        return None
    try:
        return HTML(widget.static(quality="default", budget=None).html)  # type: ignore[no-untyped-call]
    finally:
        widget.close()
