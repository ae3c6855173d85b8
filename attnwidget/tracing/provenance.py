"""The provenance of scores and weights: a product of queries and keys, a softmax."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch


@dataclass(frozen=True)
class Scores:
    """Provenance of a tensor: scale * q.k, then a softcap, and whatever was added to that.

    What was added needs no following: it is the difference to what went into the softmax.

    Attributes:
        query, key: [..., Tq, d] and [..., Tk, d], as they entered the product.
        index: which of the product's rows each entry of this tensor comes from, counted through
            all its leading dimensions: int64 in the layout of this tensor.
        scale: factor on the dot products.
        factors: tensors that the dot products were also multiplied with.
        capped: the factor before the tanh of a softcap, or None; `scale` is then the one after.
        versions: of both tensors at the time of the product.
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
        """The product of [..., Tq, d] and [..., Tk, d]."""
        size = torch.Size((*_lead(query, key), query.shape[-2]))
        index = torch.arange(size.numel()).reshape(*size, 1).expand(*size, key.shape[-2])
        return cls(query, key, index, scale, versions=(_version(query), _version(key)))

    @property
    def intact(self) -> bool:
        """True if queries and keys are still those of the product: they may be changed in place."""
        return self.versions == (_version(self.query), _version(self.key))

    def times(self, factor: Any, *, inverse: bool = False) -> Scores:
        """After a multiplication with a number or a tensor, or a division by it."""
        if isinstance(factor, torch.Tensor):
            factor = factor.detach().float()
            return replace(self, factors=(*self.factors, 1 / factor if inverse else factor))
        return replace(self, scale=self.scale / factor if inverse else self.scale * factor)

    def tanh(self) -> Scores:
        return replace(self, capped=self.scale, scale=1.0)

    def oriented(self) -> Scores:
        """The same, of the transposed product if this tensor is laid out as that.

        A model may well compute keys . queries and transpose the result.
        """
        first = self.index.flatten(0, -3)[:1, :1] if self.index.ndim > 2 else self.index[None, :1]
        if bool((first == first[..., :1]).all()):
            return self
        own = self.index // self.query.shape[-2] * self.key.shape[-2]
        index = own + torch.arange(self.index.shape[-2])[:, None]
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
        own = torch.unravel_index(entry.to(key.device), lead) if lead else ()
        shared = torch.unravel_index(entry[..., 0].to(key.device), lead) if lead else ()
        keys = key[shared] if lead else key.expand(*index.shape[:-1], *key.shape)
        picked = (*own, (index % rows).to(query.device))
        return query[picked], keys


@dataclass(frozen=True)
class Weights:
    """Provenance of a tensor: a softmax, and what was done with its result.

    Attributes:
        logits: what went into the softmax.
        scores: the provenance of these, if that was followed.
        latest: the weights after the last change of their values, in the logits' layout; None for
            the tensor itself, which must not be held by what is known of it.
        column: the column of the softmax that each entry belongs to, in the tensor's own layout.
        ordered: whether the entries follow each other as in the logits' layout.
        used: holds an entry once the weights have been used.
        version: of the logits at the time of the softmax.
    """

    logits: torch.Tensor
    scores: Scores | None
    latest: torch.Tensor | None
    column: torch.Tensor
    used: list[bool]
    version: int
    ordered: bool = True

    @classmethod
    def of(cls, logits: torch.Tensor, scores: Scores | None, weights: torch.Tensor) -> Weights:
        column = torch.arange(weights.shape[-1]).expand(weights.shape)
        return cls(logits, scores, None, column, [], _version(logits))

    @property
    def intact(self) -> bool:
        """True if the logits, and what they come from, are still those of the softmax."""
        scores = self.scores is None or self.scores.intact
        return scores and self.version == _version(self.logits)

    @property
    def axis(self) -> int | None:
        """The dimension of the tensor along which the softmax was taken."""
        first = (0,) * (self.column.ndim - 1)
        for axis in reversed(range(self.column.ndim)):
            along = self.column.movedim(axis, -1)[first]
            if torch.equal(along, torch.arange(len(along))):
                return axis
        return None


def _lead(query: torch.Tensor, key: torch.Tensor) -> torch.Size:
    lead: torch.Size = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2])  # type: ignore[no-untyped-call]
    return lead


def _version(tensor: torch.Tensor) -> int:
    return 0 if tensor.is_inference() else tensor._version
