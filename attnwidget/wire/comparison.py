"""Encoding of a comparison: two records as one, and the thumbnails of their differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from attnwidget.analysis import LENSES, Alignment, Comparison, HeadScores, Lens, Rows
from attnwidget.analysis.thumbnails import signed_cells, signed_levels
from attnwidget.counted import counted
from attnwidget.record import AttentionRecord, Floats, Layer, Stack, Tokens

from .lenses import cells_of
from .manifest import encode_overview, pack_levels
from .text import sendable

# The most numbers of a matrix of which a thumbnail by a lens is made: 256 MB.
_LARGEST = 1 << 26

# The most tokens of a text that is named, and those before the first that differs in a longer one.
_NAMED_TOKENS, _BEFORE = 40, 5


class ComparedStacks(TypedDict):
    """The stacks of both records, by name.

    Attributes:
        a, b: their names.
        peaks: by layer, the largest |b - a| of a weight of every head.
        lenses: the same of other lenses of heads, by name; None for layers that lack it in either.
    """

    a: str
    b: str
    peaks: list[list[float]]
    lenses: dict[str, list[list[float] | None]]


class Compared(TypedDict):
    """The part of a manifest that says what is compared.

    Attributes:
        stacks: those that belong together.
        names: what each record is, as its text or its model, in parts of which every second
            one differs from the other record's text.
        remark: how the tokens of both belong together, and that heads need not.
    """

    stacks: list[ComparedStacks]
    names: list[list[str]]
    remark: str


def joined_record(comparison: Comparison) -> AttentionRecord:
    """The stacks of both records, those of b under the names of `name_of_b`."""
    a, b = comparison.records
    stacks = {name: a.stack(name) for name in a.stacks}
    stacks |= {name_of_b(name): b.stack(name) for name in b.stacks}
    model = a.model if a.model == b.model else f"A: {a.model}, B: {b.model}"
    missing = [f"A: {reason}" for reason in a.missing] + [f"B: {reason}" for reason in b.missing]
    return AttentionRecord(stacks, model=model, missing=missing)


def name_of_b(stack: str) -> str:
    """The name of b's stack beside that of a."""
    return f"{stack} of B"


def partner_stacks(manifest: Mapping[str, Any]) -> dict[str, str]:
    """By each stack of a, that of b; empty for the manifest of one record."""
    compared = manifest.get("compared")
    return {each["a"]: each["b"] for each in compared["stacks"]} if compared else {}


def encode_comparison(
    comparison: Comparison, record: AttentionRecord, lenses: Sequence[Lens] = LENSES
) -> tuple[dict[str, Any], bytes]:
    """Encode (manifest, thumbnails) of a joined record as `encode_overview` does.

    The manifest has what is compared as "compared", and the thumbnails of b - a follow those of the
    record, in the order of the stacks of a: 4 bits per cell, 8 for zero, 7 more or less for the
    head's largest difference, and in between by its square root. Those of b - a by other lenses of
    heads, which both layers have, come last, lens by lens.
    """
    manifest, overview = encode_overview(record, lenses=lenses)
    stacks: list[ComparedStacks] = []
    packed: list[bytes] = []
    for name in comparison.stacks:
        _add_partners(manifest, comparison, name)
        a, b = record.stack(name), record.stack(name_of_b(name))
        peaks = []
        for layer, other in zip(a.layers, b.layers, strict=True):
            cells = [_cells(a, layer, other, head) for head in range(layer.num_heads)]
            peaks.append([_peak(each) for each in cells])
            packed += [_packed(each) for each in cells]
        stacks.append({"a": name, "b": name_of_b(name), "peaks": peaks, "lenses": {}})
    for lens in lenses:
        for compared in stacks if lens.has_thumbnails else ():
            differences = _lens_differences(lens, record, compared)
            packed += [_packed(each) for cells in differences for each in cells or ()]
            compared["lenses"][lens.name] = [
                None if cells is None else [_peak(each) for each in cells] for cells in differences
            ]
    both: Compared = {
        "stacks": stacks,
        "names": [[sendable(part) for part in name] for name in _names(comparison)],
        "remark": _remark(comparison),
    }
    return {**manifest, "compared": both}, b"".join([overview, *packed])


def _add_partners(manifest: Mapping[str, Any], comparison: Comparison, name: str) -> None:
    """Add the partners of heads to the layers of both stacks that have some of other numbers."""
    sides = [each for each in manifest["stacks"] if each["name"] in (name, name_of_b(name))]
    for layer in (layer for side in sides for layer in side["layers"]):
        heads = [(layer["number"], head) for head in range(layer["heads"])]
        partners = [comparison.partner(*head, name) for head in heads]
        if partners != heads:
            layer["partners"] = partners


def compared_metrics(comparison: Comparison) -> dict[str, HeadScores]:
    """The differences of heads as metrics of the joined record."""

    def of_both(rows: Rows | None) -> Rows:
        return {
            each: layers
            for name, layers in (rows or {}).items()
            for each in (name, name_of_b(name))
        }

    return {
        name: replace(scores, rows=of_both(scores.rows), null=of_both(scores.null))
        for name, scores in comparison.metrics().items()
    }


