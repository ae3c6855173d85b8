"""The input of a plot: a place in a record, and the choices of a view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from attnwidget.analysis import LENSES, rollout_refusal, score_refusal, value_refusal
from attnwidget.analysis.words import words
from attnwidget.interventions.off import Link
from attnwidget.record import AttentionRecord, Layer, Stack, Tokens
from attnwidget.view_state import NO_SIZE, PAIR, combination
from attnwidget.view_state.segments import shown_positions
from attnwidget.view_state.table import Combine, Compared
from attnwidget.view_state.traits import NamedSegment
from attnwidget.wire import SentArc, SentMetric, SentSimilarity, encode_overview
from attnwidget.wire.text import sendable

from .text import names

Side = Literal["query", "key"]
SIDES: tuple[Side, Side] = ("query", "key")


@dataclass(frozen=True)
class Shown:
    """A record and the choices with which it is shown.

    Attributes:
        view, stack, …, theme: the widget's choices, as `AttentionWidget` describes them.
        overview: the result of `wire.encode_overview`, if it was computed before.
        metrics: the user's own metrics, as `wire.encode_own_metrics` returns them.
        similarity: as `wire.encode_similarity` returns it.
        arcs: annotated links, as `wire.encode_arcs` returns them.
    """

    record: AttentionRecord
    view: str = "head"
    stack: str | None = None
    compared: Compared = "a"
    layer: int = 0
    head: int = 0
    heads: Sequence[int] | None = None
    query: int | None = None
    key: int | None = None
    also: Sequence[int] = ()
    named_segments: Sequence[NamedSegment] = ()
    segments: str = "all"
    combine: Combine = "none"
    lens: str = "attention"
    words: bool = False
    arcs_shown: bool = True
    orientation: str = "vertical"
    picture: bool = True
    thumbnails: str = "matrix"
    sort: str = "model"
    color: str = "pattern"
    opened: bool = False
    ranking: bool = False
    include_layers: Sequence[int] | None = None
    include_heads: Sequence[int] | None = None
    neurons: str = "model"
    muted: Sequence[int] = ()
    off: Sequence[tuple[int, int]] = ()
    cut: Sequence[Link] = ()
    expanded: bool = True
    map_x: str = "distance"
    map_y: str = "entropy"
    map_size: str = NO_SIZE
    theme: str = "auto"
    overview: tuple[Mapping[str, Any], bytes] | None = None
    metrics: Sequence[SentMetric] = ()
    similarity: SentSimilarity | None = None
    arcs: Sequence[SentArc] = ()

    def check(self) -> None:
        """Check that the record has these layers, heads, query and lens.

        Raises:
            KeyError, IndexError: it lacks one of them.
            ValueError: the layer does not have the lens; the message says why.
        """
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

        self.check_lens()

    def check_difference(self, panel: str | None) -> None:
        """Raise a ValueError if the difference of two records has no such view or numbers.

        Args:
            panel: the panel of the view that is drawn; None for all of it.
        """
        if self.compared != "difference":
            return
        if self.view != "head" and panel not in ("head", "matrix"):
            raise ValueError(
                f"the {self.view} view of a difference is drawn in the browser alone; choose "
                "view='head', or compared='a' or 'b'"
            )
        if self.lens not in ("attention", "scores") or self.combine in ("max", "layers_max"):
            raise ValueError(
                "a difference is of attention or scores, and not of maxima, which may be of "
                "different heads: choose lens='attention' or 'scores' and a mean, or "
                "compared='a' or 'b'"
            )

    def check_lens(self) -> None:
        """Raise a ValueError if there is no such lens, or the current layer does not have it."""
        names = tuple(lens.name for lens in LENSES)
        if self.lens not in names:
            raise ValueError(f"lens is {self.lens!r}; there are {names}")
        refusal = None
        if self.lens == "rollout":
            refusal = rollout_refusal(self.current_stack)
        elif self.lens != "attention":
            refuse = score_refusal if self.lens == "scores" else value_refusal
            refusal = refuse(self.current_layer)
            if refusal is None and self.compared == "difference":
                refusal = refuse(self.layer_of_b)
        if refusal is not None:
            raise ValueError(f"lens {self.lens!r} is not known: {refusal}")

    @cached_property
    def current_stack(self) -> Stack:
        return self.record.stack(self.stack_name)

    @cached_property
    def stack_of_b(self) -> Stack:
        """The second record's, of a comparison."""
        return self.record.stack(self._partner)

    @cached_property
    def current_layer(self) -> Layer:
        return self.current_stack.layer(self.layer)

    @property
    def layer_of_b(self) -> Layer:
        return self.stack_of_b.layer(self.layer)

    @cached_property
    def encoded_overview(self) -> tuple[Mapping[str, Any], bytes]:
        """The record's (manifest, thumbnails)."""
        return self.overview or encode_overview(self.record)

    @property
    def num_texts(self) -> int | None:
        """The number of texts over which numbers and thumbnails are means; None for this alone."""
        manifest, _ = self.encoded_overview
        texts: int | None = manifest["texts"]
        return texts

    @cached_property
    def stack_metrics(self) -> Mapping[str, SentMetric]:
        """The metrics that the stack has, by name."""
        manifest, _ = self.encoded_overview
        metrics = {
            metric["name"]: metric
            for metric in (*manifest["metrics"], *self.metrics)
            if self.stack_name in metric["values"]
        }
        if self.sort == PAIR and self.query is not None and self.key is not None:
            metrics[PAIR] = self._pair_metric(self.query, self.key)
        return metrics

    def _pair_metric(self, query: int, key: int) -> SentMetric:
        """The weight of a pair of tokens in every head."""
        stack, row = self.current_stack, np.array([query])
        values: list[list[float | None]] = [
            [float(layer.head_weights(head, row)[0, key]) for head in range(layer.num_heads)]
            for layer in stack.layers
        ]
        first, second = (
            names(list(map(sendable, tokens.labels)))[at]
            for tokens, at in ((stack.queries, query), (stack.keys, key))
        )
        return {
            "name": PAIR,
            "label": f"weight {first} → {second}",
            "unit": "",
            "digits": 3,
            "signed": False,
            "directions": None,
            "description": "",
            "values": {self.stack_name: values},
        }

    @property
    def stack_name(self) -> str:
        return self._partner if self.compared == "b" else self._own_stack

    @property
    def stack_arcs(self) -> list[SentArc]:
        """The arcs of the stack. Those of the first record of a comparison are of B, too."""
        return [arc for arc in self.arcs if arc["stack"] in (self.stack_name, self._own_stack)]

    @property
    def several_stacks(self) -> bool:
        """True if there is a choice of stacks: those of B are not one."""
        compared = self.overview is not None and "compared" in self.overview[0]
        return len(self.record.stacks) > (2 if compared else 1)

    @property
    def _own_stack(self) -> str:
        return self.stack or self.record.stacks[0]

    @property
    def _partner(self) -> str:
        manifest, _ = self.encoded_overview
        [name] = [s["b"] for s in manifest["compared"]["stacks"] if s["a"] == self._own_stack]
        return str(name)

    @property
    def drawn_heads(self) -> list[int]:
        return list(self.heads or range(self.current_layer.num_heads))

    @property
    def combines_layers(self) -> bool:
        """True if the head view shows all layers as one, which is of attention."""
        combined = combination(self.combine)
        return self.view == "head" and combined is not None and combined.over == "layers"

    @property
    def scored(self) -> bool:
        """True if the matrices are scores, which have a sign."""
        return self.lens == "scores" and not self.combines_layers

    @property
    def horizontal(self) -> bool:
        return self.orientation == "horizontal"

    def locked(self, side: Side) -> list[int]:
        """The locked positions of a side, the latest first."""
        position = self.query if side == "query" else self.key
        if position is None:
            return []
        several = side == ("key" if self.query is None else "query")
        return [position, *(self.also if several else ())]

    @cached_property
    def token_axes(self) -> TokenAxes:
        """Both sides of the matrices, of tokens or words, limited to the chosen segments."""
        stack = self.current_stack
        queries, keys = shown_positions(stack, self.segments)
        # A word has no score.
        words = self.words and (self.lens != "scores" or self.combines_layers)
        return TokenAxes(
            _axis("query", stack.queries, queries, words),
            _axis("key", stack.keys, keys, words),
        )

    @cached_property
    def single_tokens(self) -> TokenAxes:
        """Both sides of the matrices, always of single tokens."""
        return replace(self, words=False).token_axes


