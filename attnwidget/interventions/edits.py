"""The interventions that a reader can ask for, as data, without torch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import InitVar, dataclass, field
from typing import Any, Literal, cast, get_args

from attnwidget.analysis import positions
from attnwidget.arguments import (
    Check,
    check_fields,
    holds_entries,
    instance,
    one_of,
    real,
    whole_numbers,
)
from attnwidget.record import AttentionRecord

from .by_layer import AtStream, HeadOutputs, Place

Mode = Literal["zero", "mean", "uniform", "self"]

# Where `attnwidget.ablate` switches heads off.
PlaceInLayer = Literal["head", "projection"]

Meaning = Literal["value left out", "never written"]

# Numbers of layers, heads or tokens: one, several, or None for all.
Chosen = int | Sequence[int] | None

# Positions of tokens; "last" for the last one of each text.
Positions = Chosen | Literal["last"]

_Named = Chosen | str | Iterable[str]

# The checks of where an edit is.
_WHERE: dict[str, Check] = {"layers": whole_numbers, "heads": whole_numbers}

_A_RECORD = "an AttentionRecord, as of attnwidget.capture(...)"
OUTPUTS = "the outputs of another run, as of attnwidget.head_outputs(...)"


def known_mode(name: str, value: Any) -> Mode:
    """A check for a mode, which says how to resample."""
    if isinstance(value, str) and value == "resample":
        raise ValueError(
            "to resample, give the outputs of another text: attnwidget.Patch(attnwidget."
            "head_outputs(...)) in attnwidget.intervene, or source= of attnwidget.ablate and "
            "attnwidget.ablation_scan"
        )
    known: Mode = one_of(Mode)(name, value)
    return known


def listed(numbers: Chosen, everything: list[int]) -> list[int]:
    """The numbers as a list."""
    if numbers is None:
        return everything
    return [numbers] if isinstance(numbers, int) else list(numbers)


def without_heads(at: Place) -> bool:
    """True for a place in the stream of layers, where heads are already mixed."""
    return at in get_args(AtStream)


@dataclass(frozen=True)
class Ablate:
    """Replaces the outputs of heads before the output projection: switches them off.

    With `at`, what is at another place of a layer is replaced.

    Args:
        layers: the numbers of their layers in the model, as in a record; None for all.
        heads: their numbers in each layer; None for all. Heads that share keys and values are
            changed together there.
        stack: the name of the stack, as in a record; None for the only one with a softmax, or the
            only one. Of layers without a softmax, heads are what their function returns.
        mode: the replacement. "zero"; "mean", the head's mean output over the tokens of the same
            text and pass (padding counts in cross-attention alone, whose mask does not show which
            queries are padding, and without a softmax), or that `over` other texts; "uniform", the
            mean of the values of the keys that each query may see (Kovaleva et al. 2019); "self",
            the value at the query's own position; both of a softmax's heads alone. For the outputs
            of another text ("resample ablation"), see `Patch`.
        at: "head", where the output of a head still is its own; "projection", in the input of
            the output projection, for mode "zero" (both are the same, unless a norm over all heads
            stands between: a head that is off there still counts in the norm); "queries" or
            "keys", as they enter the dot product, "values" or "weights", from which the outputs
            follow. Or, in the stream of layers, which has no heads: "embedding", what the first
            layer gets; "residual pre", "residual mid" or "residual post", the stream before a
            layer, after its attention, and after the layer; "attention" or "mlp", what either adds
            to it. The stream is found by a pass over the first inputs.
        positions: of the tokens that are changed; None for all, "last" for the last token of each
            text in a pass. With a record, also parts of its text. In generation they count the
            prompt's tokens and those after them. Of keys and values, they are those of keys; of
            weights, those of queries.
        over: the mean over other texts, as of `attnwidget.mean_outputs`, for mode "mean".
        record: a record of the same tokens, as of `KnockOut`.

    Attributes:
        of_record: True if the positions are those of a record.
    """

    layers: Chosen = None
    heads: Chosen = None
    stack: str | None = None
    mode: Mode = "zero"
    at: Place = "head"
    positions: _Named = None
    over: HeadOutputs | None = None
    record: InitVar[AttentionRecord | None] = None
    of_record: bool = field(init=False, repr=False)

    def __post_init__(self, record: AttentionRecord | None) -> None:
        check_fields(self, mode=known_mode)
        _check_place(self, record)
        if self.over is not None:
            check_fields(self, over=instance(HeadOutputs, "attnwidget.mean_outputs(...)"))
            if self.mode != "mean" or self.over.at != self.at:
                raise ValueError(
                    f"over is a mean at {self.over.at!r}: give mode='mean' and at={self.over.at!r}"
                )
        elif self.at == "weights" and self.mode == "mean":
            raise ValueError("the mean of weights is that over=attnwidget.mean_outputs(...)")
        if (self.mode in ("uniform", "self") and self.at != "head") or (
            self.at == "projection" and self.mode != "zero"
        ):
            raise ValueError(
                f"mode {self.mode!r} replaces the output of a head: use at='head', or mode='zero'"
            )


@dataclass(frozen=True)
class Scale:
    """Multiplies the outputs of heads before the output projection, or what is at another place.

    Args:
        factor: a finite number: 0 switches them off, 1 changes nothing.
        layers, heads, stack, at, positions, record: as for `Ablate`.

    Attributes:
        of_record: True if the positions are those of a record.
    """

    factor: float
    layers: Chosen = None
    heads: Chosen = None
    stack: str | None = None
    at: Place = "head"
    positions: _Named = None
    record: InitVar[AttentionRecord | None] = None
    of_record: bool = field(init=False, repr=False)

    def __post_init__(self, record: AttentionRecord | None) -> None:
        check_fields(self, factor=real("a finite number", signed=True))
        _check_place(self, record)


@dataclass(frozen=True)
class KnockOut:
    """Hides keys from queries: their scores become -inf, and the softmax is taken anew.

    Geva et al. 2023, "Dissecting Recall of Factual Associations in Auto-Regressive Language
    Models", section 5.1.

    A layer without a softmax has no scores to hide. There, the coefficient of the key's value
    becomes 0 in the query's output, and nothing else does (Endy et al. 2025, "Mamba Knockout for
    Unraveling Factual Information Flow"). A convolution before it still passes tokens on.

    Args:
        queries, keys: positions of tokens; None for all. With a record, also parts of its text, as
            "the judges"; `attnwidget.analysis.positions` has the positions of characters and of the
            segments of a pair.
        layers, heads, stack: as for `Ablate`.
        record: a record of the same tokens. Positions are those of its text, so that a call whose
            texts are padded on the left, where they begin later, is refused; layers without a
            softmax do not tell padding.
        meaning: of layers without a softmax. "value left out"; or, of those that erase as they
            write (delta rules), "never written": for the query, the state is as if the key's token
            had neither written nor erased, so that what it has replaced is still there.

    Attributes:
        of_record: True if the positions are those of a record.

    Raises:
        TypeError: `record` is none.
        ValueError: a position below 0; a text without a record, or one that does not occur in it,
            or not once.
    """

    queries: Chosen | str | Iterable[str]
    keys: Chosen | str | Iterable[str]
    layers: Chosen = None
    heads: Chosen = None
    stack: str | None = None
    record: InitVar[AttentionRecord | None] = None
    meaning: Meaning = "value left out"
    of_record: bool = field(init=False, repr=False)

    def __post_init__(self, record: AttentionRecord | None) -> None:
        check_fields(self, **_WHERE, meaning=one_of(Meaning))
        instance(AttentionRecord, _A_RECORD, none=True)("record", record)
        for side in ("queries", "keys"):
            found = _positions(getattr(self, side), record, self.stack, side, side)
            object.__setattr__(self, side, found)
        object.__setattr__(self, "of_record", record is not None)

    @property
    def sides(self) -> tuple[Chosen, Chosen]:
        """The positions of queries and of keys; those named by their text have been found."""
        return cast("Chosen", self.queries), cast("Chosen", self.keys)


@dataclass(frozen=True)
class Patch:
    """Replaces the outputs of heads before the output projection by those of another run.

    Of a run on another text, this is what some call "resample ablation". With `at`, what is at
    another place is replaced.

    Args:
        source: the outputs, as `attnwidget.head_outputs` keeps them at the same place. They are of
            as many tokens, unless positions are given; of one text, for every text of a batch, or
            of as many. For queries, keys, values (`capture` records them with values=True) and
            weights, a record, too, for every text of a batch.
        layers, heads, stack, positions, record: as for `Ablate`. A token gets what was at the same
            position.
        at: as for `Ablate`, but for "projection". Models that write their softmax out keep their
            queries and keys.

    Attributes:
        of_record: True if the positions are those of a record.
    """

    source: HeadOutputs | AttentionRecord
    layers: Chosen = None
    heads: Chosen = None
    stack: str | None = None
    at: Place = "head"
    positions: _Named = None
    record: InitVar[AttentionRecord | None] = None
    of_record: bool = field(init=False, repr=False)

    def __post_init__(self, record: AttentionRecord | None) -> None:
        _check_place(self, record)
        if self.at == "projection":
            raise ValueError("what a projection receives is not patched: use at='head'")
        inside = self.at in ("queries", "keys", "values", "weights")
        if inside and isinstance(self.source, AttentionRecord):
            return
        words = f"{OUTPUTS}{f' or {_A_RECORD}' if inside else ''}, for at={self.at!r}"
        check_fields(self, source=instance(HeadOutputs, words))
        if isinstance(self.source, HeadOutputs) and self.source.at != self.at:
            raise ValueError(f"source is of at={self.source.at!r}, and the patch of {self.at!r}")


Intervention = Ablate | Scale | KnockOut | Patch


Edit = Ablate | Scale | Patch


def _check_place(edit: Edit, record: AttentionRecord | None) -> None:
    """Check where an edit is, and find its positions."""
    check_fields(edit, **_WHERE, at=one_of(*get_args(Place)))
    instance(AttentionRecord, _A_RECORD, none=True)("record", record)
    if without_heads(edit.at) and edit.heads is not None:
        raise ValueError(f"heads are mixed at {edit.at!r}: leave heads out")
    if not (isinstance(edit.positions, str) and edit.positions == "last"):
        side = "keys" if edit.at in ("keys", "values") else "queries"
        found = _positions(edit.positions, record, edit.stack, side, "positions")
        object.__setattr__(edit, "positions", found)
    object.__setattr__(edit, "of_record", record is not None)


def _positions(
    named: Any, record: AttentionRecord | None, stack: str | None, side: str, name: str
) -> Chosen:
    """The positions of tokens that may be given by their text, among the tokens of a side."""
    if isinstance(named, str):
        named = [named]
    if holds_entries(named):
        named = [
            position
            for each in named
            for position in (
                _of_text(each, record, stack, side, name) if isinstance(each, str) else [each]
            )
        ]
    found: Chosen = whole_numbers(name, named)
    below = [position for position in listed(found, []) if position < 0]
    if below:
        raise ValueError(f"{name} has {below[0]}; positions count from 0, the first token")
    return found


def _of_text(
    text: str, record: AttentionRecord | None, stack: str | None, side: str, name: str
) -> range:
    if record is None:
        raise ValueError(
            f"{name} has the text {text!r:.100}: give record=, a record of the tokens in which to "
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
