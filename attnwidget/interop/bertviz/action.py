"""What BertViz does with a view: display it, or return it as HTML."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, Literal, get_args

from attnwidget.widget import AttentionWidget

if TYPE_CHECKING:
    from IPython.display import HTML

HtmlAction = Literal["view", "return"]
DisplayMode = Literal["dark", "light"]

# The page is whole, with a policy of its own, so it goes into a frame: as a file, in a notebook, or
# in someone else's page, several beside each other. The frame grows with the page; where its host
# allows no handler, it keeps a height that fits most. All in ASCII, because whoever writes `data`
# into a file may not say in which encoding.
_FRAME = """\
<div><iframe title="Attention" srcdoc="{page}" onload="{fit}" \
style="display: block; width: 100%; height: {height}px; border: 0"></iframe></div>
"""
_FIT = (
    "const page = this.contentDocument?.body; if (page) new ResizeObserver(() => "
    "{ this.style.height = page.offsetHeight + 1 + 'px' }).observe(page)"
)

# In CSS pixels: what is around the rows of tokens, and these.
_AROUND, _ROW, _MOST = 340, 28, 900


def check_action(html_action: Any) -> None:
    _check("html_action", html_action, get_args(HtmlAction))


def check_mode(display_mode: Any) -> None:
    _check("display_mode", display_mode, get_args(DisplayMode))


def act(widget: AttentionWidget, html_action: HtmlAction) -> HTML | None:
    """Display the widget, or return what its `data` can be written to a file or shown as."""
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
    return _FRAME.format(page=html.escape(page), fit=_FIT, height=min(_AROUND + _ROW * rows, _MOST))


def _check(name: str, given: Any, allowed: tuple[str, ...]) -> None:
    if given not in allowed:
        raise ValueError(f"{name} is {given!r}; expected {' or '.join(map(repr, allowed))}")
