"""The cells of a grid of patches, each with what stands at its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from attnwidget.analysis import Numbers
from attnwidget.analysis.grid_scores import By
from attnwidget.record import Floats

from .by_layer import Place
from .edits import Chosen, listed, without_heads


@dataclass(frozen=True)
class Cell:
    """The patch of one row of a batch.

    Attributes:
        place: the cell's row and column.
        layer: the number of the layer.
        heads: the heads, of those at the place.
        positions: those that are patched.
        taken: those of the source that are put there.
        source: its number.
        null: the number of the null that this is; None for none.
    """

    place: tuple[int, int]
    layer: int
    heads: list[int]
    positions: list[int]
    taken: list[int]
    source: int = 0
    null: int | None = None


@dataclass
class Grid:
    """The cells of a grid, and their numbers.

    Attributes:
        at, by, layers: see `attnwidget.patch_scan`.
        source: what is at the place in each layer, [windows, heads, T, d].
        permuted: True for a null of permuted positions.
        texts: the number of texts of which a null is.
        numbers: those of the layers.
        values: the number of each cell; NaN where it is not known.
    """

    at: Place
    by: By
    source: Mapping[int, Floats]
    layers: Chosen
    permuted: bool = False
    texts: int = 0
    numbers: list[int] = field(init=False)
    values: Numbers = field(init=False)

    def __post_init__(self) -> None:
        absent = sorted(set(listed(self.layers, [])) - set(self.source))
        if absent:
            raise ValueError(f"layer {absent[0]} has no {self.at!r}, or does not exist")
        self.numbers = [n for n in self.source if n in listed(self.layers, [n])]
        first = self.source[self.numbers[0]]
        if without_heads(self.at) and self.by.startswith("head"):
            raise ValueError(f"there are no heads at {self.at!r}: give by='layer×position'")
        if self.by.endswith("position") and len(first) > 1:
            raise ValueError("this model attends within windows, whose positions are no text's")
        self.length = first.shape[2]
        self.heads = max(self.source[number].shape[1] for number in self.numbers)
        self.values = np.full(self.shape, np.nan)
        self._nulls = np.full((self.permuted + self.texts, *self.shape), np.nan)

    @property
    def rows(self) -> tuple[str, ...]:
        if self.by == "head×position":
            return tuple(f"{n}-{h}" for n in self.numbers for h in range(self.source[n].shape[1]))
        return tuple(map(str, self.numbers))

    @property
    def shape(self) -> tuple[int, int]:
        if self.by == "layer":
            return len(self.rows), 1
        return len(self.rows), self.heads if self.by == "head" else self.length

    def columns(self, tokens: tuple[str, ...]) -> tuple[str, ...]:
        if self.by == "layer":
            return ("all positions",)
        return tuple(map(str, range(self.heads))) if self.by == "head" else tokens

    def put(self, cell: Cell, number: float) -> None:
        """Keep the number of a cell, or of a null of it."""
        values = self.values if cell.null is None else self._nulls[cell.null]
        values[cell.place] = number

    @property
    def null(self) -> Numbers | None:
        """The mean of the nulls of each cell; None if there is none."""
        if np.isnan(self._nulls).all():
            return None
        mean: Numbers = self._nulls.mean(axis=0)
        return mean

    def cells(self, seed: int) -> Iterator[Cell]:
        """All cells, and after those of a layer as many of each null."""
        random = np.random.default_rng(seed)
        row = 0
        for number in self.numbers:
            heads = list(range(self.source[number].shape[1]))
            cells = []
            by_head = self.by.startswith("head")
            for place, of_cell in enumerate([[h] for h in heads] if by_head else [heads]):
                if self.by.endswith("position"):
                    for n in range(self.length):
                        cells.append(Cell((row + place, n), number, of_cell, [n], [n]))
                else:
                    every = list(range(self.length))
                    at = (row, place) if self.by == "head" else (row + place, 0)
                    cells.append(Cell(at, number, of_cell, every, every))
            row += len(heads) if self.by == "head×position" else 1
            yield from cells
            if self.permuted and self.length > 1:
                for cell in cells:
                    yield replace(cell, taken=others(cell.positions, self.length, random), null=0)
            for text in range(self.texts):
                yield from (replace(cell, source=1 + text, null=text) for cell in cells)


def others(positions: list[int], length: int, random: np.random.Generator) -> list[int]:
    """Other positions in place of these, each once."""
    if len(positions) == 1:
        return [(positions[0] + int(random.integers(1, length))) % length]
    order = random.permutation(length)
    taken = np.empty(length, int)
    taken[order] = np.roll(order, 1)  # a permutation that leaves none at its place
    found: list[int] = taken.tolist()
    return found
