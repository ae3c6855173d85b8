"""A small cache of results that several layers of a pass share, such as masks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

_T = TypeVar("_T")

# More kinds of layers than models alternate between.
_SIZE = 4


class Recent(Generic[_T]):
    """The latest results, by arguments that are the same objects and by values that are equal."""

    def __init__(self) -> None:
        # Holds the objects themselves, because ids of freed objects may be reused.
        self._entries: list[tuple[tuple[object, ...], object, _T]] = []

    def get(self, objects: tuple[object, ...], values: object, make: Callable[[], _T]) -> _T:
        """The result for these objects and values; made by `make` if it is not among the latest."""
        for known, equal, result in self._entries:
            if equal == values and _same(known, objects):
                return result
        result = make()
        self._entries = [(objects, values, result), *self._entries[: _SIZE - 1]]
        return result


def _same(a: tuple[object, ...], b: tuple[object, ...]) -> bool:
    return len(a) == len(b) and all(x is y for x, y in zip(a, b, strict=True))
