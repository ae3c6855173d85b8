"""Layers from attention weights (and queries and keys) that were computed elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .layer import Fidelity, Layer
from .scores import Floats, ScoreProgram
from .stack import Stack
from .tokens import Tokens

_TOLERANCE = 1e-4


def stack_from_arrays(
    attentions: Any,
    tokens: Sequence[str],
    key_tokens: Sequence[str] | None,
    queries: Any,
    keys: Any,
) -> Stack:
    """See `AttentionRecord.from_arrays`."""
    for name, labels in (("tokens", tokens), ("key_tokens", key_tokens)):
        if isinstance(labels, str):
            raise TypeError(f"{name} is one string; give a list with one label per token")
    if (queries is None) != (keys is None):
        raise ValueError("give both queries and keys, or neither")
    weights = _per_layer(attentions, "attentions")
    vectors: list[tuple[Floats, Floats] | None] = [None] * len(weights)
    if queries is not None:
        all_queries, all_keys = _per_layer(queries, "queries"), _per_layer(keys, "keys")
        if not len(all_queries) == len(all_keys) == len(weights):
            raise ValueError(
                f"{len(weights)} layers of attention, {len(all_queries)} of queries and "
                f"{len(all_keys)} of keys; give one of each per layer"
            )
        vectors = list(zip(all_queries, all_keys, strict=True))
    query_axis = Tokens(tuple(str(t) for t in tokens))
    key_axis = query_axis if key_tokens is None else Tokens(tuple(str(t) for t in key_tokens))
    layers = tuple(
        _layer(w, qk, number) for number, (w, qk) in enumerate(zip(weights, vectors, strict=True))
    )
    return Stack(query_axis, key_axis, layers)


def _per_layer(arrays: Any, name: str) -> list[Floats]:
    """A list of float32 [heads, rows, columns]."""
    arrays = None if arrays is None else list(arrays)
    if arrays is None or any(layer is None for layer in arrays):
        raise ValueError(
            f"{name}, or a layer of it, is None: a model returns no weights unless it is loaded "
            'with attn_implementation="eager"; or use attnwidget.capture'
        )
    layers = [_array(layer) for layer in arrays]
    if not layers:
        raise ValueError(f"{name} has no layers")
    out = []
    for index, array in enumerate(layers):
        if array.ndim == 4 and array.shape[0] == 1:
            array = array[0]
        if array.ndim != 3:
            raise ValueError(
                f"{name}[{index}] has shape {list(array.shape)}; expected [heads, rows, columns] "
                "per layer, optionally with a batch of one in front (pick one item of a larger "
                "batch yourself)"
            )
        out.append(array)
    return out


def _array(values: Any) -> Floats:
    # Tensors of any library are asked for numpy by their own methods: torch is not imported here.
    if hasattr(values, "detach"):
        values = values.detach().cpu().float().numpy()
    # A copy: the caller's array stays the caller's.
    array: Floats = np.array(values, dtype=np.float32, order="C")
    return array


def _layer(weights: Floats, vectors: tuple[Floats, Floats] | None, number: int) -> Layer:
    if weights.size and not (weights.min() >= 0 and weights.max() <= 1 + 1e-3):
        raise ValueError(
            "attentions must be weights between 0 and 1, as the softmax gives them, not scores"
        )
    given = Fidelity("given", "", "weights", None, None, _TOLERANCE, 0)
    if vectors is None:
        return Layer(None, None, None, weights, given, number)
    queries, keys = vectors
    plain = Layer(queries, keys, None, weights, given, number)
    causal = not np.triu(weights, 1).any() and weights.shape[1] > 1
    program = ScoreProgram(queries.shape[2] ** -0.5, "causal" if causal else "none")
    candidate = Layer(queries, keys, program, None, given)
    error = max(
        float(np.abs(candidate.head_weights(h) - weights[h]).max()) for h in range(len(weights))
    )
    if not error <= _TOLERANCE:
        return plain
    fidelity = Fidelity("given", "", "queries and keys", error, None, _TOLERANCE, weights.shape[1])
    return Layer(queries, keys, program, None, fidelity, number)
