"""Changes of head outputs that differ from text to text of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from attnwidget.tracing import Address, CallId, Handler, Read

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
            self._of_call.setdefault(edit.site.id, []).append((row, edit))

    def attention(self, address: Address, read: Read) -> torch.Tensor | None:
        edits = self._of_call.get(CallId(address.module, address.call))
        if edits is None:
            return None
        call = read()
        before = call.passed_on
        assert before is not None
        windows = len(before) // self._rows
        changed = before.clone()
        site = edits[0][1].site
        if isinstance(self._by, HeadOutputs):
            replaced = patched(self._by, site.stack, site.layer, before)
        else:
            replaced = replacement(self._by, call, cross=site.kind.cross).expand_as(before)
        for row, edit in edits:
            of_row = slice(row * windows, (row + 1) * windows)
            if edit.seed is None:
                off = list(edit.heads)
                changed[of_row, off] = replaced[of_row, off]
            else:
                count = len(edit.heads) * before.shape[3]
                basis = _directions(before.shape[1] * before.shape[3], count, edit.seed).to(before)
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
