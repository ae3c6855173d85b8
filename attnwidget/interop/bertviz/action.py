"""BertViz's html_action: display a view, or return it as HTML."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, Literal, get_args

from attnwidget.widget import AttentionWidget

if TYPE_CHECKING:
    from IPython.display import HTML

HtmlAction = Literal["view", "return"]
DisplayMode = Literal["dark", "light"]

# The page is a whole document with its own policy, so it is put into a frame, which works in a
# file, a notebook or another page. The frame grows with the page; if its host allows no handler, it
# keeps a height that fits most. All is ASCII, because `data` may be written with any encoding.
_FRAME = """\
<div><iframe title="Attention" srcdoc="{page}" onload="{fit}" \
style="display: block; width: 100%; height: {height}px; border: 0"></iframe></div>
"""
_FIT = (
    "const page = this.contentDocument?.body; if (page) new ResizeObserver(() => "
    "{ this.style.height = page.offsetHeight + 1 + 'px' }).observe(page)"
)

# CSS pixels of the header and footer, of a row of tokens, and of the highest frame.
_AROUND, _ROW, _MAX_HEIGHT = 340, 28, 900


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
        return HTML(_framed(widget))  # type: ignore[no-untyped-call]
    finally:
        widget.close()


def _framed(widget: AttentionWidget) -> str:
    stack = widget.record.stack(widget.stack)
    rows = max(len(stack.queries), len(stack.keys))
    page = widget.to_html().encode("ascii", "xmlcharrefreplace").decode()
    height = min(_AROUND + _ROW * rows, _MAX_HEIGHT)
    return _FRAME.format(page=html.escape(page), fit=_FIT, height=height)
