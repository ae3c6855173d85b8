"""Attention on an image as an array of its pixels."""

from __future__ import annotations

from itertools import groupby
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from attnwidget.record import AttentionRecord, Floats, Tokens


def on_image(
    record: AttentionRecord,
    layer: int,
    head: int,
    position: int,
    *,
    stack: str | None = None,
    side: Literal["query", "key"] = "query",
    image: int = 0,
    size: tuple[int, int] | None = None,
    through: str | None = None,
) -> Floats:
    """The attention between one token and an image, spread over its pixels.

    The weight of each patch is spread evenly over the pixels that it covers. Patches of all grids
    of the image count: where a whole image and its crops overlap, they add up. The sum is the
    attention on the image, without what lies beyond its edges: of a patch on padding, nothing or a
    part is left. Of a layer without a softmax, it is of the magnitudes of coefficients, as shares
    of a query's.

    Args:
        position: of the token that attends; of the one attended to, if `side` is "key".
        stack: the name of a stack; the record's first if None.
        image: the number of the image in `record.images`, from 0.
        size: width and height in pixels; those of `record.images` if None, or give those of the
            photograph, to lay the array over it.
        through: the stack in which a resampler reads the image, as BLIP-2's "qformer cross". Its
            queries become the image's tokens in the text, one each, so the row of the token is
            multiplied by their attention to the patches, the mean of all its heads and layers.
            That is no attention of the model, but a guess at where it comes from: a resampler
            mixes its queries, and what it read of the patches.

    Returns:
        float32 [height, width].

    Raises:
        IndexError: there is no such layer, head, position or image.
        KeyError: there is no such stack.
        ValueError: the places of the tokens on the image are not known, or the size is not; or
            which tokens of the text come out of the resampler is not known.
    """
    found = record.stack(stack)
    own, other = (found.keys, found.queries) if side == "key" else (found.queries, found.keys)
    if not 0 <= position < len(own):
        raise IndexError(f"position {position}: there are {len(own)} tokens")
    resampler = None if through is None else record.stack(through)
    patches = other.patches if resampler is None else resampler.keys.patches
    if patches is None or image not in {grid.image for grid in patches.grids}:
        raise ValueError(f"the places of the tokens on image {image} are not known")
    if size is None and image >= len(record.images):
        raise ValueError(f"image {image} is not in the record: give the size of the array")
    width, height = record.images[image].size if size is None else size
    if width < 1 or height < 1:
        raise ValueError(f"size is {size}; expected a width and a height of at least 1 pixel")
    shown = record.layer(layer, stack)
    shown.check_head(head)
    weights = shown.head_shares(head)
    weights = weights[:, position] if side == "key" else weights[position]
    if resampler is not None:
        start = _resampled(other, len(resampler.queries))
        read = [
            record.weights(at, n, through)
            for at, each in enumerate(resampler.layers)
            for n in range(each.num_heads)
        ]
        on_queries = weights[start : start + len(resampler.queries)]
        weights = on_queries @ np.mean(read, axis=0)
    pixels = np.zeros((height, width))
    for number, grid in enumerate(patches.grids):
        if grid.image != image:
            continue
        on_grid = np.zeros(len(grid))
        for token, patch in enumerate(patches.on_grid(number)):
            if patch is not None:
                on_grid[patch] = weights[token]
        left, top, right, bottom = grid.box
        down = overlaps(top, bottom, grid.rows, np.arange(height + 1) / height)
        across = overlaps(left, right, grid.columns, np.arange(width + 1) / width)
        pixels += down.T @ on_grid.reshape(grid.rows, grid.columns) @ across
    return pixels.astype(np.float32)


def _resampled(tokens: Tokens, count: int) -> int:
    """The first of the tokens of a text that come out of a resampler: as many equal ones."""
    runs, start = [], 0
    for _, run in groupby(tokens.labels):
        length = len(list(run))
        if length == count:
            runs.append(start)
        start += length
    if len(runs) != 1:
        raise ValueError(
            f"{len(runs)} runs of {count} equal tokens are in the text; expected one, the image's "
            "tokens out of the resampler"
        )
    return runs[0]


def overlaps(
    start: float, end: float, count: int, edges: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The share of each of `count` equal parts of a line that lies between two edges.

    float64 [count, edges - 1].
    """
    parts = start + (end - start) * np.arange(count + 1) / count
    shared = np.minimum(parts[1:, None], edges[1:]) - np.maximum(parts[:-1, None], edges[:-1])
    shares: NDArray[np.float64] = (shared * count / (end - start)).clip(0, 1)
    return shares
