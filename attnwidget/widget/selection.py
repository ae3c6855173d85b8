"""The selection of a widget as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attnwidget.record import AttentionRecord, Floats


@dataclass(frozen=True, repr=False)
class Selection:
    """One head at its locked query and key; a side without a lock is included whole.

    Attributes:
        stack, layer, head: the current stack, layer and head.
        query, key: the locked positions, or None.
        query_token, key_token: their labels, or None.
        weights: float32, the softmax's result: [Tq, Tk], [Tk] for a locked query, [Tq] for a
            locked key, [] for both; None for a layer without a softmax.
        scores: the softmax's input (scaled, biased, masked: -inf), of the same shape; None if only
            weights were recorded.
        queries: float32 [Tq, d] or [d], as they enter the dot product; None if not recorded.
        keys: float32 [Tk, d] or [d], likewise.
        coefficients: those of a layer without a softmax, of the shape of weights; None for others.
    """

    stack: str
    layer: int
    head: int
    query: int | None
    key: int | None
    query_token: str | None
    key_token: str | None
    weights: Floats | None
    scores: Floats | None
    queries: Floats | None
    keys: Floats | None
    coefficients: Floats | None = None

    def __repr__(self) -> str:
        def side(position: int | None, token: str | None) -> str:
            return "all" if position is None else f"{position} {token!r}"

        numbers = self.coefficients if self.weights is None else self.weights
        what = "coefficients" if self.weights is None else "weights"
        shape = "x".join(map(str, numbers.shape)) or "1" if numbers is not None else "no"
        return (
            f"<Selection of {self.stack}: layer {self.layer}, head {self.head}, "
            f"query {side(self.query, self.query_token)}, key {side(self.key, self.key_token)} "
            f"({shape} {what})>"
        )


def select(
    record: AttentionRecord, stack: str, layer: int, head: int, query: int | None, key: int | None
) -> Selection:
    """Select a head of a record, at a query and a key."""
    recorded = record.layer(layer, stack)
    query_labels, key_labels = record.tokens(stack)
    # The index None would add an axis.
    row, column = slice(None) if query is None else query, slice(None) if key is None else key
    return Selection(
        stack=stack,
        layer=layer,
        head=head,
        query=query,
        key=key,
        query_token=None if query is None else query_labels[query],
        key_token=None if key is None else key_labels[key],
        weights=None if recorded.signed else np.asarray(recorded.head_weights(head)[row, column]),
        scores=None
        if recorded.program is None or recorded.signed
        else np.asarray(recorded.head_scores(head)[row, column]),
        queries=None if recorded.queries is None else recorded.head_queries(head)[row],
        keys=None if recorded.keys is None else recorded.head_keys(head)[column],
        coefficients=np.asarray(recorded.head_coefficients(head)[row, column])
        if recorded.signed
        else None,
    )
