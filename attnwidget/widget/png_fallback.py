"""The PNG and text shown where no widget can run: GitHub, a PDF, an untrusted notebook."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any

from attnwidget.record import AttentionRecord
from attnwidget.record.files import printable

Bundle = dict[str, Any]


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
    png: Bundle = {}
    try:
        png = {"image/png": base64.b64encode(draw()).decode()}
    # The widget is displayed even if its picture fails.
    except Exception as error:
        kind = "" if isinstance(error, ImportError) else f"{type(error).__name__}: "
        words += f"\nNo picture of it was saved: {printable(f'{kind}{error}')}"
    return {**data, "text/plain": words, **png}, metadata
