"""Changes of a place while a model runs: patches of cells, another one in each row."""

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


class AtPlace(Handler):
    """Passes what is at a place of a stack's layers to `changed`, and what that returns to a model.

    Args:
        texts: the model and the stack.
        at: the place.
        rows: the number of texts in a pass.
    """

    def __init__(self, texts: TwoTexts, at: Place, rows: int) -> None:
        self.at: Place = at
        self.rows = rows
        self._texts = texts
        self._sites = sites_of(texts.sites.found, texts.stack)
        # Of a layer of several calls, each is one head.
        self._of_call: dict[CallId, tuple[Site, int | None]] = {
            own: (site, head if site.further else None)
            for site in self._sites
            for head, own in enumerate(site.ids)
        }
        self._streams = Streams(texts.model, texts.sites.found)
        if without_heads(at):
            self._streams.visit(at, texts.stack, None, self._in_stream)

    def changes(self, layer: int) -> bool:
        """True if something is to be changed in a layer."""
        raise NotImplementedError

    def changed(self, layer: int, own: torch.Tensor, head: int | None = None) -> torch.Tensor:
        """The numbers at a place that the model goes on with, [rows * windows, heads, T, d].

        Args:
            own: those that are there.
            head: the number of the only head of `own` in its layer; None for all.
        """
        raise NotImplementedError

    def replaced(self, call: Call, new: torch.Tensor) -> Call | torch.Tensor:
        """A call, or the outputs of its heads, with other numbers at the place."""
        return with_at(call, self.at, new)

    @contextmanager
    def following(self) -> Iterator[None]:
        """Change what is at the place within this context."""
        if without_heads(self.at):
            with self._streams.following():
                yield
            return
        with trace(self._texts.model, self, self.rows, interface_only=self._texts.interface_only):
            yield

    def _in_stream(self, here: Here) -> torch.Tensor:
        return self.changed(here.layer, here.own) if self.changes(here.layer) else here.own

    def attention(self, address: Address, read: Read) -> Call | torch.Tensor | None:
        site, _ = self._of_call.get(address.id, (None, None))
        if site is None or not self.changes(site.layer):
            return None
        call = read()
        return self.replaced(call, self.changed(site.layer, read_at(call, self.at)))

    def mixing(self, address: Address, read: ReadMixing) -> torch.Tensor | None:
        site, head = self._of_call.get(address.id, (None, None))
        if site is None or not self.changes(site.layer):
            return None
        return self.changed(site.layer, read().passed_on, head)


class CellPatches(AtPlace):
    """Patches another cell in each row of a batch.

    Attributes:
        cells: those of the first rows.
    """

    def __init__(
        self, texts: TwoTexts, at: Place, rows: int, sources: Sequence[HeadOutputs]
    ) -> None:
        super().__init__(texts, at, rows)
        self.cells: list[Cell] = []
        self._sources = [
            {layer: torch.tensor(given) for layer, given in source.layers[texts.stack].items()}
            for source in sources
        ]

    def sites_from(self, layer: int) -> list[Site]:
        """Attention of this layer, and where it has none, of all."""
        found = [site for site in self._sites if site.layer == layer]
        return found or self._sites

    def changes(self, layer: int) -> bool:
        return any(cell.layer == layer for cell in self.cells)

    def changed(self, layer: int, own: torch.Tensor, head: int | None = None) -> torch.Tensor:
        windows = len(own) // self.rows
        new = own.clone()
        for row, cell in enumerate(self.cells):
            heads = cell.heads if head is None else [0] * (head in cell.heads)
            if cell.layer != layer or not heads:
                continue
            source = self._sources[cell.source][layer].to(own)
            taken = cell.heads if head is None else [head]
            for to, of in zip(heads, taken, strict=True):
                of_row = new[row * windows : (row + 1) * windows, to]
                of_row[:, cell.positions] = source[:, of][:, cell.taken]
        return new
