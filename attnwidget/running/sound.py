"""Sound among a model's inputs: its times, and the tokens that a model makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import torch

from attnwidget.record import Grid, Patches, Tokens
from attnwidget.tracing import Address, Handler, PassEnded, Read, trace, undisturbed
from attnwidget.tracing.masks import seen_keys

from .model import is_offloaded, run
from .padding import Padded
from .towers import is_cross, media_of, tower

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


def sound_in(
    model: torch.nn.Module,
    tensors: Mapping[str, Any],
    processor: Any,
    item: int,
    padded: Padded | None,
) -> Sound | None:
    """An item's sound.

    None if the processor has no sampling rate, or the model does not read sound in order: patches
    of a spectrogram have no times of their own.
    """
    extractor = getattr(processor, "feature_extractor", processor)
    rate, hop = (getattr(extractor, name, None) for name in ("sampling_rate", "hop_length"))
    in_patches = any(
        isinstance(module, torch.nn.Conv2d) and tower(name) != "vision" and cuts_patches(module)
        for name, module in model.named_modules()
    )
    if not rate or in_patches or getattr(getattr(model, "config", None), "patch_size", None):
        return None
    strides = _strides(model)
    samples, frames = tensors.get("input_values"), tensors.get("input_features")
    if isinstance(samples, torch.Tensor):
        own = _item(samples, item, 2).reshape(-1, samples.shape[-1])
        return Sound(own, rate, strides, padded, sampled=True)
    if isinstance(frames, torch.Tensor) and hop:
        own = _item(frames, item, 3)
        # There are more frames than numbers in one.
        upright = own if own.shape[-1] >= own.shape[-2] else own.transpose(-2, -1)
        return Sound(upright, rate / hop, strides, padded)
    return None


def cuts_patches(module: torch.nn.Conv2d) -> bool:
    """True if a convolution cuts its input into patches."""
    return module.stride[0] > 1 and module.stride == module.kernel_size


def _item(values: torch.Tensor, item: int, dimensions: int) -> torch.Tensor:
    """An item of an input that has at least so many dimensions."""
    return values[min(item, len(values) - 1)] if values.ndim >= dimensions else values


def _strides(model: torch.nn.Module) -> tuple[tuple[int, int], ...]:
    """The lengths that a token stands for and reads, after each convolution that strides."""
    strides = [(1, 1)]
    for name, module in model.named_modules():
        if isinstance(module, torch.nn.Conv1d) and module.stride[0] > 1 and tower(name) != "vision":
            stride, reach = strides[-1]
            reach += (module.kernel_size[0] - 1) * stride
            strides.append((stride * module.stride[0], reach))
    return tuple(strides)


def sound_of(model: torch.nn.Module, tensors: Mapping[str, Any], item: int) -> Padded | None:
    """The positions of an item's sound that are no padding; None for a sound without padding.

    They are the keys that the first attention of the sound sees: the model runs so far.
    """
    mask = _mask(tensors, item)
    if mask is None or bool(mask.all()):
        return None
    first = _First(whole=is_offloaded(model))
    # What follows the sound may lack inputs, as a decoder its tokens.
    with suppress(PassEnded, Exception), undisturbed(model), trace(model, first, len(mask)):
        run(model, tensors)
    seen = first.seen
    if seen is None or len(seen) <= item:
        return None
    return Padded(seen.shape[1], seen[item].nonzero()[:, 0].cpu())


def _mask(tensors: Mapping[str, Any], item: int) -> torch.Tensor | None:
    """The mask of an item's sound [samples or frames], or None."""
    if not any(media_of(name) == "audio" for name in tensors):
        return None
    ids = tensors.get("input_ids")
    for name, value in tensors.items():
        if "mask" not in name or "decoder" in name or not isinstance(value, torch.Tensor):
            continue
        of_text = isinstance(ids, torch.Tensor) and value.shape == ids.shape
        if value.ndim == 2 and not of_text and len(value) > item:
            return value[item]
    return None


class _First(Handler):
    """Reads which keys the first attention of a sound sees: bool [items, keys].

    Args:
        whole: True for a model that must not be stopped midway.
    """

    def __init__(self, *, whole: bool) -> None:
        self.seen: torch.Tensor | None = None
        self._whole = whole

    def attention(self, address: Address, read: Read) -> None:
        other = is_cross(address.module) or tower(address.module) in ("text", "vision", "decoder")
        if self.seen is None and not other:
            self.seen = seen_keys(read())
            if not self._whole:
                raise PassEnded
