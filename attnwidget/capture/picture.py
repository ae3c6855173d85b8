"""The images that a model read: the reader's own, or from pixel values."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import torch

from attnwidget.record import Picture
from attnwidget.running.inputs import Inputs

from .grids import Seen

if TYPE_CHECKING:
    from PIL.Image import Image

# In pixels, for the longer side.
_LARGEST, _SMALLEST = 224, 112
_QUALITY = 90


def pictures(inputs: Inputs, processor: Any, seen: Seen) -> tuple[Picture, ...]:
    """The images on which tokens are placed: the reader's own, or what the inputs hold of them.

    Args:
        processor: the model's processor, whose normalization is undone; without one, values that
            are no colours are stretched over the range of colours.
    """
    from PIL import Image

    if inputs.originals is not None:
        return tuple(_small(image) for image in inputs.originals.images)
    out = []
    for name, lead in seen.parts:
        whole = inputs.tensors[name][lead].detach().to("cpu", torch.float32)
        colors = _colors(whole, processor)
        bytes_of = (colors * 255).round().to(torch.uint8).expand(3, -1, -1).permute(1, 2, 0)
        out.append(_small(Image.fromarray(bytes_of.contiguous().numpy())))
    return tuple(out)


def _small(image: Image) -> Picture:
    """An image as a small file."""
    from PIL.Image import Resampling

    longer = max(image.size)
    if longer > _LARGEST:
        sides = (max(1, round(side * _LARGEST / longer)) for side in image.size)
        image = image.convert("RGB").resize((next(sides), next(sides)), Resampling.BOX)
    # The encoding would blur the colours of a few pixels.
    enlarged = max(1, _SMALLEST // longer)
    if enlarged > 1:
        size = (image.width * enlarged, image.height * enlarged)
        image = image.convert("RGB").resize(size, Resampling.NEAREST)
    file = io.BytesIO()
    image.convert("RGB").save(file, "WEBP", quality=_QUALITY)
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
