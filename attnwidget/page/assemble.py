"""Assembly of a page from records and the choices with which they are shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, SupportsIndex

from attnwidget.analysis import LENSES, Lens
from attnwidget.progress import progress_bar, step_done
from attnwidget.record import AttentionRecord
from attnwidget.record.files import writable, write_whole
from attnwidget.view_state import View
from attnwidget.wire import SavedEffect, SentArc, SentMetric, SentSimilarity
from attnwidget.wire.compression import (
    FINE,
    FINE_DIFFERENCES,
    LIMITS,
    Limits,
    Quality,
    check_quality,
)

from .blocks import (
    PackedLayer,
    PackedLayers,
    PackedNumbers,
    ToPack,
    bare_layer,
    packed_layer,
    packed_numbers,
)
from .document import PageRecord, PageWidget, document
from .fine import PAGE_SIZE, packed_fine
from .included import VIEWS, included_layers, included_views, opening_choices

# The text of a layer's block beside its bytes, at most.
_LAYER_TEXT = 1000


@dataclass(frozen=True)
class ShownRecord:
    """A record, and the choices with which a page shows it.

    Attributes:
        record: the record. Widgets of the same record share its layers in a page.
        manifest, overview: as `attnwidget.wire.encode_overview` returns them.
        choices: the value of every choice, see `attnwidget.view_state`.
        metrics: the user's own, as `attnwidget.wire.encode_own_metrics` returns them.
        similarity: as `attnwidget.wire.encode_similarity` returns it.
        arcs: annotated links, as `attnwidget.wire.encode_arcs` returns them.
        effects: as `attnwidget.wire.encode_effects` returns them.
        lenses: those of the package, and the user's own.
    """

    record: AttentionRecord
    manifest: Mapping[str, Any]
    overview: bytes
    choices: Mapping[str, Any]
    metrics: Sequence[SentMetric] = ()
    similarity: SentSimilarity | None = None
    arcs: Sequence[SentArc] = ()
    effects: Sequence[SavedEffect] = ()
    lenses: Sequence[Lens] = LENSES


def page_html(
    shown: Sequence[ShownRecord],
    *,
    views: Iterable[View] | None,
    layers: Iterable[SupportsIndex] | None,
    quality: Quality,
) -> str:
    """The HTML of a page that shows these records, one below the other.

    See `attnwidget.to_html` for the other arguments and the errors.
    """
    check_quality(quality)
    names = included_views(views)
    places: dict[int, int] = {}
    distinct: list[ShownRecord] = []
    for widget in shown:
        if id(widget.record) not in places:
            places[id(widget.record)] = len(distinct)
            distinct.append(widget)
    numbers = included_layers(layers, [widget.record for widget in distinct])
    widgets = [
        PageWidget(
            places[id(widget.record)],
            opening_choices(
                widget.record,
                widget.manifest,
                widget.choices,
                names,
                numbers,
                widget.metrics,
                widget.similarity,
            ),
            widget.metrics,
            widget.similarity,
            arcs=widget.arcs,
            effects=widget.effects,
        )
        for widget in shown
    ]

    included = [_included(widget, numbers) for widget in distinct]
    of_lenses: list[PackedNumbers] = [{} for _ in distinct]
    for widget in shown:
        place = places[id(widget.record)]
        of_lenses[place] |= packed_numbers(
            widget.record, widget.lenses, widget.choices["lens"], included[place]
        )

    def page(packed: Sequence[PackedLayers]) -> str:
        records = [
            page_record(widget, names, own, own_numbers)
            for widget, own, own_numbers in zip(distinct, packed, of_lenses, strict=True)
        ]
        return document(records, widgets, names, complete=numbers is None)

    layers_of_all = [layer for own in included for layer in own.values()]
    with progress_bar("Packing", "layers", len(layers_of_all)):
        room = PAGE_SIZE - len(page([{} for _ in distinct])) - _LAYER_TEXT * len(layers_of_all)
        compared = any("compared" in widget.manifest for widget in distinct)
        finest = FINE_DIFFERENCES if compared else FINE
        packed = iter(_packed(layers_of_all, names, quality, room * 4 / 5, finest))
        return page([{place: next(packed) for place in own} for own in included])


def save_page(
    path: str | PathLike[str],
    shown: Sequence[ShownRecord],
    *,
    views: Iterable[View] | None,
    layers: Iterable[SupportsIndex] | None,
    quality: Quality,
) -> None:
    """Write `page_html(…)` to a file, whole or not at all.

    Raises:
        OSError: the file cannot be written.
    """
    writable(path)
    html = page_html(shown, views=views, layers=layers, quality=quality)
    write_whole(path, html.encode())


def page_within(shown: ShownRecord, packed: PackedLayers, numbers: PackedNumbers, note: str) -> str:
    """The HTML of a page that shows one record with some of its layers.

    Args:
        packed: the layers.
        numbers: the matrices of lenses.
        note: for the reader; "" for none.
    """
    record = shown.record
    widget = PageWidget(
        0, dict(shown.choices), shown.metrics, shown.similarity, note, arcs=shown.arcs
    )
    total = sum(len(record.stack(name).layers) for name in record.stacks)
    whole = page_record(shown, VIEWS, packed, numbers)
    complete = len(packed) == total
    return document([whole], [widget], VIEWS, complete=complete, framed=True)


def _included(shown: ShownRecord, numbers: Sequence[int] | None) -> dict[tuple[str, int], ToPack]:
    """The layers of a page, by stack and number."""
    return {
        (name, number): ToPack.of(shown.record, name, number, shown.lenses)
        for name in shown.record.stacks
        for number in shown.record.stack(name).numbers
        if numbers is None or number in numbers
    }


def _packed(
    layers: Sequence[ToPack], views: Sequence[View], quality: Quality, room: float, finest: Limits
) -> list[PackedLayer]:
    """Pack layers, at quality "default" with the finest limits that fit into `room` bytes."""

    def pack(layer: ToPack, limits: Limits | None) -> PackedLayer:
        return packed_layer(layer, limits, vectors="neuron" in views)

    fine = packed_fine(layers, room, pack, finest) if quality == "default" else None
    if fine is not None:
        return fine
    packed = []
    for layer in layers:
        packed.append(pack(layer, LIMITS["compact" if quality == "default" else quality]))
        step_done()
    return packed


def page_record(
    shown: ShownRecord,
    views: Sequence[View],
    packed: PackedLayers,
    numbers: PackedNumbers,
) -> PageRecord:
    # The other views have no thumbnails.
    overview = shown.overview if {"model", "map"} & set(views) else None
    # The manifest's name has no lone surrogates, which could not be written.
    model = shown.manifest["model"] if shown.record.model else ""
    return PageRecord(model, page_manifest(shown.manifest, packed), overview, packed, numbers)


def page_manifest(
    manifest: Mapping[str, Any], packed: Mapping[tuple[str, int], PackedLayer]
) -> dict[str, Any]:
    """The record's manifest, changed for layers that the page has as weights alone."""
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
