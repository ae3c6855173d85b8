"""The interventions that a reader can ask for, as data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import InitVar, dataclass
from operator import index
from typing import Literal, cast, get_args

from attnwidget.analysis import positions
from attnwidget.record import AttentionRecord, Tokens

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


@dataclass(frozen=True)
class Ablate:
    """Replaces the outputs of heads before the output projection: switches them off.

    Attributes:
        layers: the numbers of their layers in the model, as in a record; None for all.
        heads: their numbers in each layer; None for all.
        stack: the name of the stack, as in a record; None for the only one.
        mode: the replacement. "zero"; "mean", the head's mean output over the positions of the same
            text and pass; "uniform", the mean of the values of the keys that each query may see
            (Kovaleva et al. 2019); "self", the value at the query's own position. For the outputs
            of another text ("resample ablation"), see `Patch`.
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
        shown = None if record is None else record.stack(self.stack)
        for side, tokens in (
            ("queries", None if shown is None else shown.queries),
            ("keys", None if shown is None else shown.keys),
        ):
            object.__setattr__(self, side, _positions(getattr(self, side), tokens, side))

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
        if self.what not in get_args(Patched):
            raise ValueError(
                f"what is {self.what!r}; expected one of {', '.join(map(repr, get_args(Patched)))}"
            )
        if isinstance(self.source, AttentionRecord) == (self.what == "output"):
            raise TypeError(
                f"what={self.what!r} is patched from "
                + (
                    "the outputs of another run: give attnwidget.head_outputs(...)"
                    if self.what == "output"
                    else "a record: give attnwidget.capture(...)"
                )
            )


Intervention = Ablate | Scale | KnockOut | Patch


def _positions(
    named: int | str | Iterable[int | str] | None, tokens: Tokens | None, side: str
) -> Numbers:
    """The positions of tokens that may be given by their text."""
    if named is None:
        return None
    if isinstance(named, str):
        if tokens is None:
            raise ValueError(
                f"{side} has the text {named!r:.100}: give record=, a record of the tokens in "
                "which to find it"
            )
        return positions(tokens, named)
    if isinstance(named, Iterable):
        found = (_positions(each, tokens, side) for each in named)
        return tuple(position for each in found for position in listed(each, []))
    if index(named) < 0:
        raise ValueError(f"{side} has {named}; positions count from 0, the first token")
    return index(named)
