"""The size of BertViz's data, computed without BertViz and in little memory.

Its head and model views write every weight as a decimal number into JSON. How many bytes that takes
depends on the weights alone, so it can be known where the page itself would fill the memory.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

import numpy as np


def json_bytes(layers: Iterable[np.ndarray], labels: Sequence[str], every: int = 1) -> int:
    """The length of the JSON that `bertviz.head_view(attention, labels)` writes, once.

    Args:
        layers: float32 [heads, T, T] per layer.
        labels: the tokens as BertViz writes them.
        every: with n > 1, every n-th row stands for its neighbours, and the result is near.
    """
    lengths = [_enclosed([_head_bytes(head, every) for head in layer]) for layer in layers]
    around = {
        "attention": [{"name": None, "attn": 0, "left_text": labels, "right_text": labels}],
        "default_filter": "0",
        "root_div_id": f"bertviz-{'0' * 32}",
        "layer": None,
        "heads": None,
        "include_layers": list(range(len(lengths))),
    }
    return round(len(json.dumps(around)) - len("0") + _enclosed(lengths))


def _head_bytes(head: np.ndarray, every: int) -> float:
    some = head[every // 2 :: every]
    written = sum(len(json.dumps(row.tolist())) for row in some)
    return _enclosed([written * len(head) / len(some)], len(head))


def _enclosed(lengths: Sequence[float], items: int | None = None) -> float:
    """The length of a JSON list whose items have these lengths in all."""
    items = len(lengths) if items is None else items
    return sum(lengths) + len("[]") + len(", ") * (items - 1)
