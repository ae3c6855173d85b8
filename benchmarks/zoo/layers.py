"""Reduction of the number of layers, with one of each kind."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from transformers import PreTrainedConfig
from transformers.integrations.heterogeneity import AmbiguousGlobalPerLayerAttributeError


def value_of(config: PreTrainedConfig, name: str, default: Any = None) -> Any:
    """A field's value, or the default where the value differs from layer to layer."""
    try:
        return getattr(config, name, default)
    except AmbiguousGlobalPerLayerAttributeError:
        return default


def fewer_layers(config: PreTrainedConfig) -> dict[str, Any]:
    """The number of layers, and every list that has an entry per layer."""
    return dict([*_layers(config), *_stages(config)])


def _layers(config: PreTrainedConfig) -> Iterator[tuple[str, Any]]:
    count = getattr(config, "num_hidden_layers", None)
    names = [field.name for field in dataclasses.fields(config)]
    if not isinstance(count, int) or _count_name(config) not in names:
        return
    per_layer = {
        name: value
        for name in names
        if isinstance(value := value_of(config, name), (list, tuple)) and len(value) == count
    }
    kinds = [str([value[layer] for value in per_layer.values()]) for layer in range(count)]
    kept = sorted({kinds.index(kind) for kind in kinds})
    if len(kept) < 2:
        kept = list(range(min(count, 2)))
    yield _count_name(config), len(kept)
    for name, value in per_layer.items():
        yield name, [value[layer] for layer in kept]


def _stages(config: PreTrainedConfig) -> Iterator[tuple[str, Any]]:
    """The features that a backbone gives: as many as by default, if need be with more layers."""
    taken = getattr(config, "out_indices", None) or []
    if len(taken) < 2:
        return
    if getattr(config, "num_hidden_layers", None) == len(getattr(config, "stage_names", ())) - 1:
        yield _count_name(config), len(taken)
        yield "out_indices", list(range(1, len(taken) + 1))
    else:
        yield "out_indices", list(taken)


def _count_name(config: PreTrainedConfig) -> str:
    return config.attribute_map.get("num_hidden_layers", "num_hidden_layers")
