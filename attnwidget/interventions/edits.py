"""The interventions that a reader can ask for, as data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import InitVar, dataclass
from typing import Any, Literal, cast, get_args

from attnwidget.analysis import positions
from attnwidget.arguments import whole_number
from attnwidget.record import AttentionRecord

from .head_outputs import HeadOutputs

Mode = Literal["zero", "mean", "uniform", "self"]

PlaceInLayer = Literal["head", "projection"]

Patched = Literal["output", "query", "key", "value", "weights"]

# One number, several, or None for all.
Numbers = int | Sequence[int] | None


def listed(numbers: Numbers, everything: list[int]) -> list[int]:
    """The numbers as a list."""
    if numbers is None:
        return everything
    return [numbers] if isinstance(numbers, int) else list(numbers)


def whole_numbers(given: Any, name: str) -> Numbers:
    """Numbers of numpy and torch, too, as ints.

    Raises:
        TypeError: they are something else.
        ValueError: there are none.
    """
    if given is None:
        return None
    with suppress(TypeError):
        return whole_number(given)
    try:
        numbers = tuple(map(whole_number, given))
    except TypeError:
        raise TypeError(
            f"{name} is {given!r:.100}; expected a number, several as [0, 5], or None for all"
        ) from None
    if not numbers:
        raise ValueError(f"{name} is empty; give at least one, or None for all")
    return numbers


def _check_place(edit: Intervention) -> None:
    """Make ints of the numbers of layers and heads."""
    for name in ("layers", "heads"):
        object.__setattr__(edit, name, whole_numbers(getattr(edit, name), name))


@dataclass(frozen=True)
class Ablate:
    """Replaces the outputs of heads before the output projection: switches them off.

    Attributes:
        layers: the numbers of their layers in the model, as in a record; None for all.
        heads: their numbers in each layer; None for all.
        stack: the name of the stack, as in a record; None for the only one.
        mode: the replacement. "zero"; "mean", the head's mean output over the tokens of the same
            text and pass (padding counts in cross-attention alone, whose mask does not show which
            queries are padding); "uniform", the mean of the values of the keys that each query may
            see (Kovaleva et al. 2019); "self", the value at the query's own position. For the
            outputs of another text ("resample ablation"), see `Patch`.
        at: "head", where the output of a head still is its own; or "projection", in the input of
            the output projection, for mode "zero". Both are the same, unless a norm over all heads
            stands between: a head that is off there still counts in the norm.
    """

    layers: Numbers = None
    heads: Numbers = None
    stack: str | None = None
    mode: Mode = "zero"
    at: PlaceInLayer = "head"

    def __post_init__(self) -> None:
        _check_place(self)
        if str(self.mode) == "resample":
            raise ValueError(
                "to resample, give the outputs of another text: attnwidget.Patch(attnwidget."
                "head_outputs(...)) in attnwidget.intervene, or source= of attnwidget.ablate and "
                "attnwidget.ablation_scan"
            )
        for name, value, known in (("mode", self.mode, Mode), ("at", self.at, PlaceInLayer)):
            if value not in get_args(known):
                expected = ", ".join(map(repr, get_args(known)))
                raise ValueError(f"{name} is {value!r}; expected one of {expected}")
        if self.at == "projection" and self.mode != "zero":
            raise ValueError(
                f"mode {self.mode!r} replaces the output of a head: use at='head', or mode='zero'"
            )


@dataclass(frozen=True)
class Scale:
    """Multiplies the outputs of heads before the output projection.

    Attributes:
        factor: 0 switches them off, 1 changes nothing.
        layers, heads, stack: as for `Ablate`.
    """

    factor: float
    layers: Numbers = None
    heads: Numbers = None
    stack: str | None = None

    def __post_init__(self) -> None:
        _check_place(self)


@dataclass(frozen=True)
class KnockOut:
    """Hides keys from queries: their scores become -inf, and the softmax is taken anew.

    Geva et al. 2023, "Dissecting Recall of Factual Associations in Auto-Regressive Language
    Models", section 5.1.

    Args:
        queries, keys: positions of tokens; None for all. With a record, also parts of its text, as
            "the judges"; `attnwidget.analysis.positions` has the positions of characters and of the
            segments of a pair.
        layers, heads, stack: as for `Ablate`.
        record: a record of the same tokens.

    Raises:
        TypeError: `record` is none.
        ValueError: a position below 0; a text without a record, or one that does not occur in it,
            or not once.
    """

    queries: Numbers | str | Iterable[str]
    keys: Numbers | str | Iterable[str]
    layers: Numbers = None
    heads: Numbers = None
    stack: str | None = None
    record: InitVar[AttentionRecord | None] = None

    def __post_init__(self, record: AttentionRecord | None) -> None:
        _check_place(self)
        if not isinstance(record, AttentionRecord | None):
            raise TypeError(
                f"record is {type(record).__name__}; expected an AttentionRecord, as of "
                "attnwidget.capture"
            )
        for side in ("queries", "keys"):
            found = _positions(getattr(self, side), record, self.stack, side)
            object.__setattr__(self, side, found)

    @property
    def sides(self) -> tuple[Numbers, Numbers]:
        """The positions of queries and of keys; those named by their text have been found."""
        return cast("Numbers", self.queries), cast("Numbers", self.keys)


@dataclass(frozen=True)
class Patch:
    """Replaces the outputs of heads before the output projection by those of another run.

    Of a run on another text, this is what some call "resample ablation". With a record, the
    queries, keys, values or weights of heads are replaced, and their outputs follow.

    Attributes:
        source: the outputs, see `attnwidget.head_outputs`. They are of as many tokens; of one
            text, for every text of a batch, or of as many. Or a record of as many tokens, for
            every text of a batch.
        layers, heads, stack: as for `Ablate`.
        what: "output"; or, of a record, "query" or "key", as they enter the dot product, "value"
            (`capture` records them with values=True) or "weights". Heads that share keys and
            values are replaced together. Models that write their softmax out keep their queries
            and keys.
    """

    source: HeadOutputs | AttentionRecord
    layers: Numbers = None
    heads: Numbers = None
    stack: str | None = None
    what: Patched = "output"

    def __post_init__(self) -> None:
        _check_place(self)
        if self.what not in get_args(Patched):
            raise ValueError(
                f"what is {self.what!r}; expected one of {', '.join(map(repr, get_args(Patched)))}"
            )
        expected = HeadOutputs if self.what == "output" else AttentionRecord
        if not isinstance(self.source, expected):
            raise TypeError(
                f"source is {type(self.source).__name__}; what={self.what!r} is patched from "
                + (
                    "the outputs of another run: give attnwidget.head_outputs(...)"
                    if self.what == "output"
                    else "a record: give attnwidget.capture(...)"
                )
            )


Intervention = Ablate | Scale | KnockOut | Patch


def _positions(named: Any, record: AttentionRecord | None, stack: str | None, side: str) -> Numbers:
    """The positions of tokens that may be given by their text."""
    if isinstance(named, str):
        named = [named]
    # A tensor of no dimension is iterable by its type alone.
    if isinstance(named, Iterable) and getattr(named, "ndim", 1) != 0:
        named = [
            position
            for each in named
            for position in (
                _of_text(each, record, stack, side) if isinstance(each, str) else [each]
            )
        ]
    found = whole_numbers(named, side)
    below = [position for position in listed(found, []) if position < 0]
    if below:
        raise ValueError(f"{side} has {below[0]}; positions count from 0, the first token")
    return found


def _of_text(text: str, record: AttentionRecord | None, stack: str | None, side: str) -> range:
    if record is None:
        raise ValueError(
            f"{side} has the text {text!r:.100}: give record=, a record of the tokens in which to "
            "find it"
        )
    searched = record.stacks[0] if stack is None else stack
    try:
        return positions(getattr(record.stack(searched), side), text)
    except ValueError as error:
        several = f"; for another stack, give stack=, one of {', '.join(map(repr, record.stacks))}"
        raise ValueError(
            f"{side} of stack {searched!r}: {error}{several if len(record.stacks) > 1 else ''}"
        ) from None
