"""numpy arrays from those of any library, also inside lists, tuples and proxies."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeGuard

import numpy as np

from attnwidget.record.scores import Floats

# How much of a row's attention may move where weights are computed anew, by the type that they
# were computed in.
_TOLERANCES = {"float16": 5e-3, "bfloat16": 3e-2}
_TOLERANCE = 1e-4


class SourceArray(NamedTuple):
    """An array of another tool in float32.

    Attributes:
        tolerance: how much of a row's attention the rounding of its own type can move.
    """

    array: Floats
    tolerance: float


def unwrapped(values: Any) -> Any:
    """The value inside the proxy in which nnsight before 0.5 leaves what a trace has saved."""
    value = getattr(values, "value", None)
    return values if value is None or callable(value) else value


def source_array(values: Any) -> SourceArray:
    """A copy in float32: the caller's array stays the caller's."""
    values = unwrapped(values)
    kind = str(getattr(values, "dtype", "")).rpartition(".")[2]
    # Tensors of any library are asked for numpy by their own methods: torch is not imported here.
    if hasattr(values, "detach"):
        values = values.detach().cpu().float().numpy()
    try:
        array: Floats = np.array(values, dtype=np.float32, order="C")
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"expected an array of numbers, and not {type(values).__name__}: {error}"
        ) from error
    return SourceArray(array, _TOLERANCES.get(kind, _TOLERANCE))


def is_group(values: Any) -> TypeGuard[list[Any] | tuple[Any, ...]]:
    """Whether this is a list of arrays, or of what holds them, and not one array of numbers."""
    if not isinstance(values, (list, tuple)):
        return False
    leaf: Any = values
    while isinstance(leaf, (list, tuple)) and leaf:
        # What a module returned may have nothing in its first places.
        leaf = next((each for each in leaf if each is not None), None)
    return len(getattr(unwrapped(leaf), "shape", ())) > 0
