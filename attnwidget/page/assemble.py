"""Assembly of pages: records and the choices with which they are shown, packed into a document."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, SupportsIndex

import numpy as np

from attnwidget.analysis import LENSES, Lens
from attnwidget.arguments import checked, one_of
from attnwidget.progress import progress_bar
from attnwidget.record import AttentionRecord
from attnwidget.view_state import ShownRecord, View
from attnwidget.wire import SentExamples, encode_record
from attnwidget.wire.compression import FINE, FINE_DIFFERENCES, LIMITS, Quality

from .base85 import base85_size
from .document import PageRecord, document
from .pack import (
    PAGE_SIZE,
    Blocks,
    ToPack,
    bare_layer,
    packed_layer,
    packed_layers,
    packed_numbers,
    packed_texts,
)
from .shown import included_layers, included_views, opening_choices
from .title import title_of

# The text of a layer's block beside its bytes, at most; in an atlas, of fewer parts.
_LAYER_TEXT = 1000
_LAYER_TEXT_OF_EXAMPLE = 300

# The views of an atlas: without the neuron view, whose queries and keys take several times the room
# of weights.
_ATLAS_VIEWS: tuple[View, ...] = ("head", "model", "map")


@checked(quality=one_of(Quality))
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
    names = included_views(views, shown)
    numbers = included_layers(layers, [each.record for each in shown])
    # The text view has sums over all layers; none is in a page of it alone, unless it is named.
    alone = numbers is None and names == ("text",)
    # Widgets of the same record share its layers, unless their user's lenses or words differ.
    distinct: list[_Contents] = []
    widgets = []
    for each in shown:
        contents = _Contents.of(each, [] if alone else numbers)
        place = next((n for n, own in enumerate(distinct) if own.has(contents)), len(distinct))
        if place == len(distinct):
            distinct.append(contents)
        distinct[place].numbers.update(contents.numbers)
        widgets.append(_widget(each, opening_choices(each, names, numbers), place))

    def page(packed: Sequence[Blocks]) -> str:
        records = [
            _record(contents.shown, names, {**own, **contents.numbers})
            for contents, own in zip(distinct, packed, strict=True)
        ]
        return document(
            title_of(shown), records, widgets, names, complete=numbers is None and not alone
        )

    layers_of_all = [layer for contents in distinct for layer in contents.layers.values()]
    with progress_bar("Packing", "layers", len(layers_of_all)):
        room = PAGE_SIZE - len(page([{} for _ in distinct])) - _LAYER_TEXT * len(layers_of_all)
        compared = any("compared" in contents.shown.manifest for contents in distinct)
        finest = FINE_DIFFERENCES if compared else FINE
        packed = iter(
            packed_layers(layers_of_all, quality, room * 4 / 5, finest, vectors="neuron" in names)
        )
        return page([{place: next(packed) for place in each.layers} for each in distinct])


@dataclass(frozen=True)
class _Contents:
    """A record of a page: its manifest, layers with the factors of lenses, and their matrices."""

    shown: ShownRecord
    layers: dict[tuple[str, int], ToPack]
    numbers: Blocks

    @classmethod
    def of(cls, shown: ShownRecord, included: Sequence[int] | None) -> _Contents:
        """The contents for a widget, with the layers of these numbers, or all of them if None."""
        layers = _included(shown.record, included, shown.lenses)
        chosen = shown.choices["lens"]
        numbers = dict(packed_numbers(shown.record, shown.lenses, chosen, layers))
        return cls(shown, layers, numbers)

    def has(self, other: _Contents) -> bool:
        """True if they say the same wherever both say something."""
        return (
            self.shown.record is other.shown.record
            and self.shown.manifest == other.shown.manifest
            and all(
                np.array_equal(own.factors[lens], other.layers[place].factors[lens])
                for place, own in self.layers.items()
                for lens in own.factors
            )
            and all(
                self.numbers[n] == other.numbers[n] for n in self.numbers.keys() & other.numbers
            )
        )


def page_within(shown: ShownRecord, blocks: Blocks, note: str) -> str:
    """The HTML of a page in a frame, which shows one record with some of its layers.

    Args:
        note: for the reader; "" for none.
    """
    stacks = shown.record.stacks
    complete = all((name, n) in blocks for name in stacks for n in shown.record.stack(name).numbers)
    names = included_views(None, [shown])
    records = [_record(shown, names, blocks)]
    widgets = [_widget(shown, dict(shown.choices), note=note)]
    return document(title_of([shown]), records, widgets, names, complete=complete, framed=True)


@dataclass(frozen=True)
class PackedExample:
    """A text of an atlas, without the numbers of heads.

    Attributes:
        record: the attention over it.
        layers: its layers.
    """

    record: AttentionRecord
    layers: Blocks

    @property
    def size(self) -> int:
        """The bytes that it takes in a page, at most."""
        sizes = [base85_size(len(layer.data)) for layer in self.layers.values()]
        text = _LAYER_TEXT_OF_EXAMPLE * len(sizes) + len(json.dumps(encode_record(self.record)))
        return sum(sizes) + text


def pack_example(record: AttentionRecord) -> PackedExample:
    """Pack all layers at the quality "compact"."""
    layers = _included(record, None).items()
    compact = LIMITS["compact"]
    return PackedExample(
        record, {place: packed_layer(layer, compact, vectors=False) for place, layer in layers}
    )


def page_of_examples(
    shown: ShownRecord, examples: SentExamples, packed: Sequence[PackedExample]
) -> str:
    """The HTML of an atlas, which shows the first text, and opens the others.

    Args:
        shown: the first text, with the numbers of the profile, which the page has once.
        examples: as `attnwidget.wire.encode_examples` returns them.
        packed: their texts, as far as the page has them.
    """
    first, *others = packed
    records = [_record(shown, _ATLAS_VIEWS, first.layers)]
    for example in others:
        manifest = _manifest(encode_record(example.record), example.layers)
        records.append(PageRecord(manifest, None, example.layers))
    choices = opening_choices(shown, _ATLAS_VIEWS, None)
    # Links between tokens, and what is off, belong to the first text alone.
    alone = replace(shown, arcs=(), effects=())
    # For each text, the index of its record.
    of_texts = {**examples, "records": list(range(len(packed)))}
    widget = _widget(alone, choices, examples=of_texts)
    return document(title_of([shown], atlas=True), records, [widget], _ATLAS_VIEWS, complete=True)


def _included(
    record: AttentionRecord, numbers: Sequence[int] | None, lenses: Sequence[Lens] = LENSES
) -> dict[tuple[str, int], ToPack]:
    """The layers of these numbers, by stack and number; all of them if None."""
    return {
        (name, number): ToPack.of(record, name, number, lenses)
        for name in record.stacks
        for number in record.stack(name).numbers
        if numbers is None or number in numbers
    }


def _widget(
    shown: ShownRecord,
    choices: Mapping[str, Any],
    place: int = 0,
    note: str = "",
    examples: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """A widget as JSON, see docs/protocol.md.

    Args:
        choices: the value of every choice when the page opens.
        place: the index of its record.
        note: for the reader; "" for none.
        examples: those of heads, if the widget is that of a profile.
    """
    return {
        "record": place,
        "choices": choices,
        "metrics": shown.metrics,
        "similarity": shown.similarity,
        "note": note or shown.note,
        "examples": examples,
        "arcs": shown.arcs,
        "effects": shown.effects,
    }


def _record(shown: ShownRecord, views: Sequence[View], blocks: Blocks) -> PageRecord:
    # The other views have no thumbnails.
    overview = shown.overview if {"model", "map"} & set(views) else None
    texts = {} if "text" not in views else packed_texts(shown.record, shown.manifest)
    return PageRecord(_manifest(shown.manifest, blocks), overview, {**blocks, **texts})


def _manifest(manifest: Mapping[str, Any], blocks: Blocks) -> dict[str, Any]:
    """The record's manifest, changed for layers that the page has as weights alone."""
    bare = {place for place, packed in blocks.items() if packed.bare}
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
