"""The architectures of transformers, with a class for each."""

from __future__ import annotations

from typing import Any

from transformers import PreTrainedConfig, PreTrainedModel
from transformers.models.auto import modeling_auto
from transformers.models.auto.auto_factory import _LazyAutoMapping
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

# Without a base model, the nearest mapping is used.
_FIRST = (
    "MODEL_MAPPING",
    "MODEL_FOR_CAUSAL_LM_MAPPING",
    "MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING",
    "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING",
)


def _mappings() -> list[_LazyAutoMapping]:
    found = {n: m for n, m in vars(modeling_auto).items() if isinstance(m, _LazyAutoMapping)}
    return [found.pop(name) for name in _FIRST] + [found[name] for name in sorted(found)]


MAPPINGS = _mappings()


def names() -> list[str]:
    """Every model type for which transformers has a model."""
    return sorted({name for mapping in MAPPINGS for name in mapping._model_mapping})


def config_class(name: str) -> type[PreTrainedConfig]:
    return CONFIG_MAPPING[name]


def model_class(name: str) -> type[PreTrainedModel]:
    """The class of the base model, or of the first task."""
    for mapping in MAPPINGS:
        if name in mapping._model_mapping:
            found = mapping._load_attr_from_module(name, mapping._model_mapping[name])
            first: type[PreTrainedModel] = found[0] if isinstance(found, tuple) else found
            return first
    raise KeyError(name)


def decoders() -> list[str]:
    """Every model type with a class that predicts next tokens."""
    return sorted(modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES)


def decoder_class(name: str) -> Any:
    """That class."""
    return modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING[config_class(name)]
