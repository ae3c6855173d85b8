"""The one-line way in: capture and show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from attnwidget.capture import capture
from attnwidget.record import AttentionRecord
from attnwidget.widget import AttentionWidget

if TYPE_CHECKING:
    import torch


def show(
    model: torch.nn.Module | AttentionRecord,
    tokenizer: Any = None,
    text: str | Mapping[str, Any] | None = None,
    text_pair: str | None = None,
    *,
    view: str = "head",
    batch_index: int = 0,
    **choices: Any,
) -> AttentionWidget:
    """Capture the attention of one forward pass and show it.

    Args:
        model: a transformers model, or a record, which is shown as it is.
        tokenizer, text, text_pair, batch_index: see `attnwidget.capture`; not with a record.
        view: "head", "model" or "neuron".
        choices: any trait of `AttentionWidget`: layer, head, heads, query, theme, ...

    Raises:
        TypeError, ValueError: see `attnwidget.capture`.
        traitlets.TraitError: a choice that the record does not have.
    """
    if isinstance(model, AttentionRecord):
        if tokenizer is not None or text is not None or text_pair is not None:
            raise TypeError("a record holds its text already: show(record) takes no other text")
        return AttentionWidget(model, view=view, **choices)
    if text is None:
        raise TypeError("show(model, tokenizer, text) needs a text")
    record = capture(model, tokenizer, text, text_pair, batch_index=batch_index)
    return AttentionWidget(record, view=view, **choices)


def head_view(*args: Any, **kwargs: Any) -> AttentionWidget:
    """`show` with the head view: lines between tokens, one colour per head."""
    return show(*args, **kwargs, view="head")


def model_view(*args: Any, **kwargs: Any) -> AttentionWidget:
    """`show` with the model view: every head of every layer."""
    return show(*args, **kwargs, view="model")


def neuron_view(*args: Any, **kwargs: Any) -> AttentionWidget:
    """`show` with the neuron view: how queries and keys make one head's weights."""
    return show(*args, **kwargs, view="neuron")
