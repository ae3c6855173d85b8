"""The running text of a record: its prompt by message and sentence, its answer, and what each
token of the answer was written from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from attnwidget.arguments import checked
from attnwidget.record import A_STACK, Floats, Piece, Stack, Tokens

from .lenses import row_shares
from .sentences import sentence_spans

# A token of the text that every row gives so many even shares is a sink, if there are so many rows:
# of few, it may be what they were written from.
_SINK, _FEWEST_ROWS = 2.5, 8

Span = tuple[int, int]
"""Positions [start, end) of tokens."""


@dataclass(frozen=True)
class Sink:
    """Keys that rows attend to whatever is written.

    Attributes:
        label: "first token", "template", or the token of the text.
        keys: their positions.
    """

    label: str
    keys: tuple[int, ...]


@dataclass(frozen=True)
class RunningText:
    """The text of a stack's keys, and the rows that read it.

    Attributes:
        keys: the tokens, with their text and offsets.
        messages: the tokens of each message of the prompt, its template included; "A" and "B" of a
            text pair, and one without a role for a plain text.
        template: the keys outside of the messages' contents.
        sentences: those of the contents, by `sentence_spans`; an image among them is one.
        rows: the queries that are looked at: of an answer, those before each of its tokens, which
            wrote them; else all.
        answered: True if the rows wrote an answer.
    """

    keys: Tokens
    messages: tuple[Piece, ...]
    template: tuple[int, ...]
    sentences: tuple[Span, ...]
    rows: range
    answered: bool

    @property
    def prompt(self) -> int:
        """The number of keys before the answer."""
        return self.messages[-1].end if self.messages else 0

    def name_of(self, span: Span) -> str | None:
        """The name of the image or video whose tokens these are; None for text."""
        patches = self.keys.patches
        found = None if patches is None else patches.grid_of(span[0])
        if patches is None or found is None:
            return None
        grid, _ = found
        several = len({each.image for each in patches.grids}) > 1
        # A record of another program may have no names.
        named = grid.name.partition(", ")[0] if grid.name.startswith("image ") else ""
        return grid.video or named or (f"image {grid.image + 1}" if several else "image")

    def text_of(self, span: Span) -> str:
        """The text of some tokens; for an image or a video, its name."""
        name = self.name_of(span)
        if name is not None:
            return name
        text, offsets = self.keys.text or "", self.keys.offsets or ()
        places = [place for place in offsets[slice(*span)] if place is not None]
        return text[places[0][0] : places[-1][1]].strip() if places else ""

    @cached_property
    def of_text(self) -> NDArray[np.bool_]:
        """True for each key of the prompt that stands for a part of the messages' contents."""
        inside = np.zeros(len(self.keys), np.bool_)
        inside[: self.prompt] = True
        inside[list(self.template)] = False
        return inside


@checked(stack=A_STACK)
def running_text(stack: Stack) -> RunningText | None:
    """The running text of a stack; None where it, or its tokens' places in it, are not known."""
    keys = stack.keys
    if keys.text is None or keys.offsets is None:
        return None
    own = stack.queries == keys
    first = stack.queries.generated
    prompt = len(keys) if first is None or not own else first
    messages = tuple(_messages(keys, prompt))
    outside = set(keys.special) | {at for at in range(prompt) if keys.offsets[at] is None}
    for piece in keys.pieces or ():
        if piece.template:
            outside |= set(range(piece.start, min(piece.end, prompt)))
    images = _images(keys)
    outside -= {at for start, end in images for at in range(start, end)}
    template = tuple(sorted(at for at in outside if at < prompt))
    rows = range(len(stack.queries)) if first is None else range(first - 1, len(stack.queries))
    return RunningText(
        keys,
        messages,
        template,
        tuple(_sentences(keys, messages, frozenset(template), images)),
        rows,
        first is not None,
    )


def _messages(keys: Tokens, prompt: int) -> Iterator[Piece]:
    turns = keys.turns or ((0, prompt, ""),)
    if not keys.turns and keys.split is not None:
        turns = (0, keys.split, "A"), (keys.split, prompt, "B")
    for number, (start, end, role) in enumerate(turns):
        if start < prompt:
            yield Piece(start, min(end, prompt), role, number, False)


def _images(keys: Tokens) -> list[Span]:
    """The tokens of each image or video, from its first patch to its last, and those between."""
    of: dict[int | str, list[int]] = {}
    if keys.patches is not None:
        for token in range(len(keys)):
            found = keys.patches.grid_of(token)
            if found is not None:
                of.setdefault(found[0].video or found[0].image, []).append(token)
    spans = sorted((tokens[0], tokens[-1] + 1) for tokens in of.values())
    # Of images whose tokens are mixed, none is a part.
    return spans if all(one[1] <= other[0] for one, other in pairwise(spans)) else []


def _sentences(
    keys: Tokens, messages: Sequence[Piece], template: frozenset[int], images: Sequence[Span]
) -> Iterator[Span]:
    """The tokens of each sentence: those whose first sign stands in it; and those of images."""
    for message in messages:
        of_images = [span for span in images if message.start <= span[0] < message.end]
        start = message.start
        for first, after in [*of_images, (message.end, message.end)]:
            yield from _of_text(keys, range(start, first), template)
            if after > first:
                yield first, after
            start = after


