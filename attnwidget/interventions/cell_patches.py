"""Patches of cells while a model runs, another one in each row of a batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch

from attnwidget.tracing import Address, Call, CallId, Handler, Read, ReadMixing, trace

from .by_layer import HeadOutputs, Place
from .cells import Cell
from .edits import without_heads
from .layer_places import Here, Streams
from .sites import Site, sites_of
from .substitution import read_at, with_at
from .two_texts import TwoTexts


class CellPatches(Handler):
    """Patches another cell in each row of a batch.

    Attributes:
        cells: those of the first rows.
    """

    def __init__(
        self, texts: TwoTexts, at: Place, rows: int, sources: Sequence[HeadOutputs]
    ) -> None:
        self.cells: list[Cell] = []
        self._model = texts.model
        self._rows = rows
        self._sites = sites_of(texts.sites.found, texts.stack)
        self._at: Place = at
        self._sources = [
            {layer: torch.tensor(given) for layer, given in source.layers[texts.stack].items()}
            for source in sources
        ]
        self._of_call: dict[CallId, tuple[Site, int | None]] = {}
        for site in self._sites:
            for head, own in enumerate(site.ids):
                self._of_call[own] = site, head if site.further else None
        self._streams = Streams(texts.model, texts.sites.found)
        if without_heads(at):
            self._streams.visit(at, texts.stack, None, self._in_stream)

    @contextmanager
    def following(self, *, interface_only: bool) -> Iterator[None]:
        """Patch the cells within this context."""
        if without_heads(self._at):
            with self._streams.following():
                yield
            return
        with trace(self._model, self, self._rows, interface_only=interface_only):
            yield

    def sites_from(self, layer: int) -> list[Site]:
        """Attention of this layer, and where it has none, of all."""
        found = [site for site in self._sites if site.layer == layer]
        return found or self._sites

    def _in_stream(self, here: Here) -> torch.Tensor:
        return self._patched(here.layer, here.own)

    def attention(self, address: Address, read: Read) -> Call | None:
        site, _ = self._patched_site(address)
        if site is None:
            return None
        call = read()
        return with_at(call, self._at, self._patched(site.layer, read_at(call, self._at)))

    def mixing(self, address: Address, read: ReadMixing) -> torch.Tensor | None:
        site, head = self._patched_site(address)
        return None if site is None else self._patched(site.layer, read().passed_on, head)

    def _patched_site(self, address: Address) -> tuple[Site | None, int | None]:
        """The site of a call and its only head, if a cell is there."""
        site, head = self._of_call.get(address.id, (None, None))
        here = site is not None and any(cell.layer == site.layer for cell in self.cells)
        return (site, head) if here else (None, None)

    def _patched(self, layer: int, own: torch.Tensor, head: int | None = None) -> torch.Tensor:
        """The numbers at a place, [rows * windows, heads, T, d], with its cells patched.

        Args:
            head: the number of the only head of `own` in its layer; None for all.
        """
        windows = len(own) // self._rows
        new = own
        for row, cell in enumerate(self.cells):
            heads = cell.heads if head is None else [0] * (head in cell.heads)
            if cell.layer != layer or not heads:
                continue
            if new is own:
                new = own.clone()
            source = self._sources[cell.source][layer].to(own)
            taken = cell.heads if head is None else [head]
            for to, of in zip(heads, taken, strict=True):
                of_row = new[row * windows : (row + 1) * windows, to]
                of_row[:, cell.positions] = source[:, of][:, cell.taken]
        return new
