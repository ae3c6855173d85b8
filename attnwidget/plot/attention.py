"""The numbers between tokens that a plot draws: of single heads, or of combined ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Literal, Protocol, SupportsIndex

import numpy as np

from attnwidget.analysis import (
    ATTENTION,
    LENSES,
    MAGNITUDES,
    Lens,
    MatrixLens,
    combined_heads,
    reading,
)
from attnwidget.analysis.levels import Unit, joined_tokens, summed, word_units
from attnwidget.analysis.token_positions import position_of
from attnwidget.arguments import whole_number
from attnwidget.record import AttentionRecord, Floats, Stack, Tokens, runs
from attnwidget.view_state.segments import segment_choice, shown_positions
from attnwidget.view_state.table import Combine
from attnwidget.wire.pairing import Partners, head_label, layer_number

SideName = Literal["query", "key"]

_COMBINED = {"mean": "Mean", "max": "Largest", "layers_mean": "Mean", "layers_max": "Largest"}


@dataclass(frozen=True)
class Side:
    """The tokens along one side of a matrix; words in their place, if these are joined.

    Attributes:
        shown: the places of those shown.
        units: the positions that each stands for, where words are joined.
    """

    name: SideName
    tokens: Tokens
    shown: Sequence[int]
    units: Sequence[Unit] | None = None

    def __len__(self) -> int:
        return len(self.shown)

    @property
    def labels(self) -> list[str]:
        """The labels of those shown."""
        return [self.tokens.labels[place] for place in self.shown]

    @property
    def borders(self) -> list[int]:
        """The indices of those shown that begin the other text of a pair."""
        texts = self.tokens.segments
        if texts is None:
            return []
        of = [texts[place] for place in self.shown]
        return [at for at in range(1, len(of)) if of[at] != of[at - 1]]

    def indices(self, positions: Iterable[int]) -> list[int]:
        """The indices, among those shown, of tokens at some positions of the text."""
        places = dict.fromkeys(self.place(position) for position in positions)
        return [self.shown.index(place) for place in places if place in self.shown]

    def place(self, position: int) -> int:
        """The place of the token at a position of the text, or of its word."""
        if self.units is None:
            return position
        return next(at for at, unit in enumerate(self.units) if position < unit.end)


class Viewed(Protocol):
    """A widget, or another view of a record."""

    @property
    def record(self) -> AttentionRecord:
        """The record that it shows."""


def recorded(source: AttentionRecord | Viewed) -> AttentionRecord:
    """The record, or that of what shows one.

    Raises:
        TypeError: it is something else.
    """
    found = source if isinstance(source, AttentionRecord) else getattr(source, "record", None)
    if not isinstance(found, AttentionRecord):
        raise TypeError(
            f"record is {type(source).__name__}; expected an AttentionRecord, as of "
            "attnwidget.capture(...) or AttentionRecord.load(...), or a widget that shows one"
        )
    return found


@dataclass(frozen=True)
class Attention:
    """The attention of a layer's heads, and the tokens between which it is shown.

    Attributes:
        stack_name: the name of the stack.
        heads: those drawn as lines; all of the layer if None.
        head: the one drawn as a matrix.
        lens: the numbers.
        combine, words, segments: as in `AttentionWidget`. Maxima over layers are between tokens.
        side, locked: the positions of the tokens whose attention is drawn alone; none for all.
        other: the name of a second stack, whose numbers less those of the first are drawn: B - A;
            None for the numbers of one.
        several: True if titles name the stack.
        grid: the grid of patches on which it is shown; None for the whole image, or the first.
        partners: those of the layer's heads in a comparison.
    """

    record: AttentionRecord
    stack_name: str
    layer: int
    heads: Sequence[int] | None = None
    head: int = 0
    lens: Lens = ATTENTION
    combine: Combine = "none"
    words: bool = False
    segments: str = "all"
    side: SideName = "query"
    locked: Sequence[int] = ()
    other: str | None = None
    several: bool = False
    grid: int | None = None
    partners: Partners = None

    def __post_init__(self) -> None:
        for name in filter(None, (self.stack_name, self.other)):
            why = self.numbers_lens.why_not(self.record, name, self.layer)
            if why is not None:
                raise ValueError(
                    f"lens {self.lens.name!r} is not known: layer {self.layer} {why.sentence}"
                )
        if self.other is not None and self.combine in ("max", "layers_max"):
            raise ValueError(
                "a difference is not of maxima, which may be of different heads: choose a mean, or "
                "compared='a' or 'b'"
            )

    @classmethod
    def of(
        cls,
        record: AttentionRecord | Viewed,
        layer: int,
        heads: Sequence[int] | None,
        *,
        stack: str | None,
        lens: str | Lens = "attention",
        segments: str = "all",
        query: SupportsIndex | str | None = None,
    ) -> Attention:
        """Take the attention of a record.

        Raises:
            KeyError, IndexError: it lacks the stack, layer, head or query.
            TypeError: it is no record, or the query neither a position nor a text.
            ValueError: there are no such segments, no one token with the query's text, or the layer
                lacks the lens.
        """
        record = recorded(record)
        name = record.stacks[0] if stack is None else stack
        chosen = record.stack(name)
        for head in heads or ():
            chosen.layer(layer).check_head(head)
        count = len(chosen.queries)
        locked = None if query is None else _position(query, chosen.queries)
        if locked is not None and not 0 <= locked < count:
            raise IndexError(
                f"query {locked} does not exist: there are {count} query tokens, 0 to {count - 1}"
            )
        return cls(
            record,
            name,
            layer,
            heads,
            heads[0] if heads else 0,
            lens_of(lens),
            segments=segment_choice(segments, []),
            locked=() if locked is None else (locked,),
            several=len(record.stacks) > 1,
        )

    @property
    def stack(self) -> Stack:
        return self.record.stack(self.stack_name)

    @property
    def numbers_lens(self) -> Lens:
        """The lens of the numbers: combined layers are of attention, without any signs."""
        if self._over == "layers":
            return MAGNITUDES if self.stack.signed else ATTENTION
        return reading(self.lens, self.stack)

    @property
    def signed(self) -> bool:
        return self.numbers_lens.signed or self.other is not None

    @property
    def has_shares(self) -> bool:
        """True if the numbers are shares of 1; others are drawn up to the largest."""
        return self.numbers_lens.shares and not self.signed

    @property
    def by_magnitude(self) -> bool:
        """True if links are strong by their magnitude; of what does not add up, the highest are."""
        return self.other is not None or self.numbers_lens.adds_up

    def strengths(self, numbers: Floats) -> Floats:
        """The numbers by which the strongest links are found."""
        found: Floats = np.abs(numbers) if self.by_magnitude else numbers
        return found

    @property
    def measure(self) -> str:
        """The words for the numbers: "attention weight"."""
        lens = self.numbers_lens
        words = (
            lens.one
            if lens.one.lower() in lens.label.lower()
            else f"{lens.label.lower()} {lens.one}"
        )
        difference = "" if self.other is None else ", B − A"
        return f"{words}{difference}" + (f" ({lens.unit})" if lens.unit else "")

    @cached_property
    def queries(self) -> Side:
        return self._side("query", self.stack.queries)

    @cached_property
    def keys(self) -> Side:
        return self._side("key", self.stack.keys)

    @property
    def locked_side(self) -> Side:
        return self.queries if self.side == "query" else self.keys

    def _side(self, name: SideName, tokens: Tokens) -> Side:
        shown: Sequence[int] = shown_positions(self.stack, self.segments)[name == "key"]
        joined = self.words and self.numbers_lens.adds_up and self.combine != "layers_max"
        units = word_units(tokens) if joined else None
        if units is None:
            return Side(name, tokens, shown)
        places = dict.fromkeys(map(Side(name, tokens, shown, units).place, shown))
        return Side(name, joined_tokens(tokens, units), list(places), units)

    @property
    def _over(self) -> Literal["heads", "layers"] | None:
        """The things whose numbers are combined, if any; a lens may be of no single head."""
        if self.combine.startswith("layers_"):
            return "layers"
        return None if self.combine == "none" and self.lens.by_head else "heads"

    @property
    def drawn(self) -> list[int | None]:
        """The heads that are drawn, each in its colour; [None] for one matrix of several."""
        return [None] if self._over is not None else list(self._heads)

    @property
    def _heads(self) -> Sequence[int]:
        count = self.stack.layer(self.layer).num_heads
        return range(count) if self.heads is None else self.heads

    @property
    def size(self) -> int:
        """The number of weights behind what is drawn as lines."""
        every = sum(layer.num_heads for layer in self.stack.layers)
        heads = every if self._over == "layers" or not self.lens.by_head else len(self._heads)
        return heads * len(self.stack.queries) * len(self.stack.keys)

    @property
    def current(self) -> int | None:
        """The head drawn as a matrix; None for that of several."""
        return None if self._over is not None else self.head

    def title(self, *heads: int | None) -> str:
        """The title of some of the drawn heads."""
        stack = self.stack_name if self.several else ""
        layer = f"Layer {layer_number(self.layer, self.partners)}"
        lens, combined = reading(self.lens, self.stack), _COMBINED.get(self.combine)
        which = "" if self.heads is None else f"Heads {runs(self.heads)}"
        if len(heads) == 1 and heads[0] is not None:
            which = head_label(self.stack.layer(self.layer), heads[0], self.partners)
        of = "" if lens is ATTENTION else lens.label
        if self._over == "layers":
            count = sum(each.num_heads for each in self.stack.layers)
            of = "" if self.numbers_lens is ATTENTION else self.numbers_lens.label
            layer, which = "", f"{combined} of all {count} heads"
        elif not lens.by_head:
            which = ""
            if isinstance(lens, MatrixLens) and lens.accumulates:
                layer, of = f"{lens.label} of layers 0–{self.layer}", ""
        elif combined is not None:
            few = f"head {self._heads[0]}" if len(self._heads) == 1 else f"{len(self._heads)} heads"
            which = f"{combined} of {few}"
        difference = "" if self.other is None else "B − A"
        return " · ".join(filter(None, (stack, layer, which, of, difference)))

    def numbers(self, head: int | None) -> Floats:
        """The numbers of a head, or of None: [queries, keys], 0 for masked keys.

        Of words, numbers to one are the sum over its tokens, and from one their mean.
        """
        stacks = filter(None, (self.stack_name, self.other))
        a, *b = [self._numbers_of(name, head) for name in stacks]
        found = np.where(np.isneginf(a), np.float32(0), a)
        if b:
            # A key that either record masks has no difference.
            masked = np.isneginf(a) | np.isneginf(b[0])
            found = np.subtract(b[0], a, out=np.zeros_like(a), where=~masked)
        if self.keys.units is not None:
            found = summed(found, self.keys.units, 1)
        if self.queries.units is not None:
            found = summed(found, self.queries.units, 0)
        return found.astype(np.float32, copy=False)

    def _numbers_of(self, stack: str, head: int | None) -> Floats:
        if self._over == "layers":
            of_all = combined_heads(self.record.stack(stack))
            return of_all.mean if self.combine == "layers_mean" else of_all.max
        if head is not None or self.combine == "none":
            return self.numbers_lens.matrix(self.record, stack, self.layer, head or 0)
        lens = self.numbers_lens
        heads = (lens.matrix(self.record, stack, self.layer, each) for each in self._heads)
        if self.combine == "max":
            return reduce(np.maximum, heads)
        total: Floats = reduce(np.add, heads) / np.float32(len(self._heads))
        return total


def _position(query: SupportsIndex | str, tokens: Tokens) -> int:
    if isinstance(query, str):
        return position_of(tokens, query)
    try:
        return whole_number(query)
    except TypeError:
        raise TypeError(
            f"query is {query!r:.100}; expected a position, or the words of its token"
        ) from None


def lens_of(lens: str | Lens) -> Lens:
    """The lens of a name; one that is no name is itself.

    Raises:
        ValueError: there is no such lens.
    """
    if isinstance(lens, Lens):
        return lens
    known = {each.name: each for each in LENSES}
    if lens not in known:
        raise ValueError(
            f"lens is {lens!r}; there are {', '.join(map(repr, known))}, and numbers of your own: "
            "lens=attnwidget.analysis.own_lenses(record, {'mine': array})[0]"
        )
    return known[lens]
