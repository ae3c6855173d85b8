"""Reference for head summaries: the plain definitions over all weights at once."""

from collections.abc import Sequence

import numpy as np

from attnwidget.record import Floats


def thumbnail(weights: Floats, splits: tuple[int | None, int | None]) -> np.ndarray:
    """The square roots of each cell's largest weight, 0 to 15, not yet rounded.

    Args:
        weights: float32 [heads, Tq, Tk].
        splits: where the second text begins among queries and keys.
    """
    for axis, split in zip((1, 2), splits, strict=True):
        length = weights.shape[axis]
        cells = min(length, 32)
        first = cells
        if split is not None:
            first = max(1, min(cells - 1, int(cells * split / length + 0.5)))
        parts = [(0, length if split is None else split, first)]
        if split is not None:
            parts.append((split, length, cells - first))
        starts = [
            start + n * (end - start) // count for start, end, count in parts for n in range(count)
        ]
        weights = np.maximum.reduceat(weights, starts, axis=axis)
    return 15 * np.sqrt(weights)


def metrics(weights: Floats, special: Sequence[int]) -> dict[str, np.ndarray]:
    """Per head, averaged over the queries that see any key; of float [heads, Tq, Tk]."""
    weights = weights.astype(float)
    live = weights.sum(axis=2) > 0
    logs = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    rows, columns = np.arange(weights.shape[1]), np.arange(weights.shape[2])
    offsets = columns[None, :] - rows[:, None]

    def over_all(per_row: np.ndarray) -> np.ndarray:
        return per_row.sum(axis=1) / np.maximum(live.sum(axis=1), 1)

    def over_neighbours(offset: int) -> np.ndarray:
        has_one = (rows + offset >= 0) & (rows + offset < len(columns))
        counted = np.maximum((live & has_one).sum(axis=1), 1)
        return np.trace(weights, offset, 1, 2) / counted

    return {
        "entropy": over_all(-(weights * logs).sum(axis=2)),
        "distance": over_all((weights * offsets).sum(axis=2)),
        "previous": over_neighbours(-1),
        "same": over_neighbours(0),
        "next": over_neighbours(1),
        "first": over_all(weights[:, :, 0]),
        "special": over_all(weights[:, :, list(special)].sum(axis=2)),
    }
