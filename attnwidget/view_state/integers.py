"""Traits of whole numbers, as Python, numpy and torch have them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import traitlets

from attnwidget.arguments import whole_number


# Older versions of traitlets, as Colab's, cannot be asked for TraitType[Any, Any].
class Integer(traitlets.TraitType):  # type: ignore[type-arg]
    """The type of numbers that `whole_number` accepts.

    `traitlets.Int` takes True, and in older versions no number of numpy.
    """

    def info(self) -> str:
        return "an int or None" if self.allow_none else "an int"

    def validate(self, obj: Any, value: Any) -> int:
        try:
            return whole_number(value)
        except TypeError:
            self.error(obj, value)


class Integers(traitlets.List):  # type: ignore[type-arg]
    """A list of them, from anything that holds some: a range, a set, an array."""

    def __init__(self, default: list[int] | None, **options: Any) -> None:
        super().__init__(Integer(), default, **options)

    def validate(self, obj: Any, value: Any) -> Any:
        several = isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping))
        # An array of no dimension is iterable by its type alone.
        if several and getattr(value, "ndim", 1) == 1:
            value = list(value)
        return super().validate(obj, value)


class Pairs(traitlets.List):  # type: ignore[type-arg]
    """A list of pairs of them, as (layer, head)."""

    def __init__(self, default: list[tuple[int, int]], **options: Any) -> None:
        super().__init__(traitlets.Tuple(Integer(), Integer()), default, **options)

    def validate(self, obj: Any, value: Any) -> Any:
        pairs = value
        if isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping)):
            value = list(value)
            pairs = [tuple(pair) if isinstance(pair, Iterable) else pair for pair in value]
        try:
            return super().validate(obj, pairs)
        except traitlets.TraitError:
            raise traitlets.TraitError(
                f"{self.name} is {value!r:.100}; expected (layer, head) pairs, as [(1, 5)]"
            ) from None
