"""The record and the choices that a view shows, for pages and figures, which know no widget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from attnwidget.analysis import LENSES, GridScores, Lens
from attnwidget.record import AttentionRecord
from attnwidget.wire import SavedEffect, SentArc, SentMetric, SentSimilarity


@dataclass(frozen=True)
class ShownRecord:
    """A record, and the choices with which it is shown: what a page or a figure is made of.

    Attributes:
        record: the record.
        manifest, overview: as `attnwidget.wire.encode_overview` returns them.
        choices: the value of every choice, see `attnwidget.view_state`.
        metrics: the user's own, as `attnwidget.wire.encode_own_metrics` returns them.
        similarity: as `attnwidget.wire.encode_similarity` returns it.
        arcs: annotated links, as `attnwidget.wire.encode_arcs` returns them.
        effects: as `attnwidget.wire.encode_effects` returns them.
        lenses: those of the package, and the user's own.
        grids: those that the manifest has.
        note: for the reader; "" for none.
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
    grids: Sequence[GridScores] = ()
    note: str = ""
