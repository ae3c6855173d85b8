"""Words for heads that a user gives, in a manifest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from .text import sendable

HeadNames: TypeAlias = "Mapping[tuple[int, int], str]"
"""By (layer, head), words for the head."""


def with_head_names(
    manifest: Mapping[str, Any], stack_name: str, names: HeadNames
) -> dict[str, Any]:
    """A manifest whose heads of one stack have these words in place of those for their pattern.

    In a comparison, the heads of B that are compared with them have these words, too.

    Raises:
        TypeError: the names are no dict.
        ValueError: there is no such head, or its words are no text.
    """
    if not isinstance(names, Mapping):
        raise TypeError(
            f"head_names is {type(names).__name__}; expected a dict of words by (layer, head), "
            'as {(0, 3): "previous token"}'
        )
    patterns = manifest["patterns"]
    kinds = patterns["kinds"]
    words: dict[str, list[list[str]]] = patterns.get("words") or {
        stack: [[kinds[kind] for kind in heads] for heads in layers]
        for stack, layers in patterns["values"].items()
    }
    words = {stack: [list(heads) for heads in layers] for stack, layers in words.items()}
    [stack] = (each for each in manifest["stacks"] if each["name"] == stack_name)
    compared = manifest.get("compared")
    pairs = compared["stacks"] if compared else []
    named = [stack_name, *(pair["b"] for pair in pairs if pair["a"] == stack_name)]
    places = {layer["number"]: place for place, layer in enumerate(stack["layers"])}
    for place, name in names.items():
        layer, head = place if isinstance(place, tuple) and len(place) == 2 else (None, None)
        if layer not in places or head not in range(len(words[stack_name][places[layer]])):
            raise ValueError(f"head_names has {place!r:.60}; expected (layer, head) of a head")
        if not isinstance(name, str):
            raise ValueError(f"head_names has {name!r:.60} for head {place}; expected words")
        for each in named:
            words[each][places[layer]][head] = sendable(name)
    return {**manifest, "patterns": {**patterns, "words": words}}
