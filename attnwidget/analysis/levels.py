"""Attention between words or segments in place of tokens, as records of their own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from attnwidget.arguments import entries, two_numbers
from attnwidget.record import AttentionRecord, Fidelity, Floats, Layer, Stack, Tokens

from .words import words

Segment: TypeAlias = "tuple[int, int, str]"
"""The positions [start, end) of tokens, and the name of what they are."""


_SEGMENTS = "(start, end, name) of each, as [(1, 5, 'subject')]"


@dataclass(frozen=True)
class Unit:
    """Consecutive tokens that count as one, and their label."""

    start: int
    end: int
    label: str

    @property
    def positions(self) -> range:
        """The positions of its tokens."""
        return range(self.start, self.end)


def by_words(record: AttentionRecord) -> AttentionRecord:
    """Sum a record's attention over the tokens of words.

    The attention to a word is the sum over its tokens, that from a word the mean over its tokens
    (Clark et al. 2019, section 4.1), so that rows still sum to 1. A token of no word, such as
    [CLS], counts as a word of its own.

    Returns:
        A record of weights alone, or of coefficients alone where a layer has no softmax, in which
        the words are tokens: for every view, metric and plot.

    Raises:
        ValueError: the words of a stack are not known.
    """
    stacks = {}
    for name in record.stacks:
        stack = record.stack(name)
        stacks[name] = _grouped(stack, _words(stack.queries, name), _words(stack.keys, name))
    return record.with_stacks(stacks)


def by_segments(
    record: AttentionRecord,
    segments: Iterable[Segment],
    *,
    key_segments: Iterable[Segment] | None = None,
    stack: str | None = None,
) -> AttentionRecord:
    """Sum a record's attention over the tokens of segments, as those of a subject or a question.

    The attention to a segment is the sum over its tokens, that from a segment the mean over its
    tokens. Tokens of no segment stay as they are.

    Args:
        segments: (start, end, name) of the queries' tokens: positions from `start` up to, but not
            with, `end`.
        key_segments: the same of the keys; None for those of the queries if queries and keys are
            the same tokens, and for no segment otherwise.
        stack: the stack's name; the first one if None.

    Returns:
        A record of this stack with weights alone, or coefficients, in which the segments are
        tokens.

    Raises:
        KeyError: there is no such stack.
        ValueError: a segment is empty, lies outside the tokens, or overlaps another.
    """
    shown = record.stack(stack)
    name = record.stacks[0] if stack is None else stack
    of_queries = list(entries("segments", segments, _SEGMENTS))
    if key_segments is not None:
        of_keys = list(entries("key_segments", key_segments, _SEGMENTS))
    else:
        of_keys = of_queries if shown.queries == shown.keys else []
    grouped = _grouped(shown, _units(shown.queries, of_queries), _units(shown.keys, of_keys))
    return record.with_stacks({name: grouped})


def _words(tokens: Tokens, stack: str) -> list[Unit]:
    units = word_units(tokens)
    if units is None:
        raise ValueError(
            f"the words of the tokens of stack {stack!r} are not known; give their positions to "
            "by_segments"
        )
    return units


def word_units(tokens: Tokens) -> list[Unit] | None:
    """The words of a token sequence; None if they are unknown."""
    found = words(tokens)
    if found is None:
        return None
    starts = np.searchsorted(found.of, range(len(found.labels))).tolist()
    ends = [*starts[1:], len(tokens)]
    return [Unit(*unit) for unit in zip(starts, ends, found.labels, strict=True)]


def _units(tokens: Tokens, segments: Sequence[Any]) -> list[Unit]:
    """The segments, and the tokens between them, in order."""
    units: list[Unit] = []
    for start, end, label in sorted(_checked(segment, tokens) for segment in segments):
        last = units[-1].end if units else 0
        if start < last:
            raise ValueError(f"segment {label!r:.100} overlaps {units[-1].label!r:.100}")
        units += _alone(tokens, last, start)
        units.append(Unit(start, end, label))
    return [*units, *_alone(tokens, units[-1].end if units else 0, len(tokens))]


def _alone(tokens: Tokens, start: int, end: int) -> list[Unit]:
    return [Unit(n, n + 1, tokens.labels[n]) for n in range(start, end)]


def _checked(segment: Any, tokens: Tokens) -> Segment:
    try:
        start, end, label = segment
    except (TypeError, ValueError):
        raise ValueError(f"{segment!r:.100} is no segment; expected (start, end, name)") from None
    try:
        first, last = two_numbers((start, end))
    except TypeError:
        first = last = -1
    if not 0 <= first < last <= len(tokens):
        raise ValueError(
            f"segment {label!r:.100} has the positions {start!r:.20} to {end!r:.20}; expected "
            f"0 <= start < end <= {len(tokens)}, the number of tokens"
        )
    if not isinstance(label, str):
        raise ValueError(f"the name of a segment is {label!r:.100}; expected a string")
    return first, last, label


def _grouped(stack: Stack, queries: Sequence[Unit], keys: Sequence[Unit]) -> Stack:
    return Stack(
        joined_tokens(stack.queries, queries),
        joined_tokens(stack.keys, keys),
        tuple(_layer(layer, queries, keys) for layer in stack.layers),
    )


def _layer(layer: Layer, queries: Sequence[Unit], keys: Sequence[Unit]) -> Layer:
    most = max(unit.end - unit.start for unit in keys)
    kept = "coefficients" if layer.signed else "weights"
    fidelity = summed_fidelity(layer.fidelity, most, kept)
    heads = [
        summed(summed(layer.head_numbers(n), keys, 1), queries, 0) for n in range(layer.num_heads)
    ]
    return numbers_alone(layer, np.stack(heads).astype(np.float32), fidelity, layer.number)


def numbers_alone(like: Layer, numbers: Floats, fidelity: Fidelity, number: int) -> Layer:
    """A layer of weights alone; of coefficients alone if the other one has no softmax."""
    weights, coefficients = (None, numbers) if like.signed else (numbers, None)
    return Layer(None, None, None, weights, fidelity, number, coefficients=coefficients)


def summed_fidelity(fidelity: Fidelity, most: int, kept: str = "weights") -> Fidelity:
    """The fidelity of weights, or coefficients, that are sums over up to `most` keys."""
    # An error of each token's weight, in the same direction, adds up in a sum over keys.
    error = fidelity.weights_error
    return replace(
        fidelity,
        kept=kept,
        weights_error=None if error is None else error * most,
        output_error=None,
        tolerance=fidelity.tolerance * most,
    )


def summed(
    numbers: NDArray[np.floating], units: Sequence[Unit], axis: Literal[0, 1]
) -> NDArray[np.float64]:
    """Numbers [queries, keys] with units in place of tokens: means over queries, sums over keys.

    Args:
        axis: that of the units: 0 for queries, 1 for keys.
    """
    starts = [unit.start for unit in units]
    sums: NDArray[np.float64] = np.add.reduceat(numbers, starts, axis=axis, dtype=np.float64)
    if axis == 0:
        sums /= np.array([unit.end - unit.start for unit in units])[:, None]
    return sums


def joined_tokens(tokens: Tokens, units: Sequence[Unit]) -> Tokens:
    """The units as tokens; their words and places on an image are no longer known."""
    offsets = tokens.offsets
    generated = tokens.generated
    later = [n for n, u in enumerate(units) if generated is not None and u.start >= generated]
    return Tokens(
        tuple(unit.label for unit in units),
        segments=tokens.segments and tuple(tokens.segments[unit.start] for unit in units),
        special=tuple(
            n
            for n, unit in enumerate(units)
            if set(range(unit.start, unit.end)) <= set(tokens.special)
        ),
        offsets=offsets and tuple(_span(offsets[u.start : u.end]) for u in units),
        generated=later[0] if later else None,
    )


def _span(offsets: Sequence[tuple[int, int] | None]) -> tuple[int, int] | None:
    """The characters from the first to the last of some tokens."""
    known = [offset for offset in offsets if offset is not None]
    if not known:
        return None
    return min(start for start, _ in known), max(end for _, end in known)
