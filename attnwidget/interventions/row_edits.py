"""Changes of head outputs that differ from text to text of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from attnwidget.tracing import (
    Address,
    Call,
    CallId,
    Handler,
    MixingCall,
    Read,
    ReadMixing,
)

from .by_layer import HeadOutputs
from .edits import Mode
from .replacements import patched, replacement
from .sites import Site


@dataclass(frozen=True)
class RowEdit:
    """Heads of one attention call that are switched off in one row of a batch.

    Attributes:
        site: the attention call.
        heads: the heads.
        seed: of random directions that are switched off in place of the heads, as many as these
            have dimensions; None for the heads themselves.
    """

    site: Site
    heads: tuple[int, ...]
    seed: int | None = None


class RowEditor(Handler):
    """Switches other heads off in each row of a batch.

    Args:
        edits: those of each of the first rows.
        rows: the number of rows in a batch.
        by: what replaces the outputs of heads: see `Ablate`, or those of another run.
    """

    def __init__(
        self, edits: Sequence[Sequence[RowEdit]], rows: int, by: Mode | HeadOutputs
    ) -> None:
        self._rows = rows
        self._by = by
        self._of_call: dict[CallId, list[tuple[int, RowEdit]]] = {}
        for row, edit in ((row, edit) for row, of_row in enumerate(edits) for edit in of_row):
            for own in edit.site.ids:
                self._of_call.setdefault(own, []).append((row, edit))

    def attention(self, address: Address, read: Read | ReadMixing) -> torch.Tensor | None:
        edits = self._of_call.get(address.id)
        return None if edits is None else self._changed(address, read(), edits)

    mixing = attention

    def _changed(
        self, address: Address, call: Call | MixingCall, edits: list[tuple[int, RowEdit]]
    ) -> torch.Tensor:
        before = call.passed_on
        assert before is not None
        windows = len(before) // self._rows
        changed = before.clone()
        site = edits[0][1].site
        # Of a layer of several calls, each is one head.
        head = site.ids.index(address.id) if site.further else None
        if isinstance(self._by, HeadOutputs):
            replaced = patched(self._by, "head", site.stack, site.layer, before, head=head)
        else:
            replaced = replacement(self._by, call, before, cross=site.kind.cross).expand_as(before)
        for row, edit in edits:
            of_row = slice(row * windows, (row + 1) * windows)
            heads = edit.heads if head is None else [0] * (head in edit.heads)
            count, width = len(heads) * before.shape[3], before.shape[1] * before.shape[3]
            if edit.seed is None or count in (0, width):
                off = list(heads)
                changed[of_row, off] = replaced[of_row, off]
            else:
                basis = _directions(width, count, edit.seed).to(before)
                changed[of_row] = _along(before[of_row], replaced[of_row], basis)
        return changed


def _directions(width: int, count: int, seed: int) -> torch.Tensor:
    """Orthonormal random directions of the outputs of all heads, [width, count]."""
    generator = torch.Generator().manual_seed(seed)
    basis: torch.Tensor = torch.linalg.qr(torch.randn(width, count, generator=generator))[0]
    return basis


def _along(before: torch.Tensor, replaced: torch.Tensor, basis: torch.Tensor) -> torch.Tensor:
    """Head outputs [W, heads, T, d], replaced along some directions alone."""
    change = (replaced - before).transpose(1, 2).flatten(2)
    along: torch.Tensor = change @ basis @ basis.T
    heads = along.reshape(len(before), before.shape[2], before.shape[1], before.shape[3])
    return before + heads.transpose(1, 2)
