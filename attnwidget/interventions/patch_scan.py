"""Grids of patches: the share of an output that another text's numbers bring back, by place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, SupportsIndex, get_args

import numpy as np
import torch

from attnwidget.analysis import GridScores
from attnwidget.analysis.grid_scores import By
from attnwidget.arguments import checked, list_of, one_of, whole, whole_numbers
from attnwidget.counted import counted
from attnwidget.progress import end_asked, progress_bar, step_done
from attnwidget.running.forward import run_model
from attnwidget.running.model import traceable
from attnwidget.running.one_text import OneText
from attnwidget.tracing import undisturbed
from attnwidget.warning import warn

from .by_layer import Place
from .cell_patches import CellPatches
from .cells import Grid
from .edits import Chosen
from .skipping import RepeatedText
from .two_texts import Measured, Text, like, two_texts

OnCell = Callable[[int, int, float], object]
"""Called with (row, column, number) as soon as a cell's number is known."""


@checked(
    at=one_of(*get_args(Place)),
    by=one_of(By),
    layers=whole_numbers,
    batch_size=whole(1),
    seed=whole(0),
)
@progress_bar("Patching", "cells")
def patch_scan(
    model: torch.nn.Module,
    tokenizer: Any,
    clean: Text,
    corrupt: Text,
    *,
    metric: Measured = "logit difference",
    token: str | SupportsIndex | None = None,
    against: str | SupportsIndex | None = None,
    position: int = -1,
    at: Place = "residual pre",
    by: By = "layer×position",
    stack: str | None = None,
    layers: Chosen = None,
    null: bool | Sequence[Text] = True,
    batch_size: int = 16,
    seed: int = 0,
    on_score: OnCell | None = None,
) -> GridScores:
    """Patch every cell of a grid from one text into the run on another, and measure what returns.

        clean = "When Mary and John went to the store, John gave a drink to"
        corrupt = "When Mary and John went to the store, Mary gave a drink to"
        aw.patch_scan(model, tokenizer, clean, corrupt, token=" Mary", against=" John")

    A number is the share of the metric that the patch restores: 0 as for the corrupt text, 1 as for
    the clean one (Zhang and Nanda 2024). A batch has the corrupt text in every row, and in each row
    another cell is patched. Layers below the first of these are not computed again where the
    model's output follows exactly from what they returned. Ctrl-C returns what is done, with NaN
    for the rest, and a warning.

    Args:
        model, tokenizer: see `attnwidget.capture`.
        clean, corrupt: the texts, of as many tokens.
        metric: your own function from the model's output for one text to a number; or "logit
            difference", of `token` less that of `against` (or the logit of `token` alone), at a
            position, the last one if none is given.
        token, against, position: see `attnwidget.logit_attribution`.
        at: the place that is patched, see `Ablate`, but for "projection".
        by: "layer×position", "layer" (all positions), "head" (all positions) or "head×position". Of
            heads that share keys and values, each that they share is one.
        stack, layers: as for `Ablate`.
        null: True for a null of permuted positions: each cell gets what the clean text has at
            another position, or, with all positions at once, at others in random order. Or texts
            of as many tokens, from which cells are patched: the mean over these. This takes as
            long again for True or each text. False for none.
        batch_size: the number of rows of a batch.
        seed: of the permutations.
        on_score: called with (row, column, number) as soon as a cell's number is known.

    Raises:
        TypeError, ValueError: see `attnwidget.capture`; the texts have not as many tokens, or the
            metric is the same for both; there is no such stack, layer or place.
        IndexError: there is no such position.
    """
    model = traceable(model)
    texts_of_null: list[Text] = []
    if not isinstance(null, bool):
        check = list_of(lambda each: each, "texts, or True or False")
        texts_of_null = list(check("null", null) or ())
    with undisturbed(model):
        texts = two_texts(model, tokenizer, clean, corrupt, metric, token, against, position, stack)
        given = texts.corrupt
        repeated = RepeatedText(model, given.batch, batch_size)
        all_logits = callable(metric) or position != -1 or _ends_in_padding(given)
        unrelated = [
            like(model, tokenizer, text, given, "a text of null") for text in texts_of_null
        ]
        sources = [texts.read(at, each) for each in (texts.clean, *unrelated)]
        grid = Grid(at, by, sources[0].layers[texts.stack], layers, null is True, len(unrelated))
        patches = CellPatches(texts, at, repeated.rows, sources)
        todo = grid.cells(seed)
        try:
            while (cells := list(islice(todo, repeated.rows))) and not end_asked():
                patches.cells = cells
                with (
                    repeated.above(model, patches.sites_from(min(cell.layer for cell in cells))),
                    patches.following(),
                ):
                    output = run_model(model, repeated.batch, all_logits=all_logits)
                for row, cell in enumerate(cells):
                    number = texts.restored(output, row, repeated.rows)
                    grid.put(cell, number)
                    if cell.null is not None:
                        continue
                    step_done()
                    if on_score is not None:
                        on_score(*cell.place, number)
        except KeyboardInterrupt:
            done = int((~np.isnan(grid.values)).sum())
            if not done:
                raise
            every = grid.values.size
            warn(f"interrupted: {done} of {every} cells are measured, and the others NaN")
    null_label = "permuted positions"
    if unrelated:
        null_label = f"patches from {counted(len(unrelated), 'unrelated text')}"
    return GridScores(
        "restored",
        f"The share of {texts.name} that a patch at {at!r} of the corrupt text restores: "
        f"{texts.both}",
        at,
        by,
        grid.rows,
        grid.columns(texts.labels(grid.length)),
        grid.values,
        grid.null,
        None if grid.null is None else null_label,
        given.described,
        missing=sources[0].missing,
    )


def _ends_in_padding(given: OneText) -> bool:
    text = given.row.text
    return text is None or not len(text.kept) or int(text.kept[-1]) != text.length - 1
