"""Attention added up over layers, after Abnar and Zuidema 2020.

"Quantifying Attention Flow in Transformers". Both ways see a model as a graph: the tokens of every
layer, and from each to those of the layer before the edges Ā = (A + I) / 2, where A is the mean of
the layer's heads, and I stands for the residual connection. What MLPs and norms do is left out.

Rows of Ā are scaled to sum to 1 where a query gives less than 1 to all keys, as with sinks. There
is no other normalisation: in a causal model, where more paths lead to early tokens than to late
ones, early tokens have the larger numbers. The authors advise to account for each token's receptive
field before numbers of such a model are compared; that is left to the caller.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from attnwidget.analysis.metrics import Numbers
from attnwidget.arguments import checked, several_numbers
from attnwidget.record import A_STACK, Floats, Layer, Stack, spans

from .attention import why_no_softmax
from .lens import MatrixLens, WhyNot

# A capacity of 1 in integers of 32 bits, which scipy's maximum flow takes.
_WHOLE = 1 << 30


@checked(stack=A_STACK)
def rollout(stack: Stack) -> Floats:
    """R_l = Ā_l R_(l-1) for every layer, with R_(-1) = I: float32 [layers, T, T].

    R_l[i, j] is the share of input token j in token i after layer l. Rows sum to 1.

    Raises:
        ValueError: the stack is no self-attention, or lacks layers before its last one.
    """
    _check(stack)
    size = len(stack.keys)
    rolled = np.empty((len(stack.layers), size, size), np.float32)
    before = np.eye(size)
    for place, layer in enumerate(stack.layers):
        before = _with_residual(layer) @ before
        rolled[place] = before
    return rolled


@checked(stack=A_STACK)
def flow(
    stack: Stack, layer: int | None = None, queries: Iterable[int] | None = None
) -> NDArray[np.float64]:
    """The largest flow from each query after a layer to every input token: float64 [queries, T].

    Edges have the capacity Ā. Each flow is that of one token alone, so that rows do not sum to 1.
    In layer 0, it is the rollout. Takes a maximum flow for every pair, which is slow: give some
    `queries` of a long text.

    Args:
        stack: of self-attention.
        layer: the number of the layer; the last one if None.
        queries: positions; all if None.

    Raises:
        ValueError: the stack is no self-attention, or lacks layers before its last one.
        IndexError: there is no such layer or query.
        ModuleNotFoundError: scipy is not installed: pip install 'attnwidget[analysis]'.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    _check(stack)
    size = len(stack.keys)
    chosen = several_numbers("queries", queries) or range(size)
    for query in chosen:
        if not 0 <= query < size:
            raise IndexError(f"query {query} does not exist: there are 0 to {size - 1}")
    last = stack.layers[-1] if layer is None else stack.layer(layer)
    depth = stack.numbers.index(last.number) + 1
    starts, ends, capacities = [], [], []
    for number, each in enumerate(stack.layers[:depth]):
        edges = np.rint(_with_residual(each) * _WHOLE).astype(np.int32)
        after, before = np.nonzero(edges)
        # Input tokens come first, then those after each layer.
        starts.append((number + 1) * size + after)
        ends.append(number * size + before)
        capacities.append(edges[after, before])
    places = np.concatenate(starts), np.concatenate(ends)
    graph = csr_array((np.concatenate(capacities), places), shape=((depth + 1) * size,) * 2)
    found = [
        [maximum_flow(graph, depth * size + query, key).flow_value for key in range(size)]
        for query in chosen
    ]
    return np.array(found, np.float64).reshape(len(chosen), size) / _WHOLE


def why_no_rollout(stack: Stack) -> WhyNot | None:
    """The reason why a stack has neither rollout nor flow; None if it has."""
    if stack.signed:
        return why_no_softmax(
            stack.layers[-1], "rollout multiplies weights, whose rows are shares of 1"
        )
    if stack.queries != stack.keys:
        return WhyNot(
            "self-attention only",
            "has queries and keys that are different tokens: rollout multiplies the layers of "
            "self-attention",
        )
    if stack.numbers != tuple(range(len(stack.layers))):
        return WhyNot(
            "needs all layers",
            f"is one of {spans(stack.numbers)}: rollout needs the attention of every layer up to "
            "the one shown. Capture all layers; layers that mix tokens without attention have none",
        )
    return None


def _check(stack: Stack) -> None:
    why = why_no_rollout(stack)
    if why is not None:
        raise ValueError(f"this stack has no rollout: its last layer {why.sentence}")


def _with_residual(layer: Layer) -> Numbers:
    """Ā: the mean of the heads and the identity, rows scaled to sum to 1, float64 [T, T]."""
    mean = np.zeros(layer.shape)
    for head in range(layer.num_heads):
        mean += layer.head_weights(head)
    mean /= layer.num_heads
    both = 0.5 * mean + 0.5 * np.eye(len(mean))
    scaled: Numbers = both / both.sum(axis=1, keepdims=True)
    return scaled


ROLLOUT = MatrixLens(
    name="rollout",
    label="Rollout",
    description="(A + I) / 2 of all layers up to this one, A the mean of heads, multiplied",
    one="share",
    many="shares",
    why_not=lambda record, stack, layer: why_no_rollout(record.stack(stack)),
    matrices=lambda record, stack: list(rollout(record.stack(stack))[:, None]),
    by_head=False,
    accumulates=True,
)
