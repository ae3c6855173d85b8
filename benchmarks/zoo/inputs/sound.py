"""Sound as samples, or as the strengths of its frequencies over time."""

from __future__ import annotations

from typing import Any

import torch
from transformers import PreTrainedModel

from .parts import sound

SAMPLES = 2000
FRAMES = 64
_BINS = ("num_mel_bins", "feature_projection_input_dim", "input_feat_per_channel")


def _features(model: PreTrainedModel, inputs: dict[str, Any]) -> torch.Tensor:
    config = sound(model.config)
    bins = next((size for name in _BINS if (size := getattr(config, name, None))), 80)
    positions = getattr(config, "max_source_positions", None)
    # Whisper and its derivatives halve a fixed number of frames.
    if hasattr(config, "num_mel_bins") and positions is not None:
        return torch.randn(1, bins, 2 * positions)
    return torch.randn(1, FRAMES, bins)


def _features_mask(model: PreTrainedModel, inputs: dict[str, Any]) -> torch.Tensor | None:
    features = inputs.get("input_features")
    if features is None:
        return None
    bins_first = features.shape[1] < features.shape[2]
    return torch.ones(1, features.shape[2 if bins_first else 1], dtype=torch.long)


def _samples(model: PreTrainedModel, inputs: dict[str, Any]) -> torch.Tensor | None:
    return torch.randn(1, SAMPLES) if model.main_input_name == "input_values" else None


SOUND = {
    "input_features": _features,
    "input_features_mask": _features_mask,
    "input_values": _samples,
}
