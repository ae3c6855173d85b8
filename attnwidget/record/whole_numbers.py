"""Whole numbers, as Python, numpy and torch have them."""

from __future__ import annotations

from operator import index
from typing import Any


def whole_number(value: Any) -> int:
    """An int, from what stands for one, such as the `argmax` of an array.

    Raises:
        TypeError: it is something else, as True or 1.0.
    """
    # A boolean array's argmax is a number, but its elements are not.
    if "bool" in str(getattr(value, "dtype", type(value))):
        raise TypeError(f"{value!r} is no whole number")
    return index(value)
