"""The name of a model whose heads are switched off, or links between tokens cut."""

from __future__ import annotations

from collections.abc import Sequence

from attnwidget.record import AttentionRecord

from .edits import Ablate, Intervention, KnockOut, Mode, listed

_MOST = 4

_WORDS: dict[Mode, str] = {
    "zero": "without",
    "mean": "with the mean of",
    "uniform": "with uniform attention in",
    "self": "with attention to itself in",
}


def named_as_changed(record: AttentionRecord, edits: Sequence[Intervention]) -> AttentionRecord:
    """The record with what was changed in the model's name, as "bert without 1-5"."""
    words = []
    for mode, word in _WORDS.items():
        heads = [
            f"{layer}-{head}"
            for edit in edits
            if isinstance(edit, Ablate) and edit.mode == mode
            for layer in listed(edit.layers, [])
            for head in listed(edit.heads, [])
        ]
        if heads:
            shown = ", ".join(heads) if len(heads) <= _MOST else f"{len(heads)} heads"
            words.append(f"{word} {shown}")
    links = sum(isinstance(edit, KnockOut) for edit in edits)
    if links:
        words.append("with a cut link" if links == 1 else f"with {links} cut links")
    record.model = f"{record.model} {' and '.join(words)}".strip()
    return record
