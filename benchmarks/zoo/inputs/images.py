"""Images and videos, whole or as a row of patches."""

from __future__ import annotations

import inspect
from typing import Any

import torch
from transformers import PreTrainedConfig, PreTrainedModel

from .parts import vision

# Frames, and patches down and across.
GRID = (1, 4, 4)
FRAMES = 4


def _pixels(model: PreTrainedModel, inputs: dict[str, Any]) -> torch.Tensor:
    config = vision(model.config)
    if "image_grid_thw" in inspect.signature(model.forward).parameters:
        return _patches(model, inputs)
    frames = getattr(config, "num_frames", None)
    return torch.randn(1, *([] if frames is None else [frames]), *_shape(config))


def _video(model: PreTrainedModel, inputs: dict[str, Any]) -> torch.Tensor | None:
    if model.main_input_name != "pixel_values_videos":
        return None
    return torch.randn(1, FRAMES, *_shape(vision(model.config)))


def _patches(model: PreTrainedModel, inputs: dict[str, Any]) -> torch.Tensor:
    config = vision(model.config)
    side = getattr(config, "patch_size", 8)
    frames = getattr(config, "temporal_patch_size", None) or 1
    return torch.randn(GRID[0] * GRID[1] * GRID[2], _channels(config) * frames * side**2)


def _grid(model: PreTrainedModel, inputs: dict[str, Any]) -> torch.Tensor:
    return torch.tensor([GRID])


def _shape(config: PreTrainedConfig) -> tuple[int, ...]:
    size = getattr(config, "image_size", None) or 32
    height, width = size if isinstance(size, (list, tuple)) else (size, size)
    return _channels(config), height, width


def _channels(config: PreTrainedConfig) -> int:
    channels = getattr(config, "num_channels", None) or getattr(config, "in_channels", None)
    return channels if isinstance(channels, int) else 3


IMAGES = {
    "pixel_values": _pixels,
    "pixel_values_videos": _video,
    "image_grid_thw": _grid,
    # The names of patches in the vision towers of such models.
    "hidden_states": _patches,
    "grid_thw": _grid,
}
