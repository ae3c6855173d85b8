"""BertViz's neuron_view.show, for any model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attnwidget.arguments import checked
from attnwidget.capture import capture

from .views import CHECKS, DisplayMode, HtmlAction, act

if TYPE_CHECKING:
    import torch
    from IPython.display import HTML


@checked(**CHECKS)
def show(
    model: torch.nn.Module,
    model_type: str,
    tokenizer: Any,
    sentence_a: str,
    sentence_b: str | None = None,
    display_mode: DisplayMode = "dark",
    layer: int | None = None,
    head: int | None = None,
    html_action: HtmlAction = "view",
) -> HTML | None:
    """Show how the weights of a head follow from queries and keys.

    Args:
        model: any model that `attnwidget.capture` takes, not only BertViz's own classes.
        model_type: a name that BertViz needs; it is ignored here.
        tokenizer: the model's tokenizer.
        sentence_a: the text.
        sentence_b: the second text of a pair, or None.
        display_mode: "dark" or "light".
        layer, head: those shown first; the first ones if None.
        html_action: "view" displays a widget; "return" returns HTML that needs no kernel.

    Raises:
        ValueError, TypeError: see `attnwidget.capture`; or there is no such layer or head.
    """
    if not isinstance(model_type, str):
        raise TypeError(
            f"model_type is {type(model_type).__name__}; expected a name such as 'bert': the order "
            "is show(model, model_type, tokenizer, sentence_a)"
        )
    if not sentence_a:
        raise ValueError("sentence_a is empty; give a text")
    record = capture(model, tokenizer, sentence_a, sentence_b or None)
    return act(record, html_action, view="neuron", layer=layer, head=head, theme=display_mode)
