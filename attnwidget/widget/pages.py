"""Self-contained pages of several widgets."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from typing import SupportsIndex

from attnwidget.page import ShownRecord, page_html, save_page
from attnwidget.view_state import View
from attnwidget.wire import OffSet
from attnwidget.wire.compression import Quality

from .record_view import RecordView


def to_html(
    *widgets: RecordView,
    views: Iterable[View] | None = None,
    layers: Iterable[SupportsIndex] | None = None,
    quality: Quality = "default",
    effects: Iterable[OffSet] = (),
) -> str:
    """One self-contained HTML page of several widgets: no kernel, no network.

    Widgets of the same record share its layers.

    Args:
        widgets: the widgets; the page opens with their current choices, or with the nearest layer
            and the first view if it does not include the chosen ones.
        views: the views to include, as ["head", "model"]; all of them if None. Without the neuron
            view, a layer is included as weights alone if that is smaller.
        layers: the numbers of the layers to include, of every stack; all of them if None. The
            model view shows every layer in any case.
        quality: the limit of rounding. "default": weights are right to three decimals as long as
            the whole page stays under 2 MB, else as exact as that allows, down to "compact".
            "compact" and "draft": as the mean over a layer's rows, 0.75% and 2% of the attention
            moves to another token. "exact": weights are right to three decimals, at any size. The
            views show the error of each layer's weights.
        effects: heads of each widget's stack, (layer, head), links as `attnwidget.KnockOut`, or
            several that are off together, as [(1, 5), [(1, 3), (1, 5)]]. The page shows what the
            model does without them: at the locked query, and at the position that is shown without
            one. What is off in the widget is always among them, and the page opens with it. The
            widgets are of `attnwidget.show`, and their model is still there.

    Raises:
        TypeError: there is no widget, an argument is no widget, or a set of heads is none.
        ValueError: there is no such view, quality or head, `views` or `layers` is empty, or there
            are effects, but no model.
        IndexError: there is no such layer.
        ReferenceError: the model of a widget was deleted, and there are effects.
    """
    return page_html(_shown(widgets, effects), views=views, layers=layers, quality=quality)


def save_html(
    path: str | PathLike[str],
    *widgets: RecordView,
    views: Iterable[View] | None = None,
    layers: Iterable[SupportsIndex] | None = None,
    quality: Quality = "default",
    effects: Iterable[OffSet] = (),
) -> None:
    """Write `to_html(*widgets, …)` to a file, whole or not at all.

    Raises:
        TypeError, ValueError, IndexError: see `to_html`.
        OSError: the file cannot be written, for example because there is no such folder.
    """
    if isinstance(path, RecordView):
        raise TypeError("save_html takes the file's path first, as save_html('page.html', widget)")
    save_page(path, _shown(widgets, effects), views=views, layers=layers, quality=quality)


def _shown(widgets: Iterable[RecordView], effects: Iterable[OffSet]) -> list[ShownRecord]:
    shown, sets = [], list(effects)
    for widget in widgets:
        if not isinstance(widget, RecordView):
            raise TypeError(
                f"a page shows AttentionWidgets, not {type(widget).__name__}; give them one "
                "by one, as save_html(path, a, b)"
            )
        shown.append(widget.shown_record(sets))
    if not shown:
        raise TypeError("a page needs at least one AttentionWidget")
    return shown
