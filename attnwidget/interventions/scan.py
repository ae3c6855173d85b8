"""The effect of every head of a model on one text: a head per row of a batch is switched off."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, get_args

import torch

from attnwidget.analysis import HeadScores
from attnwidget.progress import step_done
from attnwidget.record import spans
from attnwidget.running.batches import TextBatch
from attnwidget.running.forward import run_model
from attnwidget.running.model import traceable
from attnwidget.running.one_text import one_text
from attnwidget.tracing import trace, undisturbed

from .difference import Difference
from .edits import Mode, Numbers, listed
from .head_outputs import HeadOutputs
from .row_edits import RowEdit, RowEditor
from .sites import Site, empty_rows, named_sites
from .skipping import BlockFinder, ExactSkips, blocks_before, skipped

By = Literal["head", "group", "layer"]

OnScore = Callable[[str, int, int, float], object]
"""Called with (stack, layer, head, number) as soon as a head's number is known."""


def scan_heads(
    model: torch.nn.Module,
    tokenizer: Any,
    text: str | Mapping[str, Any],
    text_pair: str | None,
    *,
    target: str | None,
    batch_index: int,
    stack: str | None,
    layers: Numbers,
    by: By,
    replaced_by: Mode | HeadOutputs,
    metric: Callable[[Any], float] | None,
    null: bool,
    batch_size: int,
    seed: int,
    on_score: OnScore | None,
) -> HeadScores:
    """See `attnwidget.ablation_scan`.

    Args:
        replaced_by: what replaces the outputs of heads, a mode or those of another run.
    """
    if by not in get_args(By):
        raise ValueError(f"by is {by!r}; expected {', '.join(map(repr, get_args(By)))}")
    if type(batch_size) is not int or batch_size < 1:
        raise ValueError(f"batch_size is {batch_size!r}; expected a number from 1")
    if type(seed) is not int or seed < 0:
        raise ValueError(f"seed is {seed!r}; expected a number from 0")
    model = traceable(model)
    given = one_text(model, tokenizer, text, text_pair, target, batch_index)
    batch, rows = _repeated(given.batch, batch_size)
    finder = BlockFinder(model)
    with undisturbed(model):
        with trace(model, finder, rows) as traced:
            plain = run_model(model, batch, all_logits=True)
        interface_only = traced.by_interface
        sites = named_sites(model, finder, rows)
        chosen = _chosen(sites.found, stack, layers)
        difference = Difference(model, given, plain, rows, metric)
        # Tried with one row, which takes a fraction of the time.
        single, output = (finder, plain) if rows == 1 else _single_row(model, given.batch)
        skips = ExactSkips(given.batch, output)
        values, nulls = empty_rows(chosen), empty_rows(chosen)
        todo = _switched(chosen, sites.found, by, null=null, seed=seed)
        while of_batch := list(islice(todo, rows)):
            edits = [each.edits for each in of_batch]
            before = blocks_before(
                finder.blocks, [edit.site for of_row in edits for edit in of_row]
            )
            if not skips.allow(model, single.blocks[: len(before)]):
                before = []
            editor = RowEditor(edits, rows, replaced_by)
            with skipped(before), trace(model, editor, rows, interface_only=interface_only):
                output = run_model(model, batch, all_logits=True)
            for each, number in zip(of_batch, difference(output).tolist(), strict=False):
                name, layer = each.site.stack, each.site.layer
                numbers = nulls if each.is_null else values
                numbers[name][layer][list(each.heads)] = number
                if each.is_null:
                    continue
                for head in each.heads:
                    step_done()
                    if on_score is not None:
                        on_score(name, layer, head, number)
    null_label = "random heads" if by == "layer" else "random directions"
    return HeadScores(
        difference.name,
        f"{difference.description(_OFF[by])}; {_described(replaced_by)}",
        values,
        unit=difference.unit,
        signed=metric is not None,
        measured_on=given.described,
        null=nulls if null else None,
        null_label=null_label if null else None,
        missing=sites.missing,
    )


