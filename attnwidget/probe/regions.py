"""Heads of vision models that attend to a marked region of the image."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from attnwidget.analysis import Numbers
from attnwidget.arguments import entries
from attnwidget.corpus.accumulators import Means
from attnwidget.progress import progress_bar, step_done
from attnwidget.record import AttentionRecord, Patches, Stack

from .results import ProbeScores
from .word_attention import Heads

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, kw_only=True)
class RegionScores(ProbeScores):
    """The share of each head's attention inside marked regions; see `regions`.

    Attributes:
        area: the mean share of the image that the regions cover, which even attention would have.
    """

    area: float


def regions(
    model: torch.nn.Module | Iterable[tuple[AttentionRecord, Any]],
    processor: Any = None,
    images: Iterable[tuple[Any, Any]] | None = None,
    *,
    seed: int = 0,
) -> RegionScores:
    """Measure the share of each head's attention that lies inside marked regions of images.

    The weights are those of all tokens on patches; tokens without a patch, such as [CLS], are left
    out as keys. A patch that lies partly inside counts in part. An even spread has the region's
    share of the area; centres of images draw attention without any object there.

    Args:
        model: a vision model; or (record, region), without processor and images.
        processor: its processor.
        images: (inputs of the processor for one image, region). A region is (left, top, right,
            bottom) in shares of the image that the model reads, from 0 to 1, after the processor
            has cut and scaled it; or a mask [rows, columns] of it, with 1 inside.
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
        pairs = ((capture(model, processor, inputs), region) for inputs, region in of_images)  # type: ignore[arg-type]
    means: Means | None = None
    areas: list[float] = []
    heads = Heads()
    with progress_bar("Probing", "images"):
        for index, (record, region) in enumerate(pairs):
            heads.stack, patches = _patches(record)
            inside = _inside(region, patches)
            shares = _shares(record.stack(heads.stack), patches, inside)
            means = means or Means.empty(shares.shape, seed)
            means.add({index: shares})
            areas.append(float(inside.mean()))
            stack = record.stack(heads.stack)
            heads.numbers = stack.numbers
            heads.counts = tuple(layer.num_heads for layer in stack.layers)
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


def _patches(record: AttentionRecord) -> tuple[str, Patches]:
    """The stack whose tokens have places on the image, and the places."""
    for name in record.stacks:
        stack = record.stack(name)
        if stack.keys.patches is not None and stack.keys == stack.queries:
            return name, stack.keys.patches
    raise ValueError(
        "the places of the tokens on the image are not known: see images in docs/guide/capture.md"
    )


def _inside(region: Any, patches: Patches) -> Numbers:
    """The share of each patch that lies inside, [rows x columns] in reading order."""
    given = np.asarray(region, np.float64)
    if given.shape == (4,):
        left, top, right, bottom = given
        if not (0 <= left < right <= 1 and 0 <= top < bottom <= 1):
            raise ValueError(
                f"a region is {region!r:.60}; expected (left, top, right, bottom) from 0 to 1"
            )
        given, across, down = np.ones((1, 1)), given[[0, 2]], given[[1, 3]]
    elif given.ndim != 2 or not given.size or given.min() < 0 or given.max() > 1:
        raise ValueError(
            "a region is neither (left, top, right, bottom) nor a mask [rows, columns] from 0 to 1"
        )
    elif not given.any():
        raise ValueError("a mask is 0 everywhere: it marks no region")
    else:
        down, across = (np.arange(size + 1) / size for size in given.shape)
    rows, columns = _shared(patches.rows, down), _shared(patches.columns, across)
    inside: Numbers = (rows @ given @ columns.T).ravel()
    return inside


def _shared(count: int, edges: Numbers) -> Numbers:
    """The share of each of `count` equal parts of 0 to 1 that lies between two edges.

    float64 [count, edges - 1].
    """
    parts = np.arange(count + 1) / count
    shared = np.minimum(parts[1:, None], edges[1:]) - np.maximum(parts[:-1, None], edges[:-1])
    shares: Numbers = (shared * count).clip(0, 1)
    return shares


def _shares(stack: Stack, patches: Patches, inside: Numbers) -> Numbers:
    """The weights inside as a share of those on all patches, by head: [layers, heads]."""
    weights_of = np.array([0 if place is None else inside[place] for place in patches.of])
    is_patch = np.array([place is not None for place in patches.of], np.float64)
    shares = np.full(
        (len(stack.layers), max(layer.num_heads for layer in stack.layers)), np.nan, np.float64
    )
    for place, layer in enumerate(stack.layers):
        for head in range(layer.num_heads):
            received = layer.head_weights(head).sum(axis=0, dtype=np.float64)
            shares[place, head] = received @ weights_of / (received @ is_patch or np.nan)
    return shares
