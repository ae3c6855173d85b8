"""The name of a model whose heads are switched off or patched, or links between tokens cut."""

from __future__ import annotations

from collections.abc import Sequence

from attnwidget.record import AttentionRecord

from .edits import Ablate, Intervention, KnockOut, Mode, Patch, listed

_MOST = 4

_WORDS: dict[Mode, str] = {
    "zero": "without",
    "mean": "with the mean of",
    "uniform": "with uniform attention in",
    "self": "with attention to itself in",
}
_PATCHED = "with the outputs of another run in"


def named_as_changed(record: AttentionRecord, edits: Sequence[Intervention]) -> AttentionRecord:
    """The record with what was changed in the model's name, as "bert without 1-5"."""
    heads: dict[str, list[str]] = {}
    for edit in edits:
        if isinstance(edit, (Ablate, Patch)):
            word = _PATCHED if isinstance(edit, Patch) else _WORDS[edit.mode]
            heads.setdefault(word, []).extend(
                f"{layer}-{head}"
                for layer in listed(edit.layers, [])
                for head in listed(edit.heads, [])
            )
    words = [
        f"{word} {', '.join(named) if len(named) <= _MOST else f'{len(named)} heads'}"
        for word, named in heads.items()
    ]
    links = sum(isinstance(edit, KnockOut) for edit in edits)
    if links:
        words.append("with a cut link" if links == 1 else f"with {links} cut links")
    record.model = f"{record.model} {' and '.join(words)}".strip()
    return record
