"""The one-line way in: capture and show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from attnwidget.capture import capture
from attnwidget.record import AttentionRecord
from attnwidget.widget import AttentionWidget, Segments, Theme, View

if TYPE_CHECKING:
    import torch
    from typing_extensions import Unpack


class Choices(TypedDict, total=False):
    """What `show` and the views pass on: the traits of `AttentionWidget`."""

    stack: str
    layer: int | None
    head: int
    heads: Sequence[int] | None
    query: int | None
    key: int | None
    segments: Segments
    theme: Theme


def show(
    model: torch.nn.Module | AttentionRecord,
    tokenizer: Any = None,
    text: str | Mapping[str, Any] | None = None,
    text_pair: str | None = None,
    *,
    view: View = "head",
    batch_index: int = 0,
    **choices: Unpack[Choices],
) -> AttentionWidget:
    """Capture the attention of one forward pass and show it.

    Args:
        model: a transformers model, or a record, which is shown as it is.
        tokenizer, text, text_pair, batch_index: see `attnwidget.capture`; not with a record.
        view: "head", "model" or "neuron".
        choices: any trait of `AttentionWidget`: layer, head, heads, query, theme, ...; without
            a layer, the first one of the stack.

    Raises:
        TypeError, ValueError, IndexError: see `attnwidget.capture`.
        traitlets.TraitError: a choice that the record does not have.
    """
    if isinstance(model, AttentionRecord):
        if any(given is not None for given in (tokenizer, text, text_pair)) or batch_index:
            raise TypeError("a record holds its text already: show(record) takes no other text")
        return AttentionWidget(model, view=view, **choices)
    if text is None:
        raise TypeError("show(model, tokenizer, text) needs a tokenizer and a text")
    record = capture(model, tokenizer, text, text_pair, batch_index=batch_index)
    return AttentionWidget(record, view=view, **choices)


def head_view(
    model: torch.nn.Module | AttentionRecord,
    tokenizer: Any = None,
    text: str | Mapping[str, Any] | None = None,
    text_pair: str | None = None,
    *,
    batch_index: int = 0,
    **choices: Unpack[Choices],
) -> AttentionWidget:
    """`show` with the head view: lines between tokens, one colour per head."""
    return show(model, tokenizer, text, text_pair, view="head", batch_index=batch_index, **choices)


def model_view(
    model: torch.nn.Module | AttentionRecord,
    tokenizer: Any = None,
    text: str | Mapping[str, Any] | None = None,
    text_pair: str | None = None,
    *,
    batch_index: int = 0,
    **choices: Unpack[Choices],
) -> AttentionWidget:
    """`show` with the model view: every head of every layer."""
    return show(model, tokenizer, text, text_pair, view="model", batch_index=batch_index, **choices)


def neuron_view(
    model: torch.nn.Module | AttentionRecord,
    tokenizer: Any = None,
    text: str | Mapping[str, Any] | None = None,
    text_pair: str | None = None,
    *,
    batch_index: int = 0,
    **choices: Unpack[Choices],
) -> AttentionWidget:
    """`show` with the neuron view: how queries and keys make one head's weights."""
    return show(
        model, tokenizer, text, text_pair, view="neuron", batch_index=batch_index, **choices
    )
