"""A page of a profile: its numbers once, and several records, the texts of its examples."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from attnwidget.record import AttentionRecord
from attnwidget.view_state import View
from attnwidget.wire import SentExamples, encode_record
from attnwidget.wire.compression import LIMITS

from .assemble import ShownRecord, page_manifest, page_record
from .base85 import base85_size
from .blocks import PackedLayers, ToPack, packed_layer
from .document import PageRecord, PageWidget, document
from .included import opening_choices

# Without the neuron view, whose queries and keys take several times the room of weights.
VIEWS: tuple[View, ...] = ("head", "model", "map")

# The text of a layer's block beside its bytes, at most.
_LAYER_TEXT = 300


@dataclass(frozen=True)
class PackedExample:
    """A text of a page, without the numbers of heads.

    Attributes:
        record: the attention over it.
        layers: its layers, by stack and number.
    """

    record: AttentionRecord
    layers: PackedLayers

    @property
    def size(self) -> int:
        """The bytes that it takes in a page, at most."""
        data = sum(base85_size(len(layer.data)) + _LAYER_TEXT for layer in self.layers.values())
        return data + len(json.dumps(encode_record(self.record)))


def pack_example(record: AttentionRecord) -> PackedExample:
    """Pack all layers at the quality "compact"."""
    layers = {
        (name, number): packed_layer(
            ToPack.of(record, name, number), LIMITS["compact"], vectors=False
        )
        for name in record.stacks
        for number in record.stack(name).numbers
    }
    return PackedExample(record, layers)


def page_of_examples(
    shown: ShownRecord, examples: SentExamples, packed: Sequence[PackedExample]
) -> str:
    """The HTML of a page that shows the first text, and opens the others.

    Args:
        shown: the first text, with the numbers of the profile.
        examples: as `attnwidget.wire.encode_examples` returns them.
        packed: their texts, as far as the page has them.
    """
    choices = opening_choices(
        shown.record,
        shown.manifest,
        shown.choices,
        VIEWS,
        None,
        shown.metrics,
        shown.similarity,
    )
    places = list(range(len(packed)))
    widget = PageWidget(
        0, choices, shown.metrics, shown.similarity, examples={**examples, "records": places}
    )
    return document(list(_records(shown, packed)), [widget], VIEWS, complete=True)


def _records(shown: ShownRecord, packed: Sequence[PackedExample]) -> Iterator[PageRecord]:
    first, *others = packed
    yield page_record(shown, VIEWS, first.layers, {})
    for example in others:
        manifest = page_manifest(encode_record(example.record), example.layers)
        yield PageRecord(example.record.model, manifest, None, example.layers, {})