def _of_text(keys: Tokens, tokens: range, template: frozenset[int]) -> Iterator[Span]:
    """The sentences of a part of a message."""
    text, offsets = keys.text or "", keys.offsets or ()
    own = [at for at in tokens if at not in template]
    places = {at: span for at in own if (span := offsets[at]) is not None}
    if not places:
        return
    start, end = min(s for s, _ in places.values()), max(e for _, e in places.values())
    ends = [start + last for _, last in sentence_spans(text[start:end])]
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for at, (begin, stop) in places.items():
        # A token's own space is before its first sign.
        sign = begin + len(text[begin:stop]) - len(text[begin:stop].lstrip())
        number = int(np.searchsorted(ends, min(sign, stop - 1), side="right"))
        number = min(number, max(0, len(ends) - 1))
        first.setdefault(number, at)
        last[number] = at + 1
    yield from ((first[number], last[number]) for number in sorted(first))


@dataclass(frozen=True)
class TextShares:
    """The attention of a running text's rows.

    Attributes:
        mean: float32 [rows, Tk], the mean over all heads of all layers.
        heads: float32 [rows, sentences, heads], each head's attention on each sentence without its
            sinks, heads counted through all layers from 0.
        sinks: see `text_shares`.
    """

    mean: Floats
    heads: Floats
    sinks: tuple[Sink, ...]


@checked(stack=A_STACK)
def text_shares(
    stack: Stack, text: RunningText, factors: Mapping[int, Floats] | None = None
) -> TextShares:
    """Sum the attention of a running text's rows, over heads and over sentences.

    Sinks are the first token, the template's tokens, and each token of the contents to which every
    row gives at least 2.5 times an even share of what it sees: a heuristic, for answers of eight
    tokens or more.

    Args:
        factors: by the number of a layer, as `attnwidget.analysis.value_norms`: in place of its
            weights, their products with these are summed, as shares of each head's row. Sinks stay
            those of the weights.

    Without a softmax, the magnitudes of coefficients count, as shares of each head's row.
    """
    rows = np.arange(text.rows.start, text.rows.stop)
    mean = mean_rows(stack, rows)
    sinks = _sinks(text, mean, stack)
    if factors is not None:
        mean = mean_rows(stack, rows, factors)
    counted = counted_keys(text, sinks)
    number = np.zeros((len(text.keys), len(text.sentences)), np.float32)
    for at, (start, end) in enumerate(text.sentences):
        number[start:end, at] = counted[start:end]
    of_heads = [weights @ number for weights in _rows_of_heads(stack, rows, factors)]
    return TextShares(mean, np.stack(of_heads, axis=2), sinks)


@dataclass(frozen=True)
class PartShare:
    """The attention of some rows on a sentence of the prompt.

    Attributes:
        number: of the sentence in `RunningText.sentences`, from 0.
        share: of what the prompt gets beyond sinks.
        even: the same, if each of its tokens got as much.
    """

    number: int
    share: float
    even: float


def part_shares(text: RunningText, shares: TextShares, rows: slice) -> tuple[PartShare, ...]:
    """The shares of all sentences that have more than sinks, in their order.

    Args:
        rows: the rows that are looked at, of `TextShares.mean`.
    """
    weights = shares.mean[rows].mean(axis=0, dtype=np.float64)
    counted = counted_keys(text, shares.sinks)
    found = []
    for number, (start, end) in enumerate(text.sentences):
        own = counted[start:end]
        if own.any():
            share = float(weights[start:end][own].sum() / (weights[counted].sum() or 1))
            found.append(PartShare(number, share, float(own.sum() / counted.sum())))
    return tuple(found)


def counted_keys(text: RunningText, sinks: Sequence[Sink]) -> NDArray[np.bool_]:
    """True for the keys of the messages' contents that are no sinks, [Tk]."""
    counted: NDArray[np.bool_] = text.of_text.copy()
    for sink in sinks:
        counted[list(sink.keys)] = False
    return counted


def mean_rows(
    stack: Stack, rows: NDArray[np.intp], factors: Mapping[int, Floats] | None = None
) -> Floats:
    """The weights of some queries, the mean of all heads of all layers: float32 [rows, Tk].

    Without a softmax, the magnitudes of coefficients as shares of each head's row.

    Args:
        factors: see `text_shares`.
    """
    total = np.zeros((len(rows), len(stack.keys)))
    for weights in _rows_of_heads(stack, rows, factors):
        total += weights
    heads = sum(layer.num_heads for layer in stack.layers)
    mean: Floats = (total / heads).astype(np.float32)
    return mean


def _rows_of_heads(
    stack: Stack, rows: NDArray[np.intp], factors: Mapping[int, Floats] | None
) -> Iterator[Floats]:
    for layer in stack.layers:
        for head in range(layer.num_heads):
            weights = layer.head_shares(head, rows)
            if factors is not None:
                weights = row_shares(weights * factors[layer.number][head])
            yield weights


def _sinks(text: RunningText, mean: Floats, stack: Stack) -> tuple[Sink, ...]:
    own = stack.queries == stack.keys
    first = (0,) if own else ()
    template = tuple(at for at in text.template if at not in first)
    sinks = [Sink("first token", first), Sink("template", template)]
    seen = np.minimum(np.arange(1, len(mean) + 1) + text.rows.start, mean.shape[1])
    even = 1 / seen if own else np.full(len(mean), 1 / mean.shape[1])
    # A token is never a sink of rows before it.
    always = (mean >= _SINK * even[:, None]).all(axis=0) & text.of_text
    always[list(first)] = False
    found: dict[str, list[int]] = {}
    if text.answered and len(mean) >= _FEWEST_ROWS:
        for at in np.flatnonzero(always):
            found.setdefault(text.keys.labels[at], []).append(int(at))
    sinks += [Sink(label, tuple(keys)) for label, keys in found.items()]
    return tuple(sink for sink in sinks if sink.keys)
