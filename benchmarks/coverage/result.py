"""The result of one architecture."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

# The largest allowed difference of a captured weight to the model's own.
EXACT = 1e-5


class Category(str, Enum):
    """The categories from best to worst; the values are their labels."""

    EXACT = "exact"
    PARTIAL = "partial"
    NO_REFERENCE = "no reference"
    WRONG_REFERENCE = "wrong reference"
    NO_ATTENTION = "no attention"
    MISS = "miss"
    SILENT = "SILENT WRONG"
    NOT_BUILT = "not built"


class Labels(str, Enum):
    """What is known of stacks, axes, items and labels, from best to worst."""

    RIGHT = "right"
    NOT_RUN = "not compared"
    POSITIONS = "positions"
    ASSUMED = "said to be assumed"
    REFUSED = "refused"
    WRONG = "SILENT WRONG"


@dataclass(frozen=True)
class Result:
    """
    Attributes:
        name: the model type.
        category: see `Category`.
        model: the class that was built.
        stacks: the record's stacks, as "name (layers)".
        others: the number of modules that mix tokens by no softmax, which the record names.
        routes: the routes of capture, in order of first use.
        references: how many of the model's own attention tensors could be trusted.
        matched: how many of them a captured layer equals.
        error: the largest error of the matched ones, or of the layers' own checks without any.
        reason: why it is not exact, or what else there is to say.
        wrong: field -> why the model's own attention there was not trusted.
        warnings: what capture warned of.
        labels: what is known of its stacks, axes, items and labels where lengths do not tell.
        labels_reason: why they are not right.
    """

    name: str
    category: Category
    model: str = ""
    stacks: tuple[str, ...] = ()
    others: int = 0
    routes: tuple[str, ...] = ()
    references: int = 0
    matched: int = 0
    error: float | None = None
    reason: str = ""
    wrong: tuple[tuple[str, str], ...] = ()
    warnings: tuple[str, ...] = ()
    labels: Labels = Labels.NOT_RUN
    labels_reason: str = ""

    def __str__(self) -> str:
        matched = f" {self.matched}/{self.references}" if self.references else ""
        error = "" if self.error is None else f" {self.error:.1e}"
        reason = f": {self.reason}" if self.reason else ""
        labels = "" if self.labels is Labels.RIGHT else f"; labels {self.labels.value}"
        why = f": {self.labels_reason}" if labels and self.labels_reason else ""
        return f"{self.name:<36} {self.category.value}{matched}{error}{reason}{labels}{why}"
