"""The PNG and text shown where no widget can run: GitHub, a PDF, an untrusted notebook."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any

from attnwidget.record import AttentionRecord
from attnwidget.record.printable import printable

Bundle = dict[str, Any]

# A picture of as many heads takes about a second, and a quarter of a megabyte.
_MAX_HEADS = 500


class _TooManyHeads(ValueError):
    """There are too many heads for an automatic picture."""


def with_picture(
    shown: Any, record: AttentionRecord, choices: Mapping[str, Any], draw: Callable[[], bytes]
) -> tuple[Bundle, Bundle]:
    """Add a PNG and text to a widget's MIME bundle, as (data, metadata).

    SVG is left out because untrusted notebooks do not show it, and HTML because it would be shown
    instead of the PNG.

    Args:
        shown: data, or (data, metadata), as `_repr_mimebundle_` returns it.
        record, choices: what the widget shows.
        draw: returns the PNG.
    """
    data, metadata = shown if isinstance(shown, tuple) else (shown, {})
    data = {**data, "text/plain": _words(record, choices)}
    try:
        _refuse_too_many(record, choices)
        data["image/png"] = base64.b64encode(draw()).decode()
    except Exception as error:
        # The widget is displayed even if its picture fails.
        plain = isinstance(error, (ImportError, _TooManyHeads))
        reason = str(error) if plain else f"{type(error).__name__}: {error}"
        data["text/plain"] += f"\nNo picture of it was saved: {printable(reason)}"
    return data, metadata


def _refuse_too_many(record: AttentionRecord, choices: Mapping[str, Any]) -> None:
    if choices["view"] != "model":
        return
    layers, heads = choices["include_layers"], choices["include_heads"]
    count = sum(
        layer.num_heads if heads is None else sum(head < layer.num_heads for head in heads)
        for layer in record.stack(choices["stack"]).layers
        if layers is None or layer.number in layers
    )
    if count > _MAX_HEADS:
        raise _TooManyHeads(
            f"drawing {count} heads would take long at every display; to get a picture, choose at "
            f"most {_MAX_HEADS} with include_layers and include_heads"
        )


def _words(record: AttentionRecord, choices: Mapping[str, Any]) -> str:
    view, stack = choices["view"], choices["stack"]
    of_stack = f" of {stack}" if len(record.stacks) > 1 else ""
    head = "" if view == "model" else f", layer {choices['layer']}, head {choices['head']}"
    model = printable(record.model) or "an unnamed model"
    return (
        f"Attention of {model}: {view} view{of_stack}{head}.\n"
        "Run the cell again, or save the notebook with its widgets, to see it here."
    )
