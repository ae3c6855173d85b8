"""Estimates of all patches of a grid from one backward pass: attribution patching."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from typing import Any, SupportsIndex, get_args

import numpy as np
import torch

from attnwidget.analysis import GridEstimate
from attnwidget.analysis.grid_scores import By
from attnwidget.arguments import checked, one_of, whole, whole_numbers
from attnwidget.progress import progress_bar, step_done
from attnwidget.running.forward import run_model
from attnwidget.running.model import traceable
from attnwidget.tracing import Call, undisturbed

from .by_layer import HeadOutputs, Place
from .cell_patches import AtPlace, CellPatches
from .cells import Cell, Grid
from .edits import Chosen
from .frozen import exact
from .gradients import check_gradients
from .layer_places import Here, Streams
from .skipping import repeated
from .substitution import outputs_with
from .two_texts import Measured, Text, TwoTexts, two_texts

# (what is at the place, the gradient of the metric by it), [windows, heads, T, d], by layer.
Gradients = Mapping[int, tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]


@checked(
    at=one_of(*get_args(Place)),
    by=one_of(By),
    layers=whole_numbers,
    steps=whole(0),
    check=whole(0),
    seed=whole(0),
)
@progress_bar("Estimating", "passes")
def patch_estimate(
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
    steps: int = 0,
    check: int = 16,
    null: bool = True,
    seed: int = 0,
) -> GridEstimate:
    """Estimate every cell of a `patch_scan` from a gradient, and compare some with exact patches.

    For the texts of `patch_scan`::

        aw.patch_estimate(model, tokenizer, clean, corrupt, token=" Mary", against=" John")

    Attribution patching (Nanda 2023; Syed, Rager and Conmy 2023): one backward pass for all cells.
    For the numbers a at a place, and the metric m, a cell has

        Σ (a_clean - a_corrupt) · ∂m/∂a / (m_clean - m_corrupt),

    the sum over what the cell patches, with the gradient for the corrupt text: the first order of
    the share that the patch restores. It errs where the metric is no straight line between both
    (Kramár et al. 2024): a softmax that is saturated for the corrupt text has next to no gradient
    by queries and keys, and effects that cancel out hide each other; at early layers and in the
    residual stream, whose patches are large, most of all. So some cells are patched exactly, and
    the result has the rank correlation with these (`agreement`).

    With steps, the gradient is the mean over as many texts between both, whose embeddings (what
    the first layer gets) are (1 - t) corrupt + t clean, t = 1/(2·steps), 3/(2·steps), …: integrated
    gradients, by as many forward and backward passes (Sundararajan et al. 2017; of activations from
    inputs as by Hanna, Pezzelle and Belinkov 2024).

    Args:
        model, tokenizer, clean, corrupt, token, against, position, at, by, stack, layers: see
            `patch_scan`.
        metric: as for `patch_scan`; your own returns a tensor that has a gradient.
        steps: the number of texts between both; 0 for the gradient at the corrupt one alone.
        check: of how many cells the exact number is measured, by as many rows of a batch: one drawn
            from each of as many equal parts of the cells, by rows, whose estimate is not 0.
        null: True for estimates of permuted positions as well, as for `patch_scan`.
        seed: of the permutations, and of the cells that are drawn.

    Raises:
        TypeError, ValueError, IndexError: see `patch_scan`; or there are no gradients here.
    """
    model = traceable(model)
    check_gradients(model)
    with undisturbed(model):
        texts = two_texts(model, tokenizer, clean, corrupt, metric, token, against, position, stack)
        source = texts.read(at, texts.clean)
        of_source = source.layers[texts.stack]
        grid = Grid(at, by, of_source, layers, permuted=null)
        found = _gradients(texts, at, steps)
        cells = list(grid.cells(seed))
        for cell in cells:
            own, gradient = found[cell.layer]
            change = of_source[cell.layer][:, cell.heads][:, :, cell.taken].astype(np.float64)
            change -= own[:, cell.heads][:, :, cell.positions]
            number = (change * gradient[:, cell.heads][:, :, cell.positions]).sum()
            grid.put(cell, texts.share(float(number)))
        measured = np.full(grid.shape, np.nan)
        nonzero = [each for each in cells if each.null is None and grid.values[each.place] != 0]
        drawn = _drawn(nonzero, check, seed)
        for cell, number in zip(drawn, _exactly(texts, drawn, at, source), strict=True):
            measured[cell.place] = number
    between = f", the mean over {steps} texts between both" if steps else " for the corrupt text"
    return GridEstimate(
        "estimate",
        f"The share of {texts.name} that a patch at {at!r} of the corrupt text would restore, "
        f"estimated from the gradient{between}: {texts.both}",
        at,
        by,
        grid.rows,
        grid.columns(texts.labels(grid.length)),
        grid.values,
        grid.null,
        None if grid.null is None else "permuted positions",
        texts.corrupt.described,
        missing=source.missing,
        exact=measured,
    )


def _drawn(cells: list[Cell], count: int, seed: int) -> list[Cell]:
    """One cell of each of so many equal parts, at random."""
    random = np.random.default_rng(seed)
    parts = np.array_split(np.arange(len(cells)), max(1, min(count, len(cells))))
    return [cells[random.choice(part)] for part in parts if count and len(part)]


def _exactly(texts: TwoTexts, cells: list[Cell], at: Place, source: HeadOutputs) -> Iterator[float]:
    """The share of the metric that each cell restores, patched in one batch if that can be."""
    batch, rows = repeated(texts.corrupt.batch, max(1, len(cells)))
    patches = CellPatches(texts, at, rows, [source])
    for first in range(0, len(cells), rows):
        patches.cells = cells[first : first + rows]
        with patches.following():
            output = run_model(texts.model, batch, all_logits=True)
        for row in range(len(patches.cells)):
            yield texts.restored(output, row, rows)


def _gradients(texts: TwoTexts, at: Place, steps: int) -> Gradients:
    """The numbers at a place of the corrupt text, and the gradient there, by layer."""
    own = texts.read(at, texts.corrupt).layers[texts.stack]
    total: dict[int, np.ndarray[Any, Any]] = {}
    for each, number in between(texts, steps):
        probes = _Probes(texts, at, own)
        with torch.enable_grad(), each(), probes.following():
            output = run_model(texts.model, texts.corrupt.batch, all_logits=True)
        added = [zeros for of_layer in probes.added.values() for zeros in of_layer]
        gradients = iter(gradients_by(texts, output, added))
        for layer, of_layer in probes.added.items():
            whole = torch.cat([next(gradients) for _ in of_layer], dim=1)
            total[layer] = total.get(layer, 0) + exact(whole).numpy() / number
        step_done()
    return {layer: (own[layer], total[layer]) for layer in own}


def between(texts: TwoTexts, steps: int) -> Iterator[tuple[Callable[[], Any], int]]:
    """(a context in which the corrupt text is one between both, the number of these).

    Without steps, it is the corrupt text itself.
    """
    if not steps:
        yield ExitStack, 1
        return
    stack = texts.stack
    clean, corrupt = (
        torch.tensor(texts.read("embedding", text).layers[stack][0])
        for text in (texts.clean, texts.corrupt)
    )
    for step in range(steps):
        share = (step + 0.5) / steps
        mixed = (1 - share) * corrupt + share * clean
        streams = Streams(texts.model, texts.sites.found)
        streams.visit("embedding", stack, None, partial(_put, mixed))
        yield streams.following, steps


def _put(mixed: torch.Tensor, here: Here) -> torch.Tensor:
    return mixed.to(here.own)


def gradients_by(
    texts: TwoTexts, output: Any, tensors: list[torch.Tensor], *, keep: bool = False
) -> list[torch.Tensor]:
    """The gradient of the metric by tensors; zeros where it does not depend on them.

    Raises:
        ValueError: the metric has no gradient.
    """
    with torch.enable_grad():
        number = texts.metric(output)
    if not (isinstance(number, torch.Tensor) and number.requires_grad and number.numel() == 1):
        raise ValueError(
            f"{texts.name} is no tensor with a gradient: the metric has to return one, as "
            "output.logits[0, -1, 5], and not float(...) of it"
        )
    found = torch.autograd.grad(number, tensors, allow_unused=True, retain_graph=keep)
    return [
        torch.zeros_like(tensor) if gradient is None else gradient
        for tensor, gradient in zip(tensors, found, strict=True)
    ]


class _Probes(AtPlace):
    """Adds zeros at a place of some layers, whose gradient is that by what is there.

    Attributes:
        added: the zeros of each layer, by its calls.
    """

    def __init__(self, texts: TwoTexts, at: Place, layers: Container[int]) -> None:
        super().__init__(texts, at, 1)
        self.added: dict[int, list[torch.Tensor]] = {}
        self._layers = layers

    def changes(self, layer: int) -> bool:
        return layer in self._layers

    def changed(self, layer: int, own: torch.Tensor, head: int | None = None) -> torch.Tensor:
        zeros = torch.zeros_like(own, requires_grad=True)
        self.added.setdefault(layer, []).append(zeros)
        return own + zeros

    def replaced(self, call: Call, new: torch.Tensor) -> Call | torch.Tensor:
        if self.at == "head":
            return super().replaced(call, new)
        # Not by `with_at`, for which zeros change nothing.
        return outputs_with(call, self.at, new)[1]
