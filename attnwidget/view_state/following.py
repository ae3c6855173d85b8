"""The consequences of a choice for others.

js/src/state/following.ts has the same rules, but for named segments, which Python alone sets.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

from attnwidget.record import Layer, Stack, Tokens

from .table import NO_SIZE, PAIR, SIMILARITY


def following(stack: Stack, before: Mapping[str, Any], name: str, value: object) -> dict[str, Any]:
    """Choices that change with another one, so that all name existing layers, heads and tokens.

    Stacks differ in layers and tokens, and layers in heads. The current head is always among those
    that are drawn: another one takes its place there, and if it is not drawn any more, the nearest
    that is becomes the current one.

    Args:
        stack: the stack shown after the change.
        before: the values of all choices before it.
        name: the choice that changes.
        value: its new value.
    """
    chosen = {**before, name: value}
    follow: dict[str, Any] = {}
    if name in ("stack", "layer"):
        layer = layer_of(stack, chosen["layer"])
        follow["layer"] = layer.number
        follow["heads"] = _kept(chosen["heads"], range(layer.num_heads))
        follow["head"] = _nearest_drawn(min(chosen["head"], layer.num_heads - 1), follow["heads"])
    if name == "heads":
        follow["head"] = _nearest_drawn(chosen["head"], chosen["heads"])
    if name == "head":
        follow["heads"] = _with_replaced(chosen["heads"], before["head"], chosen["head"])
    if name == "stack":
        most = max(layer.num_heads for layer in stack.layers)
        follow["query"] = _position(chosen["query"], stack.queries)
        follow["key"] = _position(chosen["key"], stack.keys)
        follow["include_layers"] = _kept(chosen["include_layers"], stack.numbers)
        follow["include_heads"] = _kept(chosen["include_heads"], range(most))
        # The heads and the tokens of another stack are others.
        follow["off"] = []
        follow["cut"] = []
        follow["named_segments"] = []
        follow["grid"] = None
    if name in ("stack", "named_segments"):
        named = follow.get("named_segments", chosen["named_segments"])
        if not named and chosen["parts"] == "named":
            follow["parts"] = "sentences"
        spans = ("", *(f"{start}-{end}" for start, end, _ in named))
        words = [word for word in chosen["segments"].split() if word.partition(":")[2] in spans]
        follow["segments"] = " ".join(words) or "all"
    if name in ("stack", "parts") or (name == "named_segments" and chosen["parts"] == "named"):
        # Part 7 of another text, or of another kind, is another one.
        follow["part"] = follow["cut_part"] = None
    if name in ("stack", "query", "key"):
        follow["also"] = _also(stack, before, {**chosen, **follow})
    if name in ("stack", "layer") or follow.get("head", chosen["head"]) != before["head"]:
        # Neuron 7 of one head has nothing to do with neuron 7 of another.
        follow["muted"] = []
    return follow


def following_metrics(
    before: Mapping[str, Any], metrics: Sequence[str], similarity: bool
) -> dict[str, Any]:
    """Choices of a metric that change when only metrics of these names are left.

    Args:
        similarity: True if places by similarity are left, too.
    """
    places = (*metrics, SIMILARITY) if similarity else metrics
    x = before["map_x"] if before["map_x"] in places else default_metric("map_x", metrics)
    return {
        "sort": before["sort"] if before["sort"] in (PAIR, *metrics) else "model",
        "color": before["color"] if before["color"] in ("layer", PAIR, *metrics) else "pattern",
        "map_x": x,
        "map_y": before["map_y"]
        if before["map_y"] in metrics
        else default_metric("map_y", metrics, x),
        "map_size": before["map_size"] if before["map_size"] in metrics else NO_SIZE,
    }


def default_metric(axis: str, metrics: Sequence[str], x: str | None = None) -> str:
    """The metric on an axis of the map, not that on the other; a profile may lack the usual ones.

    Args:
        x: the metric on the other axis.
    """
    usual = {"map_x": "distance", "map_y": "entropy"}[axis]
    others = [name for name in metrics if name != x] or metrics
    return usual if usual in others else others[0]


def layer_of(stack: Stack, number: int) -> Layer:
    """The layer of this number; where the stack has none, the one before it, or else the first."""
    before = [layer for layer in stack.layers if layer.number <= number]
    return before[-1] if before else stack.layers[0]


def _kept(numbers: Sequence[int] | None, there: Container[int]) -> list[int] | None:
    """The numbers that still exist; None, which means all, if none does."""
    return [number for number in numbers or () if number in there] or None


def _nearest_drawn(head: int, drawn: Sequence[int] | None) -> int:
    """The head, or the nearest one that is drawn; all are if `drawn` is None."""
    return min(drawn, key=lambda other: (abs(other - head), other)) if drawn else head


def _with_replaced(drawn: Sequence[int] | None, old: int, new: int) -> list[int] | None:
    """The heads drawn, with a new one instead of an old one if it is not among them."""
    if not drawn:
        return None
    if new in drawn:
        return list(drawn)
    return sorted({*drawn, new} - {old})


def _position(at: int | None, tokens: Tokens) -> int | None:
    return None if at is None or at >= len(tokens) else at


def _also(stack: Stack, before: Mapping[str, Any], after: Mapping[str, Any]) -> list[int]:
    """The tokens that stay locked together: queries do not become keys, nor keys queries."""
    by_key = after["query"] is None
    own, tokens = (after["key"], stack.keys) if by_key else (after["query"], stack.queries)
    turned = by_key != (before["query"] is None) and after["key"] is not None
    if own is None or turned:
        return []
    return [at for at in after["also"] if at < len(tokens) and at != own]
