"""The tokens along one side of an attention matrix."""

from __future__ import annotations

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
        if isinstance(self.labels, str) or not all(isinstance(x, str) for x in self.labels):
            raise ValueError("labels are one string per token")
        if not set(self.special) <= set(range(len(self.labels))):
            raise ValueError("a special position lies outside the tokens")
        if self.segments is not None and not set(self.segments) <= {0, 1}:
            raise ValueError("segments are 0 or 1")
        if self.segments is not None and len(self.segments) != len(self.labels):
            raise ValueError(
                f"{len(self.labels)} tokens but {len(self.segments)} segment numbers; "
                "give one for each token"
            )

    def __len__(self) -> int:
        return len(self.labels)
