"""What a widget leaves where no widget can run: on GitHub, in a PDF, before an untrusted reader."""

from __future__ import annotations

import base64
from typing import Any

from attnwidget.record.printable import printable
from attnwidget.widget import AttentionWidget

Bundle = dict[str, Any]

# A picture of so many takes about a second, and a quarter of a megabyte.
_MOST_HEADS = 500


class _TooMany(ValueError):
    """Heads for a picture that is drawn unasked."""


def with_picture(widget: AttentionWidget, shown: Any) -> tuple[Bundle, Bundle]:
    """A widget's display data with a picture of it, and words for where there is no picture.

    Neither SVG, which is not shown where nothing is trusted, nor HTML, which would be shown instead
    of the picture.

    Args:
        shown: data, or (data, metadata), as `_repr_mimebundle_` returns it.
    """
    data, metadata = shown if isinstance(shown, tuple) else (shown, {})
    data = {**data, "text/plain": _words(widget)}
    try:
        data["image/png"] = _picture(widget)
    except Exception as error:
        # The widget is what is displayed; its picture is for those who cannot see it.
        plain = isinstance(error, (ImportError, _TooMany))
        reason = str(error) if plain else f"{type(error).__name__}: {error}"
        data["text/plain"] += f"\nNo picture of it was saved: {printable(reason)}"
    return data, metadata


def _picture(widget: AttentionWidget) -> str:
    if widget.view == "model" and (count := _num_shown(widget)) > _MOST_HEADS:
        raise _TooMany(
            f"it would be of {count} heads, which takes long at every display; for one, choose at "
            f"most {_MOST_HEADS} with include_layers and include_heads"
        )
    return base64.b64encode(widget._drawn("png", "preview")).decode()


def _num_shown(widget: AttentionWidget) -> int:
    """Heads in the model view."""
    layers, heads = widget.include_layers, widget.include_heads
    return sum(
        layer.num_heads if heads is None else sum(head < layer.num_heads for head in heads)
        for layer in widget.record.stack(widget.stack).layers
        if layers is None or layer.number in layers
    )


def _words(widget: AttentionWidget) -> str:
    stack = f" of {widget.stack}" if len(widget.record.stacks) > 1 else ""
    where = "" if widget.view == "model" else f", layer {widget.layer}, head {widget.head}"
    of = printable(widget.record.model) or "an unnamed model"
    return (
        f"Attention of {of}: {widget.view} view{stack}{where}.\n"
        "Run the cell again, or save the notebook with its widgets, to see it here."
    )
