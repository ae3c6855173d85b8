"""What a figure shows of a record: the widget's choices, as far as the record has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from attnwidget.record import AttentionRecord, Layer, Stack, Tokens
from attnwidget.widget.choices import Choices
from attnwidget.wire.text import sendable
from attnwidget.wire.words import words

from .colors import DARK, LIGHT, Palette
from .text import names

Side = Literal["query", "key"]
SIDES: tuple[Side, Side] = ("query", "key")


@dataclass(frozen=True)
class Content:
    """A place in a record, and how it is shown.

    Attributes:
        choices: every choice of the widget by its name.
        overview: the record's manifest and thumbnails where they are known already.
    """

    record: AttentionRecord
    stack_name: str
    stack: Stack
    layer: Layer
    head: int
    choices: Mapping[str, Any]
    palette: Palette
    overview: tuple[Mapping[str, Any], bytes] | None

    @property
    def heads(self) -> list[int]:
        """The heads whose lines are drawn."""
        chosen = [h for h in self.choices["heads"] or () if h < self.layer.num_heads]
        return chosen or list(range(self.layer.num_heads))

    def locked(self, side: Side) -> list[int]:
        """What is locked on a side, the one locked last at the front."""
        own = self.choices[side]
        known = self.stack.queries if side == "query" else self.stack.keys
        if own is None:
            return []
        several = side == ("key" if self.choices["query"] is None else "query")
        also = self.choices["also"] if several else ()
        return [at for at in (own, *also) if at < len(known)]


def content_of(
    record: AttentionRecord,
    choices: Mapping[str, Any],
    overview: tuple[Mapping[str, Any], bytes] | None = None,
) -> Content:
    defaults = {name: trait.default() for name, trait in Choices.class_traits(choice=True).items()}
    chosen = {**defaults, **choices}
    name = chosen["stack"] if chosen["stack"] in record.stacks else record.stacks[0]
    stack = record.stack(name)
    before = [layer for layer in stack.layers if layer.number <= chosen["layer"]]
    layer = before[-1] if before else stack.layers[0]
    head = min(max(chosen["head"], 0), layer.num_heads - 1)
    palette = DARK if chosen["theme"] == "dark" else LIGHT
    return Content(record, name, stack, layer, head, chosen, palette, overview)


@dataclass(frozen=True)
class Axis:
    """One side of a matrix as it is shown: tokens, or words of several.

    Attributes:
        labels, names, special: of every unit; each name stands once.
        tokens: the positions of each unit's tokens; `of`: by position, its unit.
        shown: the units shown, in order; `places`: by unit, its place among them, or -1.
        borders: the places where another text of a pair begins.
    """

    side: Side
    labels: Sequence[str]
    names: Sequence[str]
    special: frozenset[int]
    tokens: Sequence[Sequence[int]]
    of: Sequence[int]
    shown: Sequence[int]
    places: Sequence[int]
    borders: Sequence[int]

    @property
    def starts(self) -> NDArray[np.intp]:
        """The first token of every unit."""
        return np.array([positions[0] for positions in self.tokens], np.intp)

    @property
    def joined(self) -> bool:
        return len(self.tokens) < len(self.of)

    def looked(self, positions: Sequence[int]) -> list[int]:
        """The units of these tokens, as far as they are shown."""
        units = dict.fromkeys(self.of[position] for position in positions)
        return [unit for unit in units if self.places[unit] >= 0]


@dataclass(frozen=True)
class Axes:
    query: Axis
    key: Axis

    def __getitem__(self, side: Side) -> Axis:
        return self.query if side == "query" else self.key


def other(side: Side) -> Side:
    return "key" if side == "query" else "query"


def shown_tokens(stack: Stack, segments: str) -> tuple[list[int], list[int]]:
    """The tokens that the choice of segments shows."""

    def part(tokens: Tokens, letter: str | None) -> list[int]:
        texts = tokens.segments
        if texts is None or letter is None:
            return list(range(len(tokens)))
        return [at for at, text in enumerate(texts) if text == "ab".index(letter)]

    pair = stack.queries.segments is not None and stack.keys.segments is not None
    if segments == "all" or not pair:
        return part(stack.queries, None), part(stack.keys, None)
    shown = part(stack.queries, segments[0]), part(stack.keys, segments[1])
    # A text without tokens cannot be shown alone.
    return shown if all(shown) else shown_tokens(stack, "all")


def axes_of(content: Content, joined: bool | None = None) -> Axes:
    """The sides of a stack's matrices, as segments are chosen, of tokens or of words."""
    stack, choices = content.stack, content.choices
    joined = choices["words"] if joined is None else joined
    queries, keys = shown_tokens(stack, choices["segments"])
    return Axes(
        _axis("query", stack.queries, queries, joined), _axis("key", stack.keys, keys, joined)
    )


def _axis(side: Side, tokens: Tokens, positions: Sequence[int], joined: bool) -> Axis:
    found = words(tokens) if joined else None
    # As a page has them: half of a character is U+FFFD there.
    labels = list(map(sendable, found["labels"] if found else tokens.labels))
    of: Sequence[int] = found["of"] if found else range(len(tokens))
    members: list[list[int]] = [[] for _ in labels]
    for position, unit in enumerate(of):
        members[unit].append(position)
    shown = list(dict.fromkeys(of[position] for position in positions))
    places = [-1] * len(labels)
    for place, unit in enumerate(shown):
        places[unit] = place
    texts = tokens.segments
    borders = [
        place
        for place in range(1, len(shown))
        if texts and texts[members[shown[place]][0]] != texts[members[shown[place - 1]][0]]
    ]
    special = frozenset(of[position] for position in tokens.special)
    return Axis(side, labels, names(labels), special, members, of, shown, places, borders)


def pooled_bounds(count: int, most: int) -> NDArray[np.intp]:
    """Where each of at most so many groups of `count` neighbours begins, and the last one ends."""
    groups = min(count, most)
    return np.arange(groups + 1) * count // groups
