"""Words for layers and heads of A that are compared with others of B: "A 3 ↔ B 7"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from attnwidget.record import Layer

Partners: TypeAlias = "Sequence[tuple[int, int]] | None"
"""By head of a layer, the (layer, head) of B; None where all have the same numbers."""


def partners_of(manifest: Mapping[str, Any], stack: str, layer: int) -> Partners:
    """The partners of a layer's heads, as the manifest has them."""
    [layers] = [each["layers"] for each in manifest["stacks"] if each["name"] == stack]
    [found] = [each.get("partners") for each in layers if each["number"] == layer]
    return found  # type: ignore[no-any-return]


def layer_number(layer: int, partners: Partners) -> str:
    """ "3", or "A 3 ↔ B 7" where its heads are compared with those of one other layer."""
    others = {other for other, _ in partners or ()}
    return _paired(layer, *others) if len(others) == 1 else f"{layer}"


def head_number(layer: int, head: int, partners: Partners) -> str:
    """ "2", or "A 2 ↔ B 5"; "A 2 ↔ B 7-5" where a layer's heads have partners in several."""
    other, number = partners[head] if partners else (layer, head)
    several = len({each for each, _ in partners or ()}) > 1
    return _paired(head, f"{other}-{number}" if several else number)


def head_label(layer: Layer, head: int, partners: Partners) -> str:
    """ "Head 2", or "All channels" of a layer whose one map is of all of them."""
    whole = layer.of_channels and layer.num_heads == 1
    return "All channels" if whole else f"Head {head_number(layer.number, head, partners)}"


def head_place(layer: int, head: int, partners: Partners) -> str:
    """ "3-2", or "A 3-2 ↔ B 7-2"."""
    other, number = partners[head] if partners else (layer, head)
    return _paired(f"{layer}-{head}", f"{other}-{number}")


def _paired(own: int | str, other: int | str) -> str:
    return f"{own}" if own == other else f"A {own} ↔ B {other}"
