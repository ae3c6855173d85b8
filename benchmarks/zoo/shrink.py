"""Reduction of a configuration's defaults to tiny sizes that still fit each other."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from transformers import PreTrainedConfig

from .details import detail
from .ids import SPECIAL
from .layers import fewer_layers, value_of
from .sizes import small

_TOKEN = re.compile(r"(.*_)?(token_id|token_index|token_ids)")


def shrink(
    default: PreTrainedConfig,
    overrides: Mapping[str, Any] = MappingProxyType({}),
    specials: dict[str, int] | None = None,
) -> PreTrainedConfig:
    """A tiny configuration of the class of `default`.

    It is made anew rather than changed, so that what derives from a size derives from the small
    one.

    Args:
        default: what deviates in it from the class's own defaults is kept, if small.
        overrides: field -> value, applied last; the field of a configuration inside this one
            takes a mapping of overrides.
        specials: special token -> id, shared by a configuration and those inside it.
    """
    specials = {} if specials is None else specials
    overrides = {**detail(default.model_type).config, **overrides}
    fresh = type(default)()
    changed: dict[str, Any] = {}
    for field in dataclasses.fields(default):
        name, override = field.name, overrides.get(field.name)
        value = value_of(default, name, field.default)
        if isinstance(value, PreTrainedConfig) and "model_type" not in (override or {}):
            changed[name] = shrink(value, override or {}, specials)
        elif name in overrides or name.startswith("_"):
            continue
        elif _TOKEN.fullmatch(name):
            changed[name] = _special(name, value, specials)
        elif small(name, value) != value or value != value_of(fresh, name, field.default):
            changed[name] = small(name, value)
    changed.update(_shared_heads(default))
    changed.update(fewer_layers(default))
    inside = {name for name, value in changed.items() if isinstance(value, PreTrainedConfig)}
    changed.update((name, value) for name, value in overrides.items() if name not in inside)
    return type(default)(**changed)


def _special(name: str, value: Any, specials: dict[str, int]) -> Any:
    """The id of a special token, inside the vocabulary and apart from the ids of text."""
    if isinstance(value, (list, tuple)):
        return [_special(f"{name}.{place}", one, specials) for place, one in enumerate(value)]
    if not isinstance(value, int) or value < SPECIAL:
        return value
    return specials.setdefault(name, SPECIAL + len(specials))


def _shared_heads(config: PreTrainedConfig) -> dict[str, int]:
    """Let query heads share key heads only if they do so by default."""
    names = {field.name for field in dataclasses.fields(config)}
    if not {"num_attention_heads", "num_key_value_heads"} <= names:
        return {}
    heads = value_of(config, "num_attention_heads")
    alike = heads is not None and heads == value_of(config, "num_key_value_heads")
    return {"num_key_value_heads": small("num_attention_heads", heads)} if alike else {}
