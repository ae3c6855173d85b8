"""The tokens along one side of an attention matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Tokens:
    """Labels of a token sequence.

    Attributes:
        labels: readable text of each token.
        segments: 0 (A) or 1 (B) for each token of a text pair, or None for a single text.
        special: positions of special tokens such as [CLS].
    """

    labels: tuple[str, ...]
    segments: tuple[int, ...] | None = None
    special: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.segments is not None and len(self.segments) != len(self.labels):
            raise ValueError(
                f"{len(self.labels)} tokens but {len(self.segments)} segment numbers; "
                "give one for each token"
            )

    def __len__(self) -> int:
        return len(self.labels)

    def select(self, positions: Sequence[int]) -> Tokens:
        """The tokens at these positions only."""
        special = set(self.special)
        return Tokens(
            tuple(self.labels[p] for p in positions),
            None if self.segments is None else tuple(self.segments[p] for p in positions),
            tuple(new for new, old in enumerate(positions) if old in special),
        )
