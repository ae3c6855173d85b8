"""The cache that a model takes: the name of its argument, and one that forgets no token."""

from __future__ import annotations

from typing import Any

import torch
from transformers import DynamicCache

from .model import traits


def cache_name(model: torch.nn.Module) -> str:
    """The name of a model's argument for a cache, which newer versions of transformers changed."""
    return "cache" if "cache" in traits(model).parameters else "past_key_values"


def cache_of_all(model: torch.nn.Module) -> Any:
    """A cache of all tokens, for a model whose own keeps a window of them; None for others."""
    config: Any = getattr(model, "config", None)
    config = getattr(config, "get_text_config", lambda: config)()
    kinds = set(getattr(config, "layer_types", None) or ())
    windows = getattr(config, "sliding_window", None)
    if (
        traits(model).has_decoder
        or not windows
        or not kinds <= {"full_attention", "sliding_attention"}
    ):
        return None
    return DynamicCache()
