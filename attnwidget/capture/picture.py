"""The image that a model read, from its pixel values."""

from __future__ import annotations

import io
from typing import Any

import torch

from attnwidget.record import Picture, Tokens
from attnwidget.running.inputs import Inputs

# In pixels, for the longer side.
_LARGEST, _SMALLEST = 224, 112
_QUALITY = 90


def picture(inputs: Inputs, processor: Any, tokens: Tokens) -> Picture | None:
    """The part of the image that the patches cover; None without Pillow, or if it has no colours.

    Args:
        inputs: has the pixel values of the image.
        processor: the model's processor, whose normalization is undone; without one, values that
            are no colours are stretched over the range of colours.
        tokens: have places on the image.
    """
    try:
        from PIL import Image
    except ImportError:
        return None
    pixels, patch, patches = inputs.item_pixels, inputs.sequences.patch, tokens.patches
    if pixels is None or patch is None or patches is None or len(pixels) not in (1, 3):
        return None
    grid = patches.grids[0]
    covered = pixels[:, : grid.rows * patch[0], : grid.columns * patch[1]]
    colors = _colors(covered.detach().to("cpu", torch.float32), processor)
    height, width = colors.shape[1:]
    longer = max(height, width)
    if longer > _LARGEST:
        size = tuple(max(1, round(side * _LARGEST / longer)) for side in (height, width))
        colors = torch.nn.functional.interpolate(colors[None], size, mode="area")[0]
    # The encoding would blur the colours of a few pixels.
    enlarged = max(1, _SMALLEST // longer)
    bytes_of = (colors * 255).round().to(torch.uint8).expand(3, -1, -1).permute(1, 2, 0)
    pixels_of = bytes_of.repeat_interleave(enlarged, 0).repeat_interleave(enlarged, 1)
    file = io.BytesIO()
    Image.fromarray(pixels_of.numpy()).save(file, "WEBP", quality=_QUALITY)
    return Picture(file.getvalue())


def _colors(pixels: torch.Tensor, processor: Any) -> torch.Tensor:
    """The colours of pixel values, from 0 to 1."""
    processor = getattr(processor, "image_processor", processor)
    mean, std = getattr(processor, "image_mean", None), getattr(processor, "image_std", None)
    normalized = getattr(processor, "do_normalize", False) and mean is not None and std is not None
    if normalized:
        pixels = pixels * _per_channel(std) + _per_channel(mean)
    # Without rescaling, a processor may have read an image of 0 to 255, or one of 0 to 1.
    rescaled = processor is None or getattr(processor, "do_rescale", True)
    if not rescaled and float(pixels.max()) > 1 + _ROUNDING:
        pixels = pixels / 255
    least, most = float(pixels.min()), float(pixels.max())
    if least < -_ROUNDING or most > 1 + _ROUNDING:
        pixels = (pixels - least) / (most - least)
    return pixels.clamp(0, 1)


# Colours that half precision moves out of their range.
_ROUNDING = 0.02


def _per_channel(values: Any) -> torch.Tensor:
    return torch.as_tensor(values, dtype=torch.float32).reshape(-1, 1, 1)
