"""Numbers that say in a word what a head does.

The shares on the previous, same and next token and on special tokens, and the entropy, are
those of Clark et al. 2019, "What Does BERT Look At?" (sections 3.1 to 3.3), here for one text.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attnwidget.record import Floats

MEASURES = ("entropy", "distance", "previous", "same", "next", "first", "special")


def measures(weights: Floats, special: Sequence[int]) -> dict[str, list[float]]:
    """Per head, averaged over the queries that see any key.

    Args:
        weights: float32 [heads, Tq, Tk].
        special: positions of special keys.

    Returns:
        "entropy" in nats; "distance", the mean of key position - query position; and the shares
        of attention on the "previous", "same" and "next" token, the "first" key, and "special"
        keys. Position-wise numbers compare position i of the queries with position i of the keys.
    """
    live = weights.sum(axis=2) > 0
    count = np.maximum(live.sum(axis=1), 1)
    logs = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    rows, columns = np.arange(weights.shape[1]), np.arange(weights.shape[2])
    offsets = (columns[None, :] - rows[:, None]).astype(np.float32)
    totals = {
        "entropy": -np.einsum("hij,hij->h", weights, logs),
        "distance": np.einsum("hij,ij->h", weights, offsets),
        "previous": np.trace(weights, -1, 1, 2),
        "same": np.trace(weights, 0, 1, 2),
        "next": np.trace(weights, 1, 1, 2),
        "first": weights[:, :, 0].sum(axis=1),
        "special": weights[:, :, list(special)].sum(axis=(1, 2)),
    }
    return {name: [round(float(v), 4) for v in totals[name] / count] for name in MEASURES}