@dataclass(frozen=True)
class TokenAxis:
    """One side of a matrix. Its units are tokens, or words of several tokens.

    Attributes:
        labels, names: of every unit; names are unique.
        special: the units of special tokens.
        tokens: the token positions of every unit.
        unit_of: the unit of every token position.
        shown: the visible units, in order.
        places: the index of every unit among the visible ones, or -1.
        borders: the places where the other text of a pair begins.
    """

    side: Side
    labels: Sequence[str]
    names: Sequence[str]
    special: frozenset[int]
    tokens: Sequence[Sequence[int]]
    unit_of: Sequence[int]
    shown: Sequence[int]
    places: Sequence[int]
    borders: Sequence[int]

    @property
    def starts(self) -> NDArray[np.intp]:
        """The first token position of every unit."""
        return np.array([positions[0] for positions in self.tokens], np.intp)

    @property
    def joined(self) -> bool:
        """True if a unit has several tokens."""
        return len(self.tokens) < len(self.unit_of)

    def units(self, positions: Sequence[int]) -> list[int]:
        """The visible units of these token positions."""
        units = dict.fromkeys(self.unit_of[position] for position in positions)
        return [unit for unit in units if self.places[unit] >= 0]


@dataclass(frozen=True)
class TokenAxes:
    query: TokenAxis
    key: TokenAxis

    def __getitem__(self, side: Side) -> TokenAxis:
        return self.query if side == "query" else self.key


def other_side(side: Side) -> Side:
    return "key" if side == "query" else "query"


def _axis(side: Side, tokens: Tokens, positions: Sequence[int], joined: bool) -> TokenAxis:
    joined_words = words(tokens) if joined else None
    # The labels of the browser, in which half of a character is U+FFFD.
    labels = list(map(sendable, joined_words.labels if joined_words else tokens.labels))
    unit_of: Sequence[int] = joined_words.of if joined_words else range(len(tokens))
    members: list[list[int]] = [[] for _ in labels]
    for position, unit in enumerate(unit_of):
        members[unit].append(position)
    shown = list(dict.fromkeys(unit_of[position] for position in positions))
    places = [-1] * len(labels)
    for place, unit in enumerate(shown):
        places[unit] = place
    texts = tokens.segments
    borders = [
        place
        for place in range(1, len(shown))
        if texts and texts[members[shown[place]][0]] != texts[members[shown[place - 1]][0]]
    ]
    special = frozenset(unit_of[position] for position in tokens.special)
    return TokenAxis(side, labels, names(labels), special, members, unit_of, shown, places, borders)


def group_bounds(count: int, max_groups: int) -> NDArray[np.intp]:
    """The starts of even groups of `count` neighbours, and the end of the last group."""
    groups = min(count, max_groups)
    return np.arange(groups + 1) * count // groups
