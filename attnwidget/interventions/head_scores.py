"""HeadScores: a number for every head of a model, as numpy arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from attnwidget.analysis import Numbers, data_frame

if TYPE_CHECKING:
    import pandas as pd


class StackHeads(NamedTuple):
    """The heads of a stack.

    Attributes:
        layers: the numbers of its layers in the model.
        heads: the number of heads of each.
    """

    layers: tuple[int, ...]
    heads: tuple[int, ...]

    def empty(self) -> Numbers:
        """NaN for every head: float64 [layers, heads]."""
        return np.full((len(self.layers), max(self.heads)), np.nan)


class HeadScore(NamedTuple):
    """The number of one head."""

    layer: int
    head: int
    value: float


@dataclass(frozen=True)
class HeadScores:
    """A number for every head, and the same of a null if there is one.

    Attributes:
        name: what the number is, in a word or two.
        description: the same in a sentence, with the unit.
        heads: the layers and heads of each stack, by its name.
        by_stack: the numbers, float64 [layers, heads] for each stack; NaN where a layer has fewer
            heads than another.
        null: the numbers of the null, in the same form; None without one.
        null_label: what the null is; None without one.
        missing: attention that could not be changed, as "module: reason".
    """

    name: str
    description: str
    heads: Mapping[str, StackHeads]
    by_stack: Mapping[str, Numbers]
    null: Mapping[str, Numbers] | None = None
    null_label: str | None = None
    missing: tuple[str, ...] = ()

    @property
    def stacks(self) -> tuple[str, ...]:
        """Names of the stacks, as those of `AttentionRecord.stacks`."""
        return tuple(self.by_stack)

    def values(self, stack: str | None = None) -> Numbers:
        """The numbers of a stack, float64 [layers, heads]; of the first one if `stack` is None.

        Raises:
            KeyError: there is no such stack.
        """
        return self.by_stack[self._name(stack)]

    def band(self, stack: str | None = None, *, layer: int | None = None) -> tuple[float, float]:
        """The 2.5th and the 97.5th percentile of the null over the heads of a layer, or of all.

        Layers differ: a head is compared with random directions of its own.

        Args:
            stack: as in `values`.
            layer: the number of a layer; all layers of the stack together if None.

        Raises:
            KeyError: there is no such stack.
            IndexError: the stack has no numbers of this layer.
            ValueError: there is no null.
        """
        if self.null is None:
            raise ValueError("these numbers have no null")
        name = self._name(stack)
        null = self.null[name]
        if layer is not None:
            layers, _ = self.heads[name]
            if layer not in layers:
                raise IndexError(f"no numbers of layer {layer}; there are {list(layers)}")
            null = null[list(layers).index(layer)]
        low, high = np.nanpercentile(null, [2.5, 97.5])
        return float(low), float(high)

    def ranking(self, stack: str | None = None) -> list[HeadScore]:
        """The heads of a stack, the largest absolute number first.

        Raises:
            KeyError: there is no such stack.
        """
        name = self._name(stack)
        found = [
            HeadScore(layer, head, float(self.by_stack[name][row, head]))
            for row, (layer, count) in enumerate(zip(*self.heads[name], strict=True))
            for head in range(count)
        ]
        known = [score for score in found if not np.isnan(score.value)]
        return sorted(known, key=lambda score: -abs(score.value))

    def metric(self) -> dict[str, Any]:
        """The numbers in the form of an entry of `metrics`, by which views colour and sort.

        An example::

            aw.show(record, view="model", metrics={scores.name: scores.metric()})
        """
        fields: dict[str, Any] = {"values": dict(self.by_stack)}
        if self.null is not None:
            fields |= {"null": dict(self.null), "null_label": self.null_label}
        return fields

    def table(self) -> pd.DataFrame:
        """The numbers as a table of pandas: stack, layer, head, the number by its name, and null.

        Raises:
            ModuleNotFoundError: pandas is not installed.
        """
        columns: dict[str, list[Any]] = {"stack": [], "layer": [], "head": [], self.name: []}
        if self.null is not None:
            columns["null"] = []
        for stack, (layers, heads) in self.heads.items():
            for row, (layer, count) in enumerate(zip(layers, heads, strict=True)):
                columns["stack"] += [stack] * count
                columns["layer"] += [layer] * count
                columns["head"] += range(count)
                columns[self.name] += self.by_stack[stack][row, :count].tolist()
                if self.null is not None:
                    columns["null"] += self.null[stack][row, :count].tolist()
        return data_frame(columns)

    def _name(self, stack: str | None) -> str:
        if stack is None:
            return self.stacks[0]
        if stack not in self.by_stack:
            raise KeyError(f"no stack {stack!r:.200}; there are {', '.join(self.stacks)}")
        return stack
