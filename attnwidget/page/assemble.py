"""Widgets as one page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any, SupportsIndex

from attnwidget.record import AttentionRecord
from attnwidget.record.files import writable, write_whole
from attnwidget.widget import AttentionWidget, View
from attnwidget.wire.compression import Quality, check_quality, fitting

from .blocks import Chunk, bare_layer, chunk
from .document import Recorded, page
from .included import chosen_layers, chosen_views, opening

Chunks = dict[tuple[str, int], Chunk]


def to_html(
    *widgets: AttentionWidget,
    views: Iterable[View] | None = None,
    layers: Iterable[SupportsIndex] | None = None,
    quality: Quality = "default",
) -> str:
    """One self-contained HTML page of several widgets: no kernel, no network.

    Widgets of the same record share its layers.

    Args:
        widgets: as they are now; the page opens with their choices, as far as it has what they
            show, else with the nearest layer and the first view.
        views: the views that the page has, as ["head", "model"]; all of them if None. Without the
            neuron view, a layer is there as weights alone where that is smaller.
        layers: numbers of the layers that the page has, of every stack; all of them if None. The
            model view shows every layer all the same.
        quality: how far rounding may move attention, as the mean over a layer's rows of the
            share that goes to another token: "draft" 2%, "default" 0.75% ("exact" where all
            layers take half a megabyte at most), or "exact" for float16. The views say how far
            each layer's weights may be off.

    Raises:
        TypeError: no widget, or something else, is given.
        ValueError: there is no such view or quality, or `views` or `layers` is empty.
        IndexError: there is no such layer.
    """
    if not widgets:
        raise TypeError("a page needs at least one AttentionWidget")
    for widget in widgets:
        if not isinstance(widget, AttentionWidget):
            raise TypeError(
                f"a page shows AttentionWidgets, and not {type(widget).__name__}; give them one "
                "by one, as save_html(path, a, b)"
            )
    check_quality(quality)
    names = chosen_views(views)
    # Of the same record, one widget says what the others would.
    shown = {id(widget.record): widget for widget in reversed(widgets)}
    order = list(dict.fromkeys(id(widget.record) for widget in widgets))
    numbers = chosen_layers(layers, [shown[key].record for key in order])
    records = [_recorded(shown[key], names, numbers, quality) for key in order]
    opened = [(order.index(id(w.record)), opening(w, names, numbers)) for w in widgets]
    return page(records, opened, names, numbers)


def save_html(
    path: str | PathLike[str],
    *widgets: AttentionWidget,
    views: Iterable[View] | None = None,
    layers: Iterable[SupportsIndex] | None = None,
    quality: Quality = "default",
) -> None:
    """Write `to_html(*widgets, …)` to a file: whole, or not at all.

    Raises:
        TypeError, ValueError, IndexError: see `to_html`.
        OSError: the file cannot be written, because there is no such folder, for one.
    """
    if isinstance(path, AttentionWidget):
        raise TypeError("save_html takes the file's path first, as save_html('page.html', widget)")
    writable(path)
    text = to_html(*widgets, views=views, layers=layers, quality=quality)
    write_whole(path, text.encode())


def _recorded(
    widget: AttentionWidget,
    views: Sequence[View],
    numbers: Sequence[int] | None,
    quality: Quality,
) -> Recorded:
    """What a page holds of a widget's record."""
    record = widget.record
    chosen = [
        (name, layer)
        for name in record.stacks
        for layer in record.stack(name).layers
        if numbers is None or layer.number in numbers
    ]
    fitted = fitting(quality, [layer for _, layer in chosen])
    chunks = {
        (name, layer.number): chunk(layer, fitted, vectors="neuron" in views)
        for name, layer in chosen
    }
    # Thumbnails are for the model view.
    overview = widget._overview if "model" in views else None
    # As the manifest has it: half of a character cannot be written.
    model = widget._manifest["model"] if record.model else ""
    return Recorded(model, _manifest(widget._manifest, record, chunks), overview, chunks)


def _manifest(manifest: dict[str, Any], record: AttentionRecord, chunks: Chunks) -> dict[str, Any]:
    """The record's manifest, in which what is sent as weights alone has nothing else."""
    stacks = []
    for name, stack in zip(record.stacks, manifest["stacks"], strict=True):
        bare = {number for (of, number), found in chunks.items() if of == name and found.bare}
        layers = [bare_layer(info) if info["number"] in bare else info for info in stack["layers"]]
        stacks.append({**stack, "layers": layers})
    return {**manifest, "stacks": stacks}
