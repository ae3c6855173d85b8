"""A picture and words for where no widget can run: GitHub, a PDF, an untrusted notebook."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any

from attnwidget.record import AttentionRecord
from attnwidget.record.printable import printable

Bundle = dict[str, Any]

# A picture of so many heads takes about a second, and a quarter of a megabyte.
_MOST_HEADS = 500


class _TooMany(ValueError):
    """There are too many heads for a picture that nobody asked for."""


def with_picture(
    shown: Any, record: AttentionRecord, choices: Mapping[str, Any], draw: Callable[[], bytes]
) -> tuple[Bundle, Bundle]:
    """(data, metadata) of a widget's display, with a picture, and words for where there is none.

    Neither SVG, which is not shown where nothing is trusted, nor HTML, which would be shown instead
    of the picture.

    Args:
        shown: data, or (data, metadata), as `_repr_mimebundle_` returns it.
        record, choices: what the widget shows.
        draw: makes the picture, a PNG.
    """
    data, metadata = shown if isinstance(shown, tuple) else (shown, {})
    data = {**data, "text/plain": _words(record, choices)}
    try:
        _refuse_too_many(record, choices)
        data["image/png"] = base64.b64encode(draw()).decode()
    except Exception as error:
        # The widget is what is displayed; its picture is for those who cannot see it.
        plain = isinstance(error, (ImportError, _TooMany))
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
    if count > _MOST_HEADS:
        raise _TooMany(
            f"it would be of {count} heads, which takes long at every display; for one, choose at "
            f"most {_MOST_HEADS} with include_layers and include_heads"
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
