"""Stacks from attention weights of any source, with queries and keys if there are any."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attnwidget.arguments import list_of
from attnwidget.record.fidelity import Fidelity
from attnwidget.record.layer import Layer
from attnwidget.record.stack import Stack
from attnwidget.record.tokens import Tokens

from .activation_cache import read_cache
from .arrays import SourceArray
from .vectors import explained_layer, layers_of_vectors
from .weights import Axes, layers_of_weights


def stack_from_arrays(
    attentions: Any,
    tokens: Sequence[str],
    key_tokens: Sequence[str] | None = None,
    queries: Any = None,
    keys: Any = None,
    scale: float | None = None,
    name: str = "attentions",
) -> Stack:
    """Make a stack as `AttentionRecord.from_arrays` says; errors call the attentions `name`."""
    query_axis = _tokens("tokens", tokens)
    key_axis = query_axis if key_tokens is None else _tokens("key_tokens", key_tokens)
    if (queries is None) != (keys is None):
        raise ValueError("give both queries and keys, or neither")
    cached = read_cache(attentions, name)
    scores, numbers = None, None
    if cached is not None:
        if queries is not None:
            raise ValueError("a cache brings its own queries and keys; give none beside it")
        attentions, queries, keys = cached.weights, cached.queries, cached.keys
        scores, numbers = cached.scores, cached.numbers
    if scale is not None and queries is None:
        raise ValueError("a scale needs queries and keys, and there are none")
    axes = Axes(name, len(query_axis), len(key_axis))
    weights = layers_of_weights(attentions, axes)
    numbers = numbers or tuple(range(len(weights)))
    _check_lengths(weights, numbers, axes)
    if queries is None:
        layers = [_weights_layer(w, number) for w, number in zip(weights, numbers, strict=True)]
    else:
        count = len(weights)
        no_scores: list[SourceArray | None] = [None] * count
        layers = [
            explained_layer(w, q, k, s, scale, number)
            for w, q, k, s, number in zip(
                weights,
                layers_of_vectors(queries, "queries", count),
                layers_of_vectors(keys, "keys", count),
                no_scores if scores is None else layers_of_vectors(scores, "scores", count),
                numbers,
                strict=True,
            )
        ]
    return Stack(query_axis, key_axis, tuple(layers))


def _tokens(name: str, labels: Sequence[str]) -> Tokens:
    if hasattr(labels, "shape"):
        raise TypeError(
            f"{name} are an array, of ids perhaps; give labels, as in "
            "tokenizer.convert_ids_to_tokens(input_ids[0])"
        )
    # A token of spaCy is no string.
    return Tokens(tuple(list_of(format, "a list with one label per token")(name, labels)))


def _weights_layer(weights: SourceArray, number: int) -> Layer:
    """A layer of weights alone."""
    fidelity = Fidelity("given", "", "weights", None, None, weights.tolerance, 0)
    return Layer(None, None, None, weights.array, fidelity, number)


def _check_lengths(weights: list[SourceArray], numbers: tuple[int, ...], axes: Axes) -> None:
    for (array, _), number in zip(weights, numbers, strict=True):
        rows, columns = array.shape[1:]
        if (rows, columns) == axes.matrix or 0 in array.shape:
            continue
        advice = "give as many tokens as the attention has positions"
        if (axes.queries - rows, axes.keys - columns) in ((1, 1), (1, 0)):
            advice += " (without the last token of a generation, which the model has not read)"
        raise ValueError(
            f"{axes.name}: layer {number} attends from {rows} to {columns} tokens, but there are "
            f"{axes.queries} query and {axes.keys} key tokens; {advice}"
        )
