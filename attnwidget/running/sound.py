"""Sound among a model's inputs: its times, and the positions that a model has of it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import torch

from attnwidget.tracing import Address, Handler, PassEnded, Read, trace, undisturbed
from attnwidget.tracing.masks import seen_keys

from .frames import Sound
from .model import is_offloaded, run
from .padding import Padded
from .sequences import cuts_patches
from .towers import is_cross, media_of, tower


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