def _single_row(model: torch.nn.Module, batch: TextBatch) -> tuple[BlockFinder, Any]:
    """The layers and the output of a pass over the text in one row."""
    finder = BlockFinder(model)
    with trace(model, finder, 1):
        return finder, run_model(model, batch, all_logits=True)


_OFF = {"head": "the head", "group": "the heads that share its keys", "layer": "its layer"}


def _described(replaced_by: Mode | HeadOutputs) -> str:
    if isinstance(replaced_by, HeadOutputs):
        return "its outputs replaced by those of another run"
    return f"switched off by mode {replaced_by!r}"


def _repeated(batch: TextBatch, rows: int) -> tuple[TextBatch, int]:
    """The text in so many rows; in one, if the first dimension of an input is not that of rows."""
    tensors = [value for value in batch.tensors.values() if isinstance(value, torch.Tensor)]
    if any(not tensor.ndim or len(tensor) != 1 for tensor in tensors):
        return batch, 1
    repeated = {
        name: value.repeat(rows, *[1] * (value.ndim - 1))
        if isinstance(value, torch.Tensor)
        else value
        for name, value in batch.tensors.items()
    }
    return TextBatch(repeated, batch.texts * rows, batch.rows * rows), rows


def _chosen(sites: Iterable[Site], stack: str | None, layers: Numbers) -> list[Site]:
    """The calls of the stack and layers that were asked for, in order."""
    found = list(sites)
    stacks = list(dict.fromkeys(site.stack for site in found))
    if stack is not None:
        if stack not in stacks:
            raise ValueError(f"no stack {stack!r}; the model has {', '.join(map(repr, stacks))}")
        found = [site for site in found if site.stack == stack]
    if layers is None:
        return found
    numbers = set(listed(layers, []))
    present = {site.layer for site in found}
    absent = sorted(numbers - present)
    if absent:
        raise ValueError(f"no layer {absent[0]}; there are {spans(tuple(sorted(present)))}")
    return [site for site in found if site.layer in numbers]


@dataclass(frozen=True)
class _Switched:
    """Heads that are off in one row of a batch, or what is off in their place for the null."""

    site: Site
    heads: tuple[int, ...]
    edits: tuple[RowEdit, ...]
    is_null: bool


def _switched(
    sites: Sequence[Site], everywhere: Sequence[Site], by: By, *, null: bool, seed: int
) -> Iterator[_Switched]:
    """All heads, groups or layers, and if there is a null, after those of a layer as many of it.

    Args:
        sites: the layers.
        everywhere: the layers from which random heads are drawn.
    """
    for number, site in enumerate(sites):
        units = _units(site, by)
        for heads in units:
            yield _Switched(site, heads, (RowEdit(site, heads),), False)
        first = seed + (number << 20)
        for place, heads in enumerate(units if null else []):
            if by == "layer":
                edits = _random_heads(
                    [s for s in everywhere if s.stack == site.stack], heads, first
                )
            else:
                edits = (RowEdit(site, heads, first + place),)
            yield _Switched(site, heads, edits, True)


def _units(site: Site, by: By) -> list[tuple[int, ...]]:
    """The heads of a layer that are switched off together."""
    size = {"head": 1, "group": site.heads // site.key_heads, "layer": site.heads}[by]
    return [tuple(range(first, first + size)) for first in range(0, site.heads, size)]


def _random_heads(sites: Sequence[Site], heads: tuple[int, ...], seed: int) -> tuple[RowEdit, ...]:
    """The same number of heads, drawn from all layers."""
    everything = [(site, head) for site in sites for head in range(site.heads)]
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randperm(len(everything), generator=generator)[: len(heads)].tolist()
    by_site: dict[Site, list[int]] = {}
    for site, head in (everything[number] for number in drawn):
        by_site.setdefault(site, []).append(head)
    return tuple(RowEdit(site, tuple(of_site)) for site, of_site in by_site.items())
