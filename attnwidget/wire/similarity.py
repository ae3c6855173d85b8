"""Encoding of the similarity of heads: places on a map, and the nearest heads of each."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict

from attnwidget.record import AttentionRecord, Stack

# A view lists all of them.
_MAX_NEAREST = 64


class _Places(TypedDict):
    label: str
    places: dict[str, list[list[tuple[float, float]]]]
    nearest: dict[str, list[list[list[tuple[int, int, float]]]]]
    kept: float | None


class NullPlaces(TypedDict):
    """The places of heads of a null, found together with those of the heads."""

    label: str
    places: dict[str, list[list[tuple[float, float]]]]


class SentSimilarity(_Places, total=False):
    """The similarity of heads, as JSON.

    Attributes:
        label: the distance between two heads, as "Jensen-Shannon distance".
        places: by stack, by layer, of every head (x, y).
        nearest: likewise, (layer, head, distance) of the heads nearest to it, the nearest first.
        kept: the share of the variance of the distances that two dimensions keep; None if unknown.
        null: missing if there is none.
    """

    null: NullPlaces


def encode_similarity(record: AttentionRecord, similarity: Any) -> SentSimilarity | None:
    """Check a similarity of heads against the record; None stays None.

    Args:
        similarity: as `SentSimilarity`; arrays may stand in place of its lists.

    Raises:
        TypeError: it is no mapping.
        ValueError: a field is missing or has another form, or names a head that does not exist.
    """
    if similarity is None:
        return None
    if not isinstance(similarity, Mapping):
        raise TypeError(f"similarity is {type(similarity).__name__}; expected a dict")
    missing = {"label", "places", "nearest", "kept"} - set(similarity)
    if missing:
        raise ValueError(f"similarity has no {', '.join(sorted(missing))}")
    kept = similarity["kept"]
    if kept is not None and not 0 <= kept <= 1:
        raise ValueError(f"similarity keeps {kept!r} of the variance; expected a share, 0 to 1")

    def nearest(stack: Stack, values: Any) -> list[tuple[int, int, float]]:
        heads = [(int(layer), int(head), float(distance)) for layer, head, distance in values]
        for layer, head, distance in heads:
            if layer not in stack.numbers or not 0 <= head < stack.layer(layer).num_heads:
                raise ValueError(f"similarity names layer {layer}, head {head}, which is not there")
            if not 0 <= distance < math.inf:
                raise ValueError(f"similarity has the distance {distance!r}; expected 0 or more")
        if len(heads) > _MAX_NEAREST:
            raise ValueError(f"similarity has {len(heads)} nearest heads; at most {_MAX_NEAREST}")
        return heads

    sent: SentSimilarity = {
        "label": str(similarity["label"]),
        "places": _by_head(record, similarity["places"], _place),
        "nearest": _by_head(record, similarity["nearest"], nearest),
        "kept": None if kept is None else float(kept),
    }
    null = similarity.get("null")
    if null is not None:
        places = _by_head(record, null["places"], _place)
        sent["null"] = {"label": str(null["label"]), "places": places}
    return sent


def _place(_stack: Stack, place: Any) -> tuple[float, float]:
    x, y = (float(value) for value in place)
    if not (math.isfinite(x) and math.isfinite(y)):
        raise ValueError(f"similarity has the place ({x}, {y}); expected two finite numbers")
    return x, y


def _by_head(
    record: AttentionRecord, values: Mapping[str, Any], encode: Callable[[Stack, Any], Any]
) -> dict[str, list[list[Any]]]:
    """Values by stack, layer and head, each encoded."""
    for name in values:
        if name not in record.stacks:
            raise ValueError(
                f"similarity has the stack {name!r}; this record has {', '.join(record.stacks)}"
            )
    sent = {}
    for name, layers in values.items():
        stack = record.stack(name)
        expected = [layer.num_heads for layer in stack.layers]
        counts = [len(heads) for heads in layers]
        if counts != expected:
            raise ValueError(
                f"similarity has {_counts(counts)} heads by layer in {name!r}; expected "
                f"{_counts(expected)}"
            )
        sent[name] = [[encode(stack, value) for value in heads] for heads in layers]
    return sent


def _counts(counts: Sequence[int]) -> str:
    return ", ".join(map(str, counts)) or "no"
