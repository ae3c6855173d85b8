"""A first look: the views with the embedded model and a text of ours."""

from __future__ import annotations

import functools
from typing import Any

from attnwidget.default_model import default_model
from attnwidget.show import show
from attnwidget.view_state import View
from attnwidget.widget import AttentionWidget, StaticView

TEXT = "The quick brown fox jumped over the lazy dog because it was tired."
PAIR = "Then it slept in the warm sun."
# A few heads and one token, so that the first look shows something.
HEADS = [0, 3, 6, 8, 9]


@functools.cache
def _kept_model() -> tuple[Any, Any]:
    """The embedded model and its tokenizer, kept so that heads can be switched off in the view."""
    return default_model()


def demo(text: str | None = None, *, view: View = "head") -> AttentionWidget | StaticView:
    """Show the attention of the embedded model, all-MiniLM-L6-v2, over a text.

    Args:
        text: your own; None for two short sentences of ours.
        view: "head", "model", "neuron", "map" or "text".

    Raises:
        ModuleNotFoundError: the model is not installed: `pip install 'attnwidget[demo]'`.
    """
    if text is not None:
        return show(*_kept_model(), text, view=view)
    return show(*_kept_model(), TEXT, PAIR, view=view, layer=2, head=9, heads=HEADS, query=11)
