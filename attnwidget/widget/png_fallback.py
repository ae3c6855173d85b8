"""The PNG and text shown where no widget can run: GitHub, a PDF, an untrusted notebook."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Mapping
from typing import Any

from attnwidget.record import AttentionRecord
from attnwidget.record.files import printable
from attnwidget.view_state import combination

Bundle = dict[str, Any]

# A picture of as many heads takes about a second, and a quarter of a megabyte.
_MAX_HEADS = 500
# The same for the lines of as many weights: those of nine heads of 4,096 tokens.
_MAX_WEIGHTS = 9 * 4096**2


class _TooLarge(ValueError):
    """There is too much to draw for an automatic picture."""


def with_picture(
    shown: Any,
    record: AttentionRecord,
    choices: Mapping[str, Any],
    draw: Callable[[], bytes],
    *,
    several_stacks: bool,
) -> tuple[Bundle, Bundle]:
    """Add a PNG and text to a widget's MIME bundle, as (data, metadata).

    SVG is left out because untrusted notebooks do not show it, and HTML because it would be shown
    instead of the PNG.

    Args:
        shown: data, or (data, metadata), as `_repr_mimebundle_` returns it.
        record, choices: what the widget shows.
        draw: returns the PNG.
        several_stacks: True if the stack is a choice, which the text names.
    """
    data, metadata = shown if isinstance(shown, tuple) else (shown, {})
    data = {**data, "text/plain": _words(record, choices, several_stacks)}
    try:
        _refuse_too_large(record, choices)
        data["image/png"] = base64.b64encode(draw()).decode()
    except Exception as error:
        # The widget is displayed even if its picture fails.
        plain = isinstance(error, (ImportError, _TooLarge))
        reason = str(error) if plain else f"{type(error).__name__}: {error}"
        data["text/plain"] += f"\nNo picture of it was saved: {printable(reason)}"
    return data, metadata


def _refuse_too_large(record: AttentionRecord, choices: Mapping[str, Any]) -> None:
    if choices["view"] == "head":
        _refuse_weights(record, choices)
    if choices["view"] == "model":
        _refuse_heads(record, choices)


def _refuse_weights(record: AttentionRecord, choices: Mapping[str, Any]) -> None:
    stack = record.stack(choices["stack"])
    layer = record.layer(choices["layer"], choices["stack"])
    combined = combination(choices["combine"])
    if combined is not None and combined.over == "layers":
        count = sum(each.num_heads for each in stack.layers)
    else:
        heads = choices["heads"]
        count = layer.num_heads if combined or heads is None else len(heads)
    if count * math.prod(layer.shape) > _MAX_WEIGHTS:
        raise _TooLarge(
            f"drawing the weights of {len(stack.queries):,} x {len(stack.keys):,} tokens in "
            f"{'a head' if count == 1 else f'{count} heads'} would take long at every display; "
            "save_figure draws them once"
        )


def _refuse_heads(record: AttentionRecord, choices: Mapping[str, Any]) -> None:
    layers, heads = choices["include_layers"], choices["include_heads"]
    count = sum(
        layer.num_heads if heads is None else sum(head < layer.num_heads for head in heads)
        for layer in record.stack(choices["stack"]).layers
        if layers is None or layer.number in layers
    )
    if count > _MAX_HEADS:
        raise _TooLarge(
            f"drawing {count} heads would take long at every display; to get a picture, choose at "
            f"most {_MAX_HEADS} with include_layers and include_heads"
        )


def _words(record: AttentionRecord, choices: Mapping[str, Any], several_stacks: bool) -> str:
    view, stack = choices["view"], choices["stack"]
    of_stack = f" of {stack}" if several_stacks else ""
    head = "" if view == "model" else f", layer {choices['layer']}, head {choices['head']}"
    model = printable(record.model) or "an unnamed model"
    return (
        f"Attention of {model}: {view} view{of_stack}{head}.\n"
        "Run the cell again, or save the notebook with its widgets, to see it here."
    )
