"""The interventions that a reader can ask for, as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from .head_outputs import HeadOutputs

Mode = Literal["zero", "mean", "uniform", "self"]

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
            (Kovaleva et al. 2019); "self", the value at the query's own position.
    """

    layers: Numbers = None
    heads: Numbers = None
    stack: str | None = None
    mode: Mode = "zero"

    def __post_init__(self) -> None:
        if self.mode not in get_args(Mode):
            raise ValueError(
                f"mode is {self.mode!r}; expected one of {', '.join(map(repr, get_args(Mode)))}"
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

    Attributes:
        queries, keys: positions of tokens; None for all.
        layers, heads, stack: as for `Ablate`.
    """

    queries: Numbers
    keys: Numbers
    layers: Numbers = None
    heads: Numbers = None
    stack: str | None = None


@dataclass(frozen=True)
class Patch:
    """Replaces the outputs of heads before the output projection by those of another run.

    Of a run on another text, this is what some call "resample ablation".

    Attributes:
        source: the outputs, see `attnwidget.head_outputs`. They are of as many tokens; of one
            text, for every text of a batch, or of as many.
        layers, heads, stack: as for `Ablate`.
    """

    source: HeadOutputs
    layers: Numbers = None
    heads: Numbers = None
    stack: str | None = None


Intervention = Ablate | Scale | KnockOut | Patch
