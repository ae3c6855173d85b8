"""The effect of every head of a model on one text: a head per row of a batch is switched off."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import torch

from attnwidget.capture.model import traceable
from attnwidget.corpus.batches import TextBatch
from attnwidget.corpus.forward import run_model
from attnwidget.progress import step_done
from attnwidget.record import spans
from attnwidget.tracing import trace, undisturbed

from .difference import Difference
from .edits import Mode
from .head_outputs import HeadOutputs
from .head_scores import HeadScores
from .one_text import one_text
from .row_edits import RowEdit, RowEditor
from .sites import Site, named_sites, stack_heads
from .skipping import BlockFinder, blocks_before, can_skip, skipped

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
    layers: Iterable[int] | None,
    by: Mode | HeadOutputs,
    metric: Callable[[Any], float] | None,
    null: bool,
    batch_size: int,
    seed: int,
    on_score: OnScore | None,
) -> HeadScores:
    """See `attnwidget.ablation_scan`.

    Args:
        by: what replaces the outputs of heads, a mode or those of another run.
    """
    if type(batch_size) is not int or batch_size < 1:
        raise ValueError(f"batch_size is {batch_size!r}; expected a number from 1")
    if type(seed) is not int or seed < 0:
        raise ValueError(f"seed is {seed!r}; expected a number from 0")
    model = traceable(model)
    given = one_text(model, tokenizer, text, text_pair, target, batch_index)
    batch, rows = _repeated(given.batch, batch_size)
    finder = BlockFinder(model)
    with undisturbed(model):
        with trace(model, finder, rows):
            plain = run_model(model, batch, all_logits=True)
        sites = named_sites(model, finder, rows)
        chosen = _chosen(sites.found, stack, layers)
        difference = Difference(model, given, plain, rows, metric)
        blocks = finder.blocks if can_skip(model, batch, finder.blocks, plain) else []
        heads = stack_heads(chosen)
        values = {name: of_stack.empty() for name, of_stack in heads.items()}
        nulls = {name: of_stack.empty() for name, of_stack in heads.items()}
        for edits in _batches(_edits(chosen, null=null, seed=seed), rows):
            before = blocks_before(blocks, [edit.site for edit in edits])
            with (
                skipped(before),
                trace(model, RowEditor(edits, rows, by), rows),
            ):
                output = run_model(model, batch, all_logits=True)
            for edit, number in zip(edits, difference(output).tolist(), strict=False):
                name, layer = edit.site.stack, edit.site.layer
                numbers = values if edit.seed is None else nulls
                numbers[name][heads[name].layers.index(layer), edit.head] = number
                if edit.seed is None:
                    step_done()
                    if on_score is not None:
                        on_score(name, layer, edit.head, number)
    return HeadScores(
        difference.name,
        f"{difference.description}; {_described(by)}",
        heads,
        values,
        nulls if null else None,
        "random directions" if null else None,
        sites.missing,
    )


def _described(by: Mode | HeadOutputs) -> str:
    if isinstance(by, HeadOutputs):
        return "the head's outputs replaced by those of another run"
    return f"the head switched off by mode {by!r}"


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


def _chosen(sites: Iterable[Site], stack: str | None, layers: Iterable[int] | None) -> list[Site]:
    """The calls of the stack and layers that were asked for, in order."""
    found = list(sites)
    stacks = list(dict.fromkeys(site.stack for site in found))
    if stack is not None:
        if stack not in stacks:
            raise ValueError(f"no stack {stack!r}; the model has {', '.join(map(repr, stacks))}")
        found = [site for site in found if site.stack == stack]
    if layers is None:
        return found
    numbers = set(layers)
    present = {site.layer for site in found}
    absent = sorted(numbers - present)
    if absent:
        raise ValueError(f"no layer {absent[0]}; there are {spans(tuple(sorted(present)))}")
    return [site for site in found if site.layer in numbers]


def _edits(sites: Iterable[Site], *, null: bool, seed: int) -> Iterator[RowEdit]:
    """Every head, and if there is a null, after a layer's heads as many random directions."""
    for number, site in enumerate(sites):
        yield from (RowEdit(site, head) for head in range(site.heads))
        if null:
            first = seed + (number << 20)
            yield from (RowEdit(site, head, first + head) for head in range(site.heads))


def _batches(edits: Iterable[RowEdit], rows: int) -> Iterator[list[RowEdit]]:
    batch: list[RowEdit] = []
    for edit in edits:
        batch.append(edit)
        if len(batch) == rows:
            yield batch
            batch = []
    if batch:
        yield batch
