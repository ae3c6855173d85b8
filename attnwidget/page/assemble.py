"""A page made of records and the choices with which they are shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, SupportsIndex

from attnwidget.record import AttentionRecord
from attnwidget.record.files import writable, write_whole
from attnwidget.view_state import View
from attnwidget.wire import SentMetric
from attnwidget.wire.compression import Quality, check_quality, fitting

from .blocks import PackedLayer, bare_layer, packed_layer
from .document import PageRecord, PageWidget, document
from .included import included_layers, included_views, opening_choices


@dataclass(frozen=True)
class ShownRecord:
    """A record, and how a page shows it.

    Attributes:
        record: the record. Of the same object, a page holds the layers once.
        manifest, overview: of the record, as `attnwidget.wire.encode_overview` returns them.
        choices: the value of every choice, see `attnwidget.view_state`.
        metrics: the user's own, as `attnwidget.wire.encode_own_metrics` returns them.
    """

    record: AttentionRecord
    manifest: Mapping[str, Any]
    overview: bytes
    choices: Mapping[str, Any]
    metrics: Sequence[SentMetric] = ()


def page_html(
    shown: Sequence[ShownRecord],
    *,
    views: Iterable[View] | None,
    layers: Iterable[SupportsIndex] | None,
    quality: Quality,
) -> str:
    """The page that shows these records, one below the other.

    `attnwidget.to_html` says what the other arguments are, and what is raised.
    """
    check_quality(quality)
    names = included_views(views)
    places: dict[int, int] = {}
    distinct: list[ShownRecord] = []
    for each in shown:
        if id(each.record) not in places:
            places[id(each.record)] = len(distinct)
            distinct.append(each)
    numbers = included_layers(layers, [each.record for each in distinct])
    return document(
        [_page_record(each, names, numbers, quality) for each in distinct],
        [
            PageWidget(
                places[id(e.record)],
                opening_choices(e.record, e.choices, names, numbers, e.metrics),
                e.metrics,
            )
            for e in shown
        ],
        names,
        numbers,
    )


def save_page(
    path: str | PathLike[str],
    shown: Sequence[ShownRecord],
    *,
    views: Iterable[View] | None,
    layers: Iterable[SupportsIndex] | None,
    quality: Quality,
) -> None:
    """Write `page_html(…)` to a file: whole, or not at all.

    Raises:
        OSError: the file cannot be written.
    """
    writable(path)
    html = page_html(shown, views=views, layers=layers, quality=quality)
    write_whole(path, html.encode())


def _page_record(
    shown: ShownRecord,
    views: Sequence[View],
    numbers: Sequence[int] | None,
    quality: Quality,
) -> PageRecord:
    record = shown.record
    included = [
        (name, layer)
        for name in record.stacks
        for layer in record.stack(name).layers
        if numbers is None or layer.number in numbers
    ]
    fitted = fitting(quality, [layer for _, layer in included])
    packed = {
        (name, layer.number): packed_layer(layer, fitted, vectors="neuron" in views)
        for name, layer in included
    }
    # Only the model view shows thumbnails.
    overview = shown.overview if "model" in views else None
    # The manifest's name of the model, because half of a character cannot be written.
    model = shown.manifest["model"] if record.model else ""
    return PageRecord(model, _manifest(shown.manifest, packed), overview, packed)


def _manifest(
    manifest: Mapping[str, Any], packed: Mapping[tuple[str, int], PackedLayer]
) -> dict[str, Any]:
    """The record's manifest, in which layers that are sent as weights alone have nothing else."""
    bare = {place for place, layer in packed.items() if layer.bare}
    stacks = [
        {
            **stack,
            "layers": [
                bare_layer(info) if (stack["name"], info["number"]) in bare else info
                for info in stack["layers"]
            ],
        }
        for stack in manifest["stacks"]
    ]
    return {**manifest, "stacks": stacks}
