"""Variability of a head's weights at each position between texts."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from attnwidget.analysis import Numbers
from attnwidget.record import Floats


def variability(first: Mapping[int, Floats]) -> dict[int, Numbers]:
    """Distance of a text's weights from the mean over texts: 0 if a head looks at positions alone.

    Σij |w[i, j] - m[i, j]| / (2 Σij w[i, j]), where m is the mean over texts, from 0 to 1; over the
    first 10 tokens, which most texts have, of a sample of 64 texts. Vig and Belinkov 2019,
    "Analyzing the Structure of Attention in a Transformer Language Model".

    Args:
        first: by text, the weights between the first tokens, float32 [heads, 10, 10]; NaN beyond
            the end of a text.

    Returns:
        By text, float64 [heads]; NaN with fewer than two texts.
    """
    weights = np.stack(list(first.values())).astype(np.float64)
    known = ~np.isnan(weights)
    weights = np.where(known, weights, 0)
    mean = weights.sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    distances = np.where(known, np.abs(weights - mean), 0).sum(axis=(2, 3))
    totals = 2 * weights.sum(axis=(2, 3))
    shares = distances / np.where((totals > 0) & (len(first) > 1), totals, np.nan)
    return dict(zip(first, shares, strict=True))
