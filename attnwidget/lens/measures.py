"""Numbers that say in a word what a head does.

The shares on the previous, same and next token and on special tokens, and the entropy, are
those of Clark et al. 2019, "What Does BERT Look At?" (sections 3.1 to 3.3), here for one text; the
distance is that of Vig and Belinkov 2019, "Analyzing the Structure of Attention in a Transformer
Language Model", with its sign.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from attnwidget.record import Floats

Measure = Literal["entropy", "distance", "previous", "same", "next", "first", "special"]
MEASURES: tuple[Measure, ...] = get_args(Measure)


def measures(weights: Floats, special: Sequence[int]) -> dict[str, list[float]]:
    """Per head, averaged over the queries that see any key.

    Args:
        weights: float32 [heads, Tq, Tk].
        special: positions of special keys.

    Returns:
        "entropy" in nats; "distance", the mean of key position - query position; and the shares
        of attention on the "previous", "same" and "next" token (over the queries that have one),
        on the "first" key, and on "special" keys.
    """
    live = weights.sum(axis=2) > 0
    logs = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    rows, columns = np.arange(weights.shape[1]), np.arange(weights.shape[2])
    offsets = (columns[None, :] - rows[:, None]).astype(np.float32)

    def over_all(per_row: Floats) -> Floats:
        total: Floats = per_row.sum(axis=1) / np.maximum(live.sum(axis=1), 1)
        return total

    def over_neighbours(offset: int) -> Floats:
        has_one = (rows + offset >= 0) & (rows + offset < len(columns))
        share: Floats = np.trace(weights, offset, 1, 2) / np.maximum(
            (live & has_one).sum(axis=1), 1
        )
        return share

    values: dict[Measure, Floats] = {
        "entropy": over_all(-np.einsum("hij,hij->hi", weights, logs)),
        "distance": over_all(np.einsum("hij,ij->hi", weights, offsets)),
        "previous": over_neighbours(-1),
        "same": over_neighbours(0),
        "next": over_neighbours(1),
        "first": over_all(weights[:, :, 0]),
        "special": over_all(weights[:, :, list(special)].sum(axis=2)),
    }
    return {name: [round(float(v), 4) for v in values[name]] for name in MEASURES}
