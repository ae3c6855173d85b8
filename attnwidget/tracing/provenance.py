"""The provenance of scores and weights: the product and the softmax that they come from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch


@dataclass(frozen=True)
class Scores:
    """Provenance of a tensor: scale * q.k, perhaps with a softcap, plus added terms.

    Added terms are not followed: they are the difference to the softmax's input.

    Attributes:
        query, key: [..., Tq, d] and [..., Tk, d], as they entered the product.
        index: the row of the product that each entry of this tensor comes from, counted over all
            leading dimensions: int64 in the layout of this tensor.
        scale: factor on the dot products.
        factors: tensors that the dot products were also multiplied with.
        capped: the factor before the tanh of a softcap, or None; `scale` is then the one after.
        versions: the version counters of both tensors at the time of the product.
    """

    query: torch.Tensor
    key: torch.Tensor
    index: torch.Tensor
    scale: float = 1.0
    factors: tuple[torch.Tensor, ...] = ()
    capped: float | None = None
    versions: tuple[int, int] = (0, 0)

    @classmethod
    def of(cls, query: torch.Tensor, key: torch.Tensor, scale: float = 1.0) -> Scores:
        """The provenance of a product of [..., Tq, d] and [..., Tk, d]."""
        size = torch.Size((*_lead(query, key), query.shape[-2]))
        index = torch.arange(size.numel()).reshape(*size, 1).expand(*size, key.shape[-2])
        return cls(query, key, index, scale, versions=(_version(query), _version(key)))

    @property
    def intact(self) -> bool:
        """True if queries and keys were not changed in place since the product."""
        return self.versions == (_version(self.query), _version(self.key))

    def times(self, factor: Any, *, inverse: bool = False) -> Scores:
        """The provenance after a multiplication with, or a division by, a number or a tensor."""
        if isinstance(factor, torch.Tensor):
            factor = factor.detach().float()
            return replace(self, factors=(*self.factors, 1 / factor if inverse else factor))
        return replace(self, scale=self.scale / factor if inverse else self.scale * factor)

    def permuted(self, order: list[int]) -> Scores:
        """The provenance with its dimensions in another order."""
        return replace(self, index=self.index.permute(order))

    def tanh(self) -> Scores:
        return replace(self, capped=self.scale, scale=1.0)

    def oriented(self) -> Scores:
        """The provenance with queries and keys swapped if the tensor is the product's transpose.

        Some models compute keys . queries and transpose the result.
        """
        first = self.index.flatten(0, -3)[:1, :1] if self.index.ndim > 2 else self.index[None, :1]
        if bool((first == first[..., :1]).all()):
            return self
        matrix = self.index // self.query.shape[-2] * self.key.shape[-2]
        index = matrix + torch.arange(self.index.shape[-2])[:, None]
        return replace(self, query=self.key, key=self.query, index=index)

    def vectors(self, index: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor] | None:
        """Queries [..., Tq, d] and keys [..., Tk, d] for rows [..., Tq] of `index`.

        None if the rows of one matrix belong to different keys.
        """
        lead, rows = _lead(self.query, self.key), self.query.shape[-2]
        entry = index // rows
        if not bool((entry == entry[..., :1]).all()):
            return None
        query = self.query.expand(*lead, *self.query.shape[-2:])
        key = self.key.expand(*lead, *self.key.shape[-2:])
        matrix = torch.unravel_index(entry.to(key.device), lead) if lead else ()
        shared = torch.unravel_index(entry[..., 0].to(key.device), lead) if lead else ()
        keys = key[shared] if lead else key.expand(*index.shape[:-1], *key.shape)
        picked = (*matrix, (index % rows).to(query.device))
        return query[picked], keys


@dataclass(frozen=True)
class Weights:
    """Provenance of a tensor: a softmax, and the changes of its result.

    Attributes:
        logits: the softmax's input.
        scores: the provenance of the logits, or None if it is not known.
        latest: the weights after the last change of their values, in the logits' layout; None for
            the tensor itself, to which its provenance must not hold a reference.
        column: the column of the softmax that each entry belongs to, in the tensor's own layout.
        ordered: True if the entries are in the order of the logits' layout.
        used: has an entry once the weights have been used.
        version: the version counter of the logits at the time of the softmax.
        joined: True if the logits are scores and others, such as those of a sink.
    """

    logits: torch.Tensor
    scores: Scores | None
    latest: torch.Tensor | None
    column: torch.Tensor
    used: list[bool]
    version: int
    ordered: bool = True
    joined: bool = False

    @classmethod
    def of(
        cls,
        logits: torch.Tensor,
        scores: Scores | None,
        weights: torch.Tensor,
        dim: int = -1,
        *,
        joined: bool = False,
    ) -> Weights:
        """The provenance of the softmax of logits over one dimension.

        Weights over another dimension than the last are those of transposed logits, transposed.
        """
        column = torch.arange(weights.shape[dim]).expand(weights.movedim(dim, -1).shape)
        if dim in (-1, weights.ndim - 1):
            return cls(logits, scores, None, column, [], _version(logits), joined=joined)
        scores = scores and replace(scores, index=scores.index.movedim(dim, -1))
        latest, column = weights.movedim(dim, -1), column.movedim(-1, dim)
        moved = logits.movedim(dim, -1)
        return cls(moved, scores, latest, column, [], _version(moved), False, joined)

    @property
    def known(self) -> bool:
        """True if the softmax was over products of queries and keys."""
        return self.scores is not None or self.joined

    @property
    def intact(self) -> bool:
        """True if the logits and their sources were not changed in place since the softmax."""
        scores = self.scores is None or self.scores.intact
        return scores and self.version == _version(self.logits)

    @property
    def axis(self) -> int | None:
        """The dimension of the tensor along which the softmax was taken."""
        first = (0,) * (self.column.ndim - 1)
        along = [self.column.movedim(axis, -1)[first] for axis in range(self.column.ndim)]
        # Of several, as where there is one item, the longest.
        axes = [n for n, row in enumerate(along) if torch.equal(row, torch.arange(len(row)))]
        return max(axes, key=lambda axis: (len(along[axis]), axis), default=None)


def _lead(query: torch.Tensor, key: torch.Tensor) -> torch.Size:
    lead: torch.Size = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2])  # type: ignore[no-untyped-call]
    return lead


def _version(tensor: torch.Tensor) -> int:
    return 0 if tensor.is_inference() else tensor._version