def _cells(stack: Stack, layer: Layer, other: Layer, head: int) -> Floats:
    """The difference of the largest magnitude in each cell of a thumbnail, of all queries."""

    def difference(rows: NDArray[np.intp]) -> Floats:
        return other.head_numbers(head, rows) - layer.head_numbers(head, rows)

    return signed_cells(stack, difference, np.arange(len(stack.queries)))


def _lens_differences(
    lens: Lens, record: AttentionRecord, compared: ComparedStacks
) -> list[list[Floats] | None]:
    """By layer, the cells of b - a of every head; None if either lacks the lens."""
    a, b = compared["a"], compared["b"]
    stack, found = record.stack(a), list[list[Floats] | None]()
    is_small = len(stack.queries) * len(stack.keys) <= _LARGEST
    for own, other in zip(stack.numbers, record.stack(b).numbers, strict=True):
        if is_small and lens.why_not(record, a, own) is lens.why_not(record, b, other) is None:
            both = zip(lens.heads(record, a, own), lens.heads(record, b, other), strict=True)
            found.append([cells_of(stack, after - before) for before, after in both])
        else:
            found.append(None)
    return found


def _packed(cells: Floats) -> bytes:
    return pack_levels(signed_levels(cells, float(np.abs(cells).max())))


def _peak(cells: Floats) -> float:
    """The largest magnitude, rounded up to a few digits."""
    peak = float(np.abs(cells).max())
    unit = 1e-5 if peak >= 1e-4 or peak == 0 else 10 ** (np.floor(np.log10(peak)) - 2)
    return float(np.ceil(peak / unit) * unit)


def _names(comparison: Comparison) -> list[list[str]]:
    """The models, where they have different names; else the texts in which they differ."""
    a, b = comparison.a, comparison.b
    if a.model != b.model:
        names = a.model, _change(a.model, b.model) or b.model
        return [[name or "an unnamed model"] for name in names]
    stack = _shown_stack(comparison)
    sides = _alignments(stack, comparison)
    differing = {name: each for name, each in sides.items() if _differ(each)}
    texts = [
        _text(record.stack(stack), differing or sides, side)
        for side, record in (("a", a), ("b", b))
    ]
    if not differing:
        return [[f"{texts[0][0]}, first record"], ["second record of the same text"]]
    return texts


def _change(a: str, b: str) -> str:
    """The change of a model, as "without 0-2"; "" for another model."""
    changed = b.removeprefix(f"{a} " if a else "")
    return changed if changed.startswith(("without ", "with ")) else ""


def _shown_stack(comparison: Comparison) -> str:
    """The stack that a widget opens with."""
    return "cross" if "cross" in comparison.stacks else comparison.stacks[0]


def _alignments(stack: str, comparison: Comparison) -> dict[str, Alignment]:
    """The remark on how the keys belong together, and the queries where they are not the keys."""
    keys, queries = comparison.keys(stack), comparison.queries(stack)
    return {"keys": keys} if queries == keys else {"keys": keys, "queries": queries}


def _differ(alignment: Alignment) -> bool:
    return bool(alignment.differing or alignment.only_a or alignment.only_b)


def _text(stack: Stack, alignments: Mapping[str, Alignment], side: str) -> list[str]:
    """The texts of a or b, as far as labels give them; every second part differs."""
    words, more = [("", False)], [("…", False)]
    for name, alignment in alignments.items():
        equal = {at for pair in alignment.pairs if pair.equal for at in getattr(pair, side)}
        tokens: Tokens = getattr(stack, name)
        labels = [
            (label, at not in equal)
            for at, label in enumerate(tokens.labels)
            if at not in tokens.special
        ]
        first = next((n for n, (_, differs) in enumerate(labels) if differs), 0)
        start = max(0, min(first - _BEFORE, len(labels) - _NAMED_TOKENS))
        end = start + _NAMED_TOKENS
        words += [("→", False)] * (len(words) > 1) + more * (start > 0)
        words += labels[start:end] + more * (end < len(labels))
    runs = groupby(words, itemgetter(1))
    return [" ".join(label for label, _ in run).strip() for _, run in runs]


def _remark(comparison: Comparison) -> str:
    """Say how the tokens belong together, "1 of 16 tokens differs", and that heads need not."""
    alignments = _alignments(_shown_stack(comparison), comparison)
    several = len(alignments) > 1
    remarks = [f"{name}: " * several + _differences(each) for name, each in alignments.items()]
    a, b = comparison.a.model, comparison.b.model
    if a != b and not _change(a, b):
        remarks.append("heads of two trainings need not correspond")
    return "; ".join(remarks)


def _differences(alignment: Alignment) -> str:
    many = counted(len(alignment.pairs), alignment.level[:-1])
    differ = "differs" if alignment.differing == 1 else "differ"
    remark = f"{alignment.differing or 'none'} of {many} {differ}"
    alone = [
        f"{counted(len(only), 'token')} only in {side}, left out"
        for side, only in (("A", alignment.only_a), ("B", alignment.only_b))
        if only
    ]
    return "; ".join([remark, *alone])
