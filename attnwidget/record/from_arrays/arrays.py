"""Conversion of any library's arrays to numpy, also within lists, tuples and proxies."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeGuard

import numpy as np

from attnwidget.record.scores import Floats

# The share of a row's attention that rounding may move, by the type that it was computed in.
_TOLERANCES = {"float16": 5e-3, "bfloat16": 3e-2}
_TOLERANCE = 1e-4


class SourceArray(NamedTuple):
    """An array of another tool in float32.

    Attributes:
        tolerance: the share of a row's attention that rounding in its original type can move.
    """

    array: Floats
    tolerance: float


def unwrapped(values: Any) -> Any:
    """The value inside a proxy of nnsight before 0.5, or the value itself."""
    value = getattr(values, "value", None)
    return values if value is None or callable(value) else value


def source_array(values: Any) -> SourceArray:
    """Copy an array to float32.

    Raises:
        ValueError: it is no array of numbers.
    """
    values = unwrapped(values)
    kind = str(getattr(values, "dtype", "")).rpartition(".")[2]
    # Tensors convert themselves, so that torch need not be imported here.
    if hasattr(values, "detach"):
        values = values.detach().cpu().float().numpy()
    try:
        array: Floats = np.array(values, dtype=np.float32, order="C")
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"expected an array of numbers, not {type(values).__name__}: {error}"
        ) from error
    return SourceArray(array, _TOLERANCES.get(kind, _TOLERANCE))


def is_group(values: Any) -> TypeGuard[list[Any] | tuple[Any, ...]]:
    """True for a list of arrays, also a nested one; False for an array or lists of numbers."""
    if not isinstance(values, (list, tuple)):
        return False
    leaf: Any = values
    while isinstance(leaf, (list, tuple)) and leaf:
        # The first entries of a module's output may be None.
        leaf = next((entry for entry in leaf if entry is not None), None)
    return len(getattr(unwrapped(leaf), "shape", ())) > 0
