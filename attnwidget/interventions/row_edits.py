"""Changes of head outputs that differ from text to text of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from attnwidget.tracing import Address, Handler, Read

from .edits import Mode
from .replacements import replacement
from .sites import Site


@dataclass(frozen=True)
class RowEdit:
    """One head of one attention call, switched off in one row of a batch.

    Attributes:
        site: the attention call.
        head: the head.
        seed: of random directions that are switched off in place of the head, as many as it has
            dimensions; None for the head itself.
    """

    site: Site
    head: int
    seed: int | None = None


class RowEditor(Handler):
    """Switches a head off in each row of a batch.

    Args:
        edits: one for each of the first rows.
        rows: the number of rows in a batch.
        mode: see `Ablate`.
    """

    def __init__(self, edits: Sequence[RowEdit], rows: int, mode: Mode) -> None:
        self._rows = rows
        self._mode = mode
        self._of_call: dict[tuple[str, int], list[tuple[int, RowEdit]]] = {}
        for row, edit in enumerate(edits):
            key = edit.site.module, edit.site.call
            self._of_call.setdefault(key, []).append((row, edit))

    def attention(self, address: Address, read: Read) -> torch.Tensor | None:
        edits = self._of_call.get((address.module, address.call))
        if edits is None:
            return None
        call = read()
        before = call.passed_on
        assert before is not None
        windows = len(before) // self._rows
        changed = before.clone()
        replaced = replacement(self._mode, call).expand_as(before)
        for row, edit in edits:
            of_row = slice(row * windows, (row + 1) * windows)
            if edit.seed is None:
                changed[of_row, edit.head] = replaced[of_row, edit.head]
            else:
                basis = _directions(before.shape[1], before.shape[3], edit.seed).to(before)
                changed[of_row] = _along(before[of_row], replaced[of_row], basis)
        return changed


def _directions(heads: int, width: int, seed: int) -> torch.Tensor:
    """Orthonormal random directions of the outputs of all heads, [heads * width, width]."""
    generator = torch.Generator().manual_seed(seed)
    basis: torch.Tensor = torch.linalg.qr(torch.randn(heads * width, width, generator=generator))[0]
    return basis


def _along(before: torch.Tensor, replaced: torch.Tensor, basis: torch.Tensor) -> torch.Tensor:
    """Head outputs [W, heads, T, d], replaced along some directions alone."""
    change = (replaced - before).transpose(1, 2).flatten(2)
    along: torch.Tensor = change @ basis @ basis.T
    heads = along.reshape(len(before), before.shape[2], before.shape[1], before.shape[3])
    return before + heads.transpose(1, 2)
