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


@dataclass(frozen=True)
class Result:
    """
    Attributes:
        name: the model type.
        category: see `Category`.
        model: the class that was built.
        stacks: the record's stacks, as "name (layers)".
        routes: the routes of capture, in order of first use.
        references: how many of the model's own attention tensors could be trusted.
        matched: how many of them a captured layer equals.
        error: the largest error of the matched ones, or of the layers' own checks without any.
        reason: why it is not exact, or what else there is to say.
        wrong: field -> why the model's own attention there was not trusted.
        warnings: what capture warned of.
    """

    name: str
    category: Category
    model: str = ""
    stacks: tuple[str, ...] = ()
    routes: tuple[str, ...] = ()
    references: int = 0
    matched: int = 0
    error: float | None = None
    reason: str = ""
    wrong: tuple[tuple[str, str], ...] = ()
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        matched = f" {self.matched}/{self.references}" if self.references else ""
        error = "" if self.error is None else f" {self.error:.1e}"
        reason = f": {self.reason}" if self.reason else ""
        return f"{self.name:<36} {self.category.value}{matched}{error}{reason}"
