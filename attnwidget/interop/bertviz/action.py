"""BertViz's html_action: display a view, or return it as HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

from attnwidget.widget import AttentionWidget

if TYPE_CHECKING:
    from IPython.display import HTML

HtmlAction = Literal["view", "return"]
DisplayMode = Literal["dark", "light"]


def check_options(html_action: Any, display_mode: Any = "dark") -> None:
    """Raise a ValueError if there is no such action or mode."""
    for name, value, allowed in (
        ("html_action", html_action, get_args(HtmlAction)),
        ("display_mode", display_mode, get_args(DisplayMode)),
    ):
        if value not in allowed:
            raise ValueError(f"{name} is {value!r}; expected {' or '.join(map(repr, allowed))}")


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
