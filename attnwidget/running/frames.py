"""Sound by time: the moments of the tokens that a model makes of it, and their places."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import torch

from attnwidget.record import Grid, Patches, Tokens

from .padding import Padded

# Of what a token stands for: the most that it may read for its place to be known.
_LONGEST_REACH = 4


@dataclass(frozen=True)
class Sound:
    """An item's sound, and the times of the tokens that a model makes of it.

    Attributes:
        values: [numbers, time]: samples, a row for each channel, or frames of a spectrogram, with
            padding.
        rate: of them per second.
        strides: how many of them a token stands for and how many it reads, after each convolution
            that leaves some out.
        padded: the tokens that are no padding, if that is known.
        sampled: True for samples.
        edges: where the pictures of it begin, and where the last one ends; none without pictures.
        ends_silent: True if the last picture is of silence, as that to which sounds are padded.
    """

    values: torch.Tensor = field(repr=False)
    rate: float
    strides: tuple[tuple[int, int], ...]
    padded: Padded | None = None
    sampled: bool = False
    edges: tuple[int, ...] = ()
    ends_silent: bool = False

    def stride(self, count: int) -> int | None:
        """The length of each of so many tokens, in samples or frames; None if it is not known."""
        length, all_tokens = self.values.shape[-1], self._with_padding(count)
        return next(
            (
                stride
                for stride, reach in self.strides
                if abs(length - all_tokens * stride) < reach <= _LONGEST_REACH * stride
            ),
            None,
        )

    def tokens(self, count: int) -> Tokens:
        """So many tokens by the times at which they begin; with places, if there are pictures."""
        stride = self.stride(count)
        each = stride or self.values.shape[-1] / self._with_padding(count)
        labels = tuple(f"{each * n / self.rate:.2f} s" for n in range(count))
        if stride is None or not self.edges:
            return Tokens(labels)
        grids = []
        edges = [round((edge - self.begin(stride)) / stride) for edge in self.edges]
        for image, (start, end) in enumerate(pairwise(edges)):
            is_silent = self.ends_silent and end == count
            name = f"{labels[start][:-2]}–{end * stride / self.rate:.2f} s"
            name = "silence" if is_silent else name if len(edges) > 2 + self.ends_silent else ""
            grids.append(Grid(1, end - start, image, name=name or "sound" * self.ends_silent))
        return Tokens(labels, patches=Patches(tuple(grids), tuple(range(count)), soft=True))

    def begin(self, stride: int) -> int:
        """The place where the first token begins, in samples or frames."""
        return 0 if self.padded is None else int(self.padded.kept[0]) * stride

    def _with_padding(self, count: int) -> int:
        """The number of tokens with those of padding."""
        kept = self.padded
        return kept.length if kept is not None and count == len(kept.kept) else count
