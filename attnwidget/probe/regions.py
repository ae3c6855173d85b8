"""Heads of vision models that attend to a marked region of the image."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from attnwidget.analysis import Numbers
from attnwidget.analysis.image_attention import overlaps
from attnwidget.arguments import checked, entries, whole
from attnwidget.corpus.accumulators import Means
from attnwidget.progress import progress_bar, step_done
from attnwidget.record import AttentionRecord, Patches, Stack

from .results import ProbeScores
from .word_attention import Heads, padded

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, kw_only=True)
class RegionScores(ProbeScores):
    """The share of each head's attention inside marked regions; see `regions`.

    Attributes:
        area: the mean share of the patches that the regions cover, which even attention would have.
    """

    area: float


@checked(seed=whole(0))
def regions(
    model: torch.nn.Module | Iterable[tuple[AttentionRecord, Any]],
    processor: Any = None,
    images: Iterable[tuple[Any, Any]] | None = None,
    *,
    seed: int = 0,
) -> RegionScores:
    """Measure the share of each head's attention that lies inside marked regions of images.

    The weights are those of all tokens on patches, of the image and of its crops; tokens without a
    patch, such as [CLS] and words, are left out as keys. A patch that lies partly inside counts in
    part. An even spread has the region's share of the area; centres of images draw attention
    without any object there. Of several images, the first counts.

    Args:
        model: a vision model; or (record, region), without processor and images.
        processor: its processor.
        images: (inputs of the processor for one image, region). A region is (left, top, right,
            bottom) in shares of the record's image, from 0 to 1: see `record.images`; or a mask
            [rows, columns] of it, with 1 inside.
        seed: of the bootstrap over images, from 0.

    Raises:
        TypeError: an argument is of the wrong kind.
        ValueError: a region is no box and no mask, or covers nothing; the places of a model's
            patches are not known; there are no images.
    """
    if processor is None and images is None:
        if not isinstance(model, Iterable):
            raise TypeError("expected a model, its processor and images; or (record, region) pairs")
        pairs = entries("pairs", model, "(record, region) pairs")
    elif processor is None or images is None:
        raise TypeError("regions needs a model, its processor and images with their regions")
    else:
        from attnwidget.capture import capture

        of_images = entries("images", images, "(inputs, region) pairs")
        taken = _pairs(of_images)
        pairs = ((capture(model, processor, inputs), region) for inputs, region in taken)  # type: ignore[arg-type]
    means: Means | None = None
    areas: list[float] = []
    heads = Heads()
    with progress_bar("Probing", "images"):
        for index, (record, region) in enumerate(pairs):
            heads.stack, patches = _patches(record)
            stack, inside = record.stack(heads.stack), _inside(region, patches)
            heads.add(stack, record.missing)
            means = means or Means.empty(heads.shape, seed)
            means.add({index: _shares(stack, inside)})
            areas.append(float(np.nanmean(inside)))
            step_done()
    if means is None:
        raise ValueError("there are no images")
    area = float(np.mean(areas))
    scores = heads.scores(
        "attends to regions",
        "The share of the weights on patches that lies inside the regions",
        means.estimate(),
        np.full(heads.shape, area),
        null_label="area of the regions",
        measured_on=f"{len(areas):,} images",
    )
    return RegionScores(heads={"regions": scores}, num_texts=(0, len(areas)), lost=0, area=area)


def _pairs(given: Iterable[Any]) -> Iterable[tuple[Any, Any]]:
    for each in given:
        if not isinstance(each, tuple | list) or len(each) != 2:
            raise TypeError(f"images are {each!r:.60}; expected (image, region) pairs")
        yield each[0], each[1]


def _patches(record: AttentionRecord) -> tuple[str, Patches]:
    """The stack whose tokens have places on the image, and the places.

    Layers without a softmax have no weights, and are left out.
    """
    for name in record.stacks:
        stack = record.stack(name)
        patches = stack.keys.patches
        if patches is None or stack.keys != stack.queries or stack.signed:
            continue
        if any(grid.image == 0 for grid in patches.grids):
            return name, patches
    raise ValueError(
        "the places of the tokens on the image are not known: see images in docs/guide/capture.md"
    )


def _inside(region: Any, patches: Patches) -> Numbers:
    """The share of each token's patch that lies inside; NaN for one that is not on image 0."""
    given = np.asarray(region, np.float64)
    if given.shape == (4,):
        left, top, right, bottom = given
        if not (0 <= left < right <= 1 and 0 <= top < bottom <= 1):
            raise ValueError(
                f"a region is {region!r:.60}; expected (left, top, right, bottom) from 0 to 1"
            )
        given, across, down = np.ones((1, 1)), given[[0, 2]], given[[1, 3]]
    elif given.ndim != 2 or not given.size or not (given.min() >= 0 and given.max() <= 1):
        raise ValueError(
            "a region is neither (left, top, right, bottom) nor a mask [rows, columns] from 0 to 1"
        )
    elif not given.any():
        raise ValueError("a mask is 0 everywhere: it marks no region")
    else:
        down, across = (np.arange(size + 1) / size for size in given.shape)
    inside = np.full(len(patches.of), np.nan)
    for number, grid in enumerate(patches.grids):
        if grid.image != 0:
            continue
        left, top, right, bottom = grid.box
        rows = overlaps(top, bottom, grid.rows, down)
        columns = overlaps(left, right, grid.columns, across)
        shares = (rows @ given @ columns.T).ravel()
        for token, patch in enumerate(patches.on_grid(number)):
            if patch is not None:
                inside[token] = shares[patch]
    return inside


def _shares(stack: Stack, inside: Numbers) -> Numbers:
    """The weights inside as a share of those on all patches, by head: [layers, heads]."""
    is_patch = ~np.isnan(inside)
    shares = []
    for layer in stack.layers:
        heads = [layer.head_weights(head).sum(0, np.float64) for head in range(layer.num_heads)]
        received = np.array(heads)[:, is_patch]
        total = received.sum(axis=1)
        shares.append(received @ inside[is_patch] / np.where(total > 0, total, np.nan))
    return padded(shares, np.nan)
