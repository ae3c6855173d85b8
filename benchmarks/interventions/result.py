"""The verdicts on one architecture."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Verdict(str, Enum):
    """The verdicts from best to worst; the values are their labels."""

    EQUAL = "equal"
    NO_REFERENCE = "no reference"
    REFUSED = "refused"
    WRONG = "WRONG"


@dataclass(frozen=True)
class Result:
    """The verdicts on one architecture, the worst of its stacks each.

    Attributes:
        name: the model type.
        built: False if there is no tiny model of it here, or it has no softmax attention.
        off: of heads that are off.
        cut: of edges that are cut.
        gradients: of gradients by head outputs and weights.
        values: of the values of all layers, beside the model's own output projections.
        errors: the largest of "cut", relative to the outputs, and of "sums" (of weights times
            gradients), "projection" and "differences", relative to the largest gradient of a head.
        reasons: why one is not equal.
    """

    name: str
    built: bool = True
    off: Verdict = Verdict.NO_REFERENCE
    cut: Verdict = Verdict.NO_REFERENCE
    gradients: Verdict = Verdict.NO_REFERENCE
    values: Verdict = Verdict.NO_REFERENCE
    errors: tuple[tuple[str, float], ...] = ()
    reasons: tuple[str, ...] = ()

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """By what they are of."""
        return {
            "off": self.off,
            "cut": self.cut,
            "gradients": self.gradients,
            "values": self.values,
        }

    def __str__(self) -> str:
        reasons = f": {'; '.join(self.reasons)}" if self.reasons else ""
        if not self.built:
            return f"{self.name:<36} left out{reasons}"
        verdicts = ", ".join(f"{what} {each.value}" for what, each in self.verdicts.items())
        errors = " ".join(f"{what} {error:.0e}" for what, error in self.errors)
        return f"{self.name:<36} {verdicts} ({errors}){reasons}"
