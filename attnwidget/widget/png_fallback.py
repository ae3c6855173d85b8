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
    view = choices["view"]
    of_stack = f" of {choices['stack']}" if several_stacks else ""
    head = "" if view == "model" else f", layer {choices['layer']}, head {choices['head']}"
    words = (
        f"Attention of {printable(record.model) or 'an unnamed model'}: {view} view{of_stack}"
        f"{head}.\nRun the cell again, or save the notebook with its widgets, to see it here."
    )
    reason = _too_large(record, choices)
    png: Bundle = {}
    try:
        if not reason:
            png = {"image/png": base64.b64encode(draw()).decode()}
    # The widget is displayed even if its picture fails.
    except Exception as error:
        kind = "" if isinstance(error, ImportError) else f"{type(error).__name__}: "
        reason = f"{kind}{error}"
    if reason:
        words += f"\nNo picture of it was saved: {printable(reason)}"
    return {**data, "text/plain": words, **png}, metadata


def _too_large(record: AttentionRecord, choices: Mapping[str, Any]) -> str:
    """The reason why there is too much to draw for an automatic picture; "" if there is not."""
    stack = record.stack(choices["stack"])
    if choices["view"] == "head":
        layer, heads = stack.layer(choices["layer"]), choices["heads"]
        combined = combination(choices["combine"])
        if combined is not None and combined.over == "layers":
            count = sum(each.num_heads for each in stack.layers)
        else:
            count = layer.num_heads if combined or heads is None else len(heads)
        if count * math.prod(layer.shape) > _MAX_WEIGHTS:
            return (
                f"drawing the weights of {len(stack.queries):,} x {len(stack.keys):,} tokens in "
                f"{'a head' if count == 1 else f'{count} heads'} would take long at every display; "
                "save_figure draws them once"
            )
    if choices["view"] == "model":
        layers, heads = choices["include_layers"], choices["include_heads"]
        count = sum(
            layer.num_heads if heads is None else sum(head < layer.num_heads for head in heads)
            for layer in stack.layers
            if layers is None or layer.number in layers
        )
        if count > _MAX_HEADS:
            return (
                f"drawing {count} heads would take long at every display; to get a picture, choose "
                f"at most {_MAX_HEADS} with include_layers and include_heads"
            )
    return ""
