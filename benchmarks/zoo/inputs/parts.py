"""The configuration of the part of a model that takes a kind of input."""

from __future__ import annotations

from transformers import PreTrainedConfig

_VISION = ("vision_config", "image_config", "backbone_config", "encoder", "thinker_config")
_SOUND = ("audio_config", "encoder_config", "encoder", "speech_config")


def vision(config: PreTrainedConfig) -> PreTrainedConfig:
    """The configuration of the image tower, or of the whole model."""
    return _inside(config, _VISION)


def sound(config: PreTrainedConfig) -> PreTrainedConfig:
    """The configuration of the audio tower, or of the whole model."""
    return _inside(config, _SOUND)


def _inside(config: PreTrainedConfig, names: tuple[str, ...]) -> PreTrainedConfig:
    for name in names:
        inner = getattr(config, name, None)
        if isinstance(inner, PreTrainedConfig):
            return _inside(inner, names)
    return config
