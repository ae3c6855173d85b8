"""BertViz's html_action: display a view, or return it as HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from traitlets import TraitError

from attnwidget.arguments import one_of
from attnwidget.record import AttentionRecord
from attnwidget.widget import AttentionWidget, StaticView

if TYPE_CHECKING:
    from IPython.display import HTML

HtmlAction = Literal["view", "return"]
DisplayMode = Literal["dark", "light"]

# Checked before a model runs.
CHECKS = {"html_action": one_of(HtmlAction), "display_mode": one_of(DisplayMode)}


def act(record: AttentionRecord, html_action: HtmlAction, **choices: Any) -> HTML | None:
    """Display a record, or return its HTML, the `data` of which can be written to a file.

    Args:
        choices: of `AttentionWidget`; None for its defaults.

    Raises:
        ValueError: there is no such layer or head.
    """
    from IPython.display import HTML, display

    chosen: dict[str, Any] = {name: each for name, each in choices.items() if each is not None}
    kind = AttentionWidget if html_action == "view" else StaticView
    try:
        # Of several, an encoder-decoder's encoder comes first.
        view = kind(record, stack=record.stacks[0], **chosen)
    except TraitError as error:
        raise ValueError(str(error)) from error
    if isinstance(view, AttentionWidget):
        display(view)  # type: ignore[no-untyped-call]
        return None
    return HTML(view.static(quality="default", budget=None).html)  # type: ignore[no-untyped-call]
