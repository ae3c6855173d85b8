"""Reading of TransformerLens's ActivationCache, which has activations by the names of hooks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .arrays import unwrapped

_PATTERN = re.compile(r"(?P<before>.*?)(?P<layer>\d+)\.(?P<module>.*)hook_pattern")


@dataclass(frozen=True)
class CachedAttention:
    """The attention of a cache: one array per layer, perhaps with a batch dimension in front.

    Attributes:
        numbers: the layers' numbers in the model.
        weights, scores: [heads, Tq, Tk]; scores are None if a layer lacks them.
        queries, keys: [heads, T, d] after any rotary embedding; None if a layer lacks them.
    """

    numbers: tuple[int, ...]
    weights: list[Any]
    queries: list[Any] | None
    keys: list[Any] | None
    scores: list[Any] | None


def read_cache(cache: Any, name: str) -> CachedAttention | None:
    """Read the attention of an ActivationCache, or of such a dict; None for anything else.

    Raises:
        ValueError: the cache has no attention, or that of several stacks.
    """
    entries = getattr(cache, "cache_dict", cache)
    if not isinstance(entries, Mapping) or not any("hook_" in str(key) for key in entries):
        return None
    matches = {key: match for key in entries if (match := _PATTERN.fullmatch(str(key)))}
    if not matches:
        raise ValueError(
            f"{name} is a cache without any hook_pattern: run_with_cache without names_filter, or "
            "with one that lets hook_pattern pass (and hook_q, hook_k, hook_rot_q, hook_rot_k)"
        )
    places = sorted({(match["before"], match["module"]) for match in matches.values()})
    if len(places) > 1:
        kinds = ", ".join("N.".join(place) for place in places)
        raise ValueError(
            f"{name} is a cache with several kinds of attention: {kinds}. Give one, as in "
            f"{{k: v for k, v in cache.items() if re.match({'[0-9]+.'.join(places[0])!r}, k)}}"
        )
    ordered = sorted(matches, key=lambda key: int(matches[key]["layer"]))
    prefixes = [str(key).removesuffix("hook_pattern") for key in ordered]

    def by_layer(hook: str) -> list[Any] | None:
        values = [entries.get(f"{prefix}{hook}") for prefix in prefixes]
        return None if any(value is None for value in values) else [unwrapped(v) for v in values]

    def vectors(side: str) -> list[Any] | None:
        values = by_layer(f"hook_rot_{side}") or by_layer(f"hook_{side}")
        # The cache has tokens before heads.
        return values and [value.swapaxes(-3, -2) if value.ndim > 2 else value for value in values]

    queries, keys = vectors("q"), vectors("k")
    if queries is None or keys is None:
        queries, keys = None, None
    return CachedAttention(
        tuple(int(matches[key]["layer"]) for key in ordered),
        [unwrapped(entries[key]) for key in ordered],
        queries,
        keys,
        by_layer("hook_attn_scores"),
    )
