"""What a plot shows: a place in a record, and the widget's choices of how to show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from attnwidget.record import AttentionRecord, Layer, Stack, Tokens
from attnwidget.view_state.choices import Combine
from attnwidget.wire import SentMetric, encode_overview
from attnwidget.wire.text import sendable
from attnwidget.wire.words import words

from .text import names

Side = Literal["query", "key"]
SIDES: tuple[Side, Side] = ("query", "key")


@dataclass(frozen=True)
class Shown:
    """What is shown of a record.

    Attributes:
        view, stack, …, theme: the widget's choices, as `AttentionWidget` describes them.
        overview: what `wire.encode_overview` made of the record, where it is known already.
        metrics: the user's own, as `wire.encode_own_metrics` returns them.
    """

    record: AttentionRecord
    view: str = "head"
    stack: str | None = None
    layer: int = 0
    head: int = 0
    heads: Sequence[int] | None = None
    query: int | None = None
    key: int | None = None
    also: Sequence[int] = ()
    segments: str = "all"
    combine: Combine = "none"
    words: bool = False
    orientation: str = "vertical"
    thumbnails: str = "matrix"
    sort: str = "model"
    color: str = "pattern"
    opened: bool = False
    include_layers: Sequence[int] | None = None
    include_heads: Sequence[int] | None = None
    neurons: str = "model"
    muted: Sequence[int] = ()
    expanded: bool = True
    theme: str = "auto"
    overview: tuple[Mapping[str, Any], bytes] | None = None
    metrics: Sequence[SentMetric] = ()

    def check(self) -> None:
        """Raise a KeyError or an IndexError unless the record has this place."""
        count = self.current_layer.num_heads
        for head in (self.head, *(self.heads or ())):
            if not 0 <= head < count:
                raise IndexError(
                    f"head {head} does not exist: layer {self.layer} has {count} heads, "
                    f"0 to {count - 1}"
                )
        num_queries = len(self.current_stack.queries)
        if self.query is not None and not 0 <= self.query < num_queries:
            raise IndexError(
                f"query {self.query} does not exist: there are {num_queries} query tokens, "
                f"0 to {num_queries - 1}"
            )

    @cached_property
    def current_stack(self) -> Stack:
        return self.record.stack(self.stack)

    @cached_property
    def current_layer(self) -> Layer:
        return self.current_stack.layer(self.layer)

    @cached_property
    def known_overview(self) -> tuple[Mapping[str, Any], bytes]:
        """(manifest, thumbnails) of the record."""
        return self.overview or encode_overview(self.record)

    @cached_property
    def stack_metrics(self) -> Mapping[str, SentMetric]:
        """By name, the metrics that mean something in this stack."""
        manifest, _ = self.known_overview
        return {
            metric["name"]: metric
            for metric in (*manifest["metrics"], *self.metrics)
            if self.stack_name in metric["values"]
        }

    @property
    def stack_name(self) -> str:
        return self.stack or self.record.stacks[0]

    @property
    def drawn_heads(self) -> list[int]:
        """The heads whose lines are drawn."""
        return list(self.heads or range(self.current_layer.num_heads))

    @property
    def horizontal(self) -> bool:
        return self.orientation == "horizontal"

    def locked(self, side: Side) -> list[int]:
        """The positions locked on a side, the one locked last at the front."""
        own = self.query if side == "query" else self.key
        if own is None:
            return []
        several = side == ("key" if self.query is None else "query")
        return [own, *(self.also if several else ())]

    @cached_property
    def token_axes(self) -> TokenAxes:
        """The sides of the stack's matrices, of tokens or of words, as segments are chosen."""
        return self._token_axes(self.words)

    @cached_property
    def single_tokens(self) -> TokenAxes:
        """The same, always of single tokens."""
        return self._token_axes(False)

    def _token_axes(self, joined: bool) -> TokenAxes:
        stack = self.current_stack
        queries, keys = shown_tokens(stack, self.segments)
        return TokenAxes(
            _axis("query", stack.queries, queries, joined),
            _axis("key", stack.keys, keys, joined),
        )


@dataclass(frozen=True)
class TokenAxis:
    """One side of a matrix as it is shown. Its units are tokens, or words of several tokens.

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

    def units(self, positions: Sequence[int]) -> list[int]:
        """The units of these tokens, as far as they are shown."""
        found = dict.fromkeys(self.of[position] for position in positions)
        return [unit for unit in found if self.places[unit] >= 0]


@dataclass(frozen=True)
class TokenAxes:
    query: TokenAxis
    key: TokenAxis

    def __getitem__(self, side: Side) -> TokenAxis:
        return self.query if side == "query" else self.key


def other(side: Side) -> Side:
    return "key" if side == "query" else "query"


def shown_tokens(stack: Stack, segments: str) -> tuple[list[int], list[int]]:
    """The positions of queries and keys that the choice of segments shows."""

    def of_text(tokens: Tokens, letter: str | None) -> list[int]:
        texts = tokens.segments
        if texts is None or letter is None:
            return list(range(len(tokens)))
        return [at for at, text in enumerate(texts) if text == "ab".index(letter)]

    if segments == "all" or not is_pair(stack):
        return of_text(stack.queries, None), of_text(stack.keys, None)
    shown = of_text(stack.queries, segments[0]), of_text(stack.keys, segments[1])
    # A text without tokens cannot be shown alone.
    return shown if all(shown) else shown_tokens(stack, "all")


def is_pair(stack: Stack) -> bool:
    return stack.queries.segments is not None and stack.keys.segments is not None


def _axis(side: Side, tokens: Tokens, positions: Sequence[int], joined: bool) -> TokenAxis:
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
    return TokenAxis(side, labels, names(labels), special, members, of, shown, places, borders)


def group_bounds(count: int, most: int) -> NDArray[np.intp]:
    """Where each of at most so many groups of `count` neighbours begins, and the last one ends."""
    groups = min(count, most)
    return np.arange(groups + 1) * count // groups
