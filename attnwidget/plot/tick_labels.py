"""Labels of the tokens along an axis: a tick for each, or drawn beside a few ticks.

A tick of matplotlib's is five artists, and takes longer to make, to lay out and to draw than its
label. Figures have one for each label, so that they can be restyled; a picture that is only looked
at (`with_few_ticks`) has ticks where the layout needs room for their labels. It looks the same.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib import rcParams
from matplotlib.artist import Artist
from matplotlib.axis import Axis, XAxis
from matplotlib.figure import Figure
from matplotlib.text import Text

from .text import PLAIN

_few_ticks: ContextVar[bool] = ContextVar("few_ticks", default=False)


@contextmanager
def with_few_ticks() -> Iterator[None]:
    """Label axes with few ticks within this context; `settle` has to follow."""
    token = _few_ticks.set(True)
    try:
        yield
    finally:
        _few_ticks.reset(token)


@dataclass(frozen=True)
class Label:
    """A label on an axis.

    Attributes:
        position: its coordinate.
        text, color: those of the label.
        emphasized: True for bold letters, within the box of the axis's labels if it has one.
    """

    position: float
    text: str
    color: str
    emphasized: bool = False


@dataclass(frozen=True)
class AxisLabels:
    """The labels of an axis.

    Attributes:
        axis: the axis.
        labels: its labels.
        size, rotation: of their letters, and of their lines in degrees.
        box: the style of the box around emphasized labels; None for no box.
    """

    axis: Axis
    labels: Sequence[Label]
    size: float
    rotation: float
    box: dict[str, Any] | None

    def add(self) -> None:
        """Label the axis."""
        if _few_ticks.get() and self.labels:
            self.axis.axes.add_artist(_Stamped(self))
        else:
            self.set_ticks(range(len(self.labels)))

    def set_ticks(self, indices: Iterable[int]) -> None:
        """Set ticks with some of the labels."""
        chosen = [self.labels[index] for index in indices]
        positions, texts = [each.position for each in chosen], [each.text for each in chosen]
        self.axis.set_ticks(positions, labels=texts, fontsize=self.size, **PLAIN)
        self.axis.set_tick_params(length=0, labelrotation=self.rotation)
        for each, tick in zip(chosen, self.axis.get_ticklabels(), strict=True):
            # Ticks are used again, with the style that they had.
            tick.set_color(each.color)
            tick.set_fontweight("bold" if each.emphasized else rcParams["font.weight"])
            tick.set_bbox(self.box if each.emphasized else None)


class _Stamped(Artist):
    """Draws the labels of an axis that have no tick, with one text that takes the place of each."""

    def __init__(self, labels: AxisLabels) -> None:
        super().__init__()
        self._labels = labels
        self._stamped: list[Label] = []
        self.set_in_layout(False)
        labels.set_ticks([0])

    def settle(self, renderer: Any) -> None:
        """Set ticks with the first, last, widest and tallest label, and the emphasized ones.

        They need the same room as all labels, since these do not overlap.
        """
        labels = self._labels.labels
        # One of each text: words are often repeated.
        measured = list({label.text: index for index, label in enumerate(labels)}.values())
        texts = self._texts(labels[index] for index in measured)
        sizes = np.array([text.get_window_extent(renderer).size for text in texts])
        ticks = {0, len(labels) - 1, *(measured[n] for n in sizes.argmax(axis=0))}
        ticks |= {index for index, label in enumerate(labels) if label.emphasized}
        self._stamped = [label for index, label in enumerate(labels) if index not in ticks]
        self._labels.set_ticks(sorted(ticks))

    def draw(self, renderer: Any) -> None:
        for text in self._texts(self._stamped):
            text.draw(renderer)

    def _texts(self, labels: Iterable[Label]) -> Iterator[Text]:
        """A text that is each of some labels in turn: a copy of the first tick's."""
        axis = self._labels.axis
        text = copy.copy(axis.get_ticklabels()[0])
        text.set_fontproperties(text.get_fontproperties().copy())  # not the tick's own
        text.set(fontweight=rcParams["font.weight"], bbox=None)
        move = text.set_x if isinstance(axis, XAxis) else text.set_y
        for label in labels:
            text.set(text=label.text, color=label.color)
            move(label.position)
            yield text


def settle(figure: Figure, renderer: Any) -> None:
    """Set the ticks that labels within `with_few_ticks` have."""
    for labels in figure.findobj(_Stamped):
        labels.settle(renderer)
