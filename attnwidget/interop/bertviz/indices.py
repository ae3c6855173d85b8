"""Checks of layer and head numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attnwidget.arguments import whole_number
from attnwidget.record import Stack, spans


def checked_layer(layer: Any, stack: Stack) -> int:
    """The number of a layer of this stack; that of its first if None."""
    if layer is None:
        return stack.numbers[0]
    number = _whole("layer", layer)
    if number not in stack.numbers:
        raise ValueError(f"layer {number} is not shown: there are {spans(stack.numbers)}")
    return number


def checked_head(head: Any, count: int) -> int:
    """The number of a head; 0 if None."""
    number = 0 if head is None else _whole("head", head)
    if not 0 <= number < count:
        raise ValueError(f"head {number} does not exist: there are {count} heads, 0 to {count - 1}")
    return number


def checked_heads(name: str, heads: Sequence[Any] | None, count: int) -> list[int] | None:
    if heads is None:
        return None
    return [checked_head(head, count) for head in checked_numbers(name, heads)]


def checked_numbers(name: str, numbers: Any) -> list[int]:
    """At least one number, sorted, without duplicates."""
    if not isinstance(numbers, (list, tuple, range, set)) and not hasattr(numbers, "shape"):
        raise TypeError(f"{name} is {numbers!r}; expected a list of numbers, such as [0, 1]")
    checked = sorted({_whole(name, number) for number in numbers})
    if not checked:
        raise ValueError(f"{name} is empty; give at least one, or None for all")
    return checked


def _whole(name: str, number: Any) -> int:
    try:
        return whole_number(number)
    except TypeError:
        raise TypeError(f"{name}: {number!r} is no whole number") from None
