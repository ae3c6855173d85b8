"""The effect of every head of a model on one text: a head per row of a batch is switched off."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

import numpy as np
import torch

from attnwidget.analysis import HeadScores, Numbers
from attnwidget.arguments import checked, instance, one_of, whole, whole_numbers
from attnwidget.progress import progress_bar, step_done
from attnwidget.running.forward import run_model
from attnwidget.running.model import traceable
from attnwidget.running.one_text import one_text
from attnwidget.tracing import trace, undisturbed

from .by_layer import HeadOutputs
from .difference import Difference
from .edits import OUTPUTS, Chosen, Mode, known_mode
from .row_edits import RowEdit, RowEditor
from .sites import Site, sites_of
from .skipping import RepeatedText

By = Literal["head", "group", "layer"]

OnScore = Callable[[str, int, int, float], object]
"""Called with (stack, layer, head, number) as soon as a head's number is known."""


@checked(
    layers=whole_numbers,
    by=one_of(By),
    mode=known_mode,
    source=instance(HeadOutputs, OUTPUTS, none=True),
    batch_size=whole(1),
    seed=whole(0),
)
@progress_bar("Switching off", "heads")
def ablation_scan(
    model: torch.nn.Module,
    tokenizer: Any,
    text: str | Mapping[str, Any],
    text_pair: str | None = None,
    *,
    target: str | None = None,
    batch_index: int = 0,
    stack: str | None = None,
    layers: Chosen = None,
    by: By = "head",
    mode: Mode = "zero",
    source: HeadOutputs | None = None,
    metric: Callable[[Any], float] | None = None,
    null: bool = True,
    batch_size: int = 16,
    seed: int = 0,
    on_score: OnScore | None = None,
) -> HeadScores:
    """Switch every head off, one after the other, and measure the difference in the output.

    A batch has the same text in every row, and in each row another head is off. Layers below the
    first of these are not computed again where the model's output follows exactly from what they
    returned. The numbers are those of `ablate`, one head at a time, up to rounding.

    Args:
        model, tokenizer, text, text_pair, target, batch_index: see `attnwidget.capture`.
        stack: the stack whose heads are switched off; None for all.
        layers: the number of a layer, or of several; None for all.
        by: what is off at a time: a "head"; a "group" of heads that share keys and values; or a
            "layer", all of its heads. Each head then has the number of its group or layer. Where a
            model writes its softmax out, which heads share keys is not known, and each is a group.
        mode: what replaces a head's output, see `Ablate`.
        source: the outputs of another run (`head_outputs`) to replace them by, in place of `mode`:
            each head is patched, as by `Patch`.
        metric: your own function from the model's output for one text to a number, of which the
            change is measured. None for the KL divergence of the predictions, or the turn of the
            hidden states (see `Effect`), the mean over positions.
        null: True to measure, for each head, random directions of its layer as well: as many
            directions in the outputs of all heads of the layer as a head or group has dimensions
            are replaced in the same way; for a layer, as many random heads of its stack. This
            takes as long again.
        batch_size: the number of rows of a batch: of heads, groups or layers, each off in its own.
        seed: of the random directions.
        on_score: called with (stack, layer, head, number) as soon as a head's number is known.

    Returns:
        The difference that each head makes, and the same of the null.

    Raises:
        TypeError, ValueError, IndexError: see `attnwidget.capture`; there is no such stack or
            layer, or the model returns neither logits nor hidden states, and there is no metric.
    """
    if source is not None and source.at != "head":
        raise ValueError(f"source is of at={source.at!r}; expected head outputs")
    model = traceable(model)
    given = one_text(model, tokenizer, text, text_pair, target, batch_index)
    with undisturbed(model):
        repeated = RepeatedText(model, given.batch, batch_size)
        rows, sites = repeated.rows, repeated.sites
        chosen = sites_of(sites.found, stack, layers)
        difference = Difference(model, given, repeated.plain, rows, metric)
        values, nulls = _empty_rows(chosen), _empty_rows(chosen)
        todo = _switched(chosen, sites.found, by, null=null, seed=seed)
        while of_batch := list(islice(todo, rows)):
            edits = [each.edits for each in of_batch]
            changed = [edit.site for of_row in edits for edit in of_row]
            editor = RowEditor(edits, rows, mode if source is None else source)
            only = repeated.by_interface and not any(site.signed for site in changed)
            with (
                repeated.above(model, changed),
                trace(model, editor, rows, interface_only=only),
            ):
                output = run_model(model, repeated.batch, all_logits=True)
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
    how = f"switched off by mode {mode!r}"
    if source is not None:
        of = f"their mean over {source.over}" if source.over else "those of another run"
        how = f"its outputs replaced by {of}"
    return HeadScores(
        difference.name,
        f"{difference.description(_OFF[by])}; {how}",
        values,
        unit=difference.unit,
        signed=metric is not None,
        measured_on=given.described,
        null=nulls if null else None,
        null_label=null_label if null else None,
        missing=sites.missing,
    )


_OFF = {"head": "the head", "group": "the heads that share its keys", "layer": "its layer"}


def _empty_rows(sites: Sequence[Site]) -> dict[str, dict[int, Numbers]]:
    """NaN for every head of these calls, in the form of `HeadScores.rows`."""
    rows: dict[str, dict[int, Numbers]] = {}
    for site in sites:
        rows.setdefault(site.stack, {})[site.layer] = np.full(site.heads, np.nan)
    return rows


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
                edits = _random_heads(sites_of(everywhere, site.stack), heads, first)
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
