"""Heads of vision models that attend to a marked region of the image."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from attnwidget.corpus import Estimate
from attnwidget.corpus.accumulators import Means
from attnwidget.progress import progress_bar, step_done
from attnwidget.record import AttentionRecord, Patches

from .directions import as_metric
from .shares import heads_table

if TYPE_CHECKING:
    import pandas as pd
    import torch


@dataclass(frozen=True)
class RegionScores:
    """The share of each head's attention inside marked regions; see `regions`.

    Attributes:
        values: of the weights on patches, the share inside: arrays [layers, heads], NaN where a
            layer has fewer heads than another.
        area: the mean share of the image that the regions cover, which even attention would have.
        stack: the stack that was read.
        numbers: the layers' numbers in the model.
        num_images: the number of images.
    """

    values: Estimate = field(repr=False)
    area: float
    stack: str
    numbers: tuple[int, ...]
    num_images: int

    def table(self) -> pd.DataFrame:
        """All heads as a table of pandas, those that attend most to regions first.

        Columns: layer, head, inside, low, high, area.

        Raises:
            ModuleNotFoundError: pandas is not installed.
        """
        return heads_table("inside", self.values, self.numbers, {"area": self.area})

    def metrics(self) -> dict[str, dict[str, Any]]:
        """The share of every head, as `metrics` of `attnwidget.show`, beside the regions' area."""
        null = np.where(np.isnan(self.values.mean), np.nan, self.area)
        return {"attends to regions": as_metric(self.values, null, "area of the regions")}


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
        pairs: Iterable[tuple[AttentionRecord, Any]] = model
    elif processor is None or images is None:
        raise TypeError("regions needs a model, its processor and images with their regions")
    else:
        from attnwidget.capture import capture

        pairs = ((capture(model, processor, inputs), region) for inputs, region in images)  # type: ignore[arg-type]
    means: Means | None = None
    areas: list[float] = []
    stack_name, numbers = "", list[int]()
    with progress_bar("Probing", "images"):
        for index, (record, region) in enumerate(pairs):
            stack_name, patches = _patches(record)
            inside = _inside(region, patches)
            shares = _shares(record, stack_name, patches, inside)
            means = means or Means(shares.shape, seed)
            means.add({index: shares})
            areas.append(float(inside.mean()))
            numbers = list(record.stack(stack_name).numbers)
            step_done()
    if means is None:
        raise ValueError("there are no images")
    area = float(np.mean(areas))
    return RegionScores(means.estimate(), area, stack_name, tuple(numbers), len(areas))


def _patches(record: AttentionRecord) -> tuple[str, Patches]:
    """The stack whose tokens have places on the image, and the places."""
    for name in record.stacks:
        stack = record.stack(name)
        if stack.keys.patches is not None and stack.keys == stack.queries:
            return name, stack.keys.patches
    raise ValueError(
        "the places of the tokens on the image are not known: see images in docs/guide/capture.md"
    )


def _inside(region: Any, patches: Patches) -> NDArray[np.float64]:
    """The share of each patch that lies inside, [rows x columns] in reading order."""
    given = np.asarray(region, np.float64)
    if given.shape == (4,):
        left, top, right, bottom = given
        if not (0 <= left < right <= 1 and 0 <= top < bottom <= 1):
            raise ValueError(
                f"a region is {region!r:.60}; expected (left, top, right, bottom) from 0 to 1"
            )
        return np.outer(
            _covered(top, bottom, patches.rows), _covered(left, right, patches.columns)
        ).ravel()
    if given.ndim != 2 or not given.size or given.min() < 0 or given.max() > 1:
        raise ValueError(
            "a region is neither (left, top, right, bottom) nor a mask [rows, columns] from 0 to 1"
        )
    if not given.any():
        raise ValueError("a mask is 0 everywhere: it marks no region")
    rows, columns = (
        _cells(count, size)
        for count, size in zip((patches.rows, patches.columns), given.shape, strict=True)
    )
    inside: NDArray[np.float64] = (rows @ given @ columns.T).ravel()
    return inside


def _covered(start: float, end: float, count: int) -> NDArray[np.float64]:
    """The share of each of `count` equal parts of 0 to 1 that lies between start and end."""
    edges = np.arange(count + 1) / count
    covered: NDArray[np.float64] = np.clip(
        (np.minimum(edges[1:], end) - np.maximum(edges[:-1], start)) * count, 0, 1
    )
    return covered


def _cells(count: int, size: int) -> NDArray[np.float64]:
    """Means over `count` equal parts of `size` pixels, as a matrix [count, size]."""
    edges = np.arange(count + 1) / count
    pixels = np.arange(size + 1) / size
    shared = np.minimum(edges[1:, None], pixels[1:]) - np.maximum(edges[:-1, None], pixels[:-1])
    parts: NDArray[np.float64] = shared.clip(0) * count
    return parts


def _shares(
    record: AttentionRecord, stack_name: str, patches: Patches, inside: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The weights inside as a share of those on all patches, by head: [layers, heads]."""
    stack = record.stack(stack_name)
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
