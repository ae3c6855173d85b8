"""Attention in TransformerLens's ActivationCache: activations by the names of their hooks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .arrays import unwrapped

_PATTERN = re.compile(r"(?P<before>.*?)(?P<layer>\d+)\.(?P<module>.*)hook_pattern")


@dataclass(frozen=True)
class CachedAttention:
    """The attention of a cache, an array per layer, with a batch in front unless that was removed.

    Attributes:
        numbers: of the layers, in the model.
        weights, scores: [heads, Tq, Tk]; scores are None if any layer is without.
        queries, keys: [heads, T, d] after any rotary embedding; None if any layer is without.
    """

    numbers: tuple[int, ...]
    weights: list[Any]
    queries: list[Any] | None
    keys: list[Any] | None
    scores: list[Any] | None


def read_cache(cache: Any, name: str) -> CachedAttention | None:
    """The attention in an ActivationCache, or in a dict of its kind; None of anything else.

    Raises:
        ValueError: it holds no attention, or that of several stacks.
    """
    entries = getattr(cache, "cache_dict", cache)
    if not isinstance(entries, Mapping) or not any("hook_" in str(key) for key in entries):
        return None
    found = {key: match for key in entries if (match := _PATTERN.fullmatch(str(key)))}
    if not found:
        raise ValueError(
            f"{name} is a cache without any hook_pattern: run_with_cache without names_filter, or "
            "with one that lets hook_pattern pass (and hook_q, hook_k, hook_rot_q, hook_rot_k)"
        )
    places = sorted({(match["before"], match["module"]) for match in found.values()})
    if len(places) > 1:
        kinds = ", ".join("N.".join(place) for place in places)
        raise ValueError(
            f"{name} is a cache with several kinds of attention: {kinds}. Give one, as in "
            f"{{k: v for k, v in cache.items() if re.match({'[0-9]+.'.join(places[0])!r}, k)}}"
        )
    ordered = sorted(found, key=lambda key: int(found[key]["layer"]))
    prefixes = [str(key).removesuffix("hook_pattern") for key in ordered]

    def every(hook: str) -> list[Any] | None:
        values = [entries.get(f"{prefix}{hook}") for prefix in prefixes]
        return None if any(value is None for value in values) else [unwrapped(v) for v in values]

    def vectors(side: str) -> list[Any] | None:
        found = every(f"hook_rot_{side}") or every(f"hook_{side}")
        # The cache has tokens before heads.
        return found and [value.swapaxes(-3, -2) if value.ndim > 2 else value for value in found]

    queries, keys = vectors("q"), vectors("k")
    both = queries is not None and keys is not None
    return CachedAttention(
        tuple(int(found[key]["layer"]) for key in ordered),
        [unwrapped(entries[key]) for key in ordered],
        queries if both else None,
        keys if both else None,
        every("hook_attn_scores"),
    )
