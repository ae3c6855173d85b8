"""Numbers of the user's own for a record, by name and stack: metrics of heads, and lenses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnwidget.record import AttentionRecord

LONGEST_NAME = 200


def check_name(owner: str, name: Any) -> None:
    """Check the name of a metric or a lens.

    Args:
        owner: the argument that has it, for errors.

    Raises:
        TypeError: it is no string.
        ValueError: it is empty, too long or cannot be printed.
    """
    if not isinstance(name, str):
        raise TypeError(f"{owner} has the name {name!r:.100}; expected a string")
    if not is_name(name):
        raise ValueError(
            f"{owner} has the name {name!r:.100}; expected 1 to {LONGEST_NAME} printable characters"
        )


def is_name(text: Any) -> bool:
    """True for a text that a view can list."""
    return isinstance(text, str) and 0 < len(text) <= LONGEST_NAME and text.isprintable()


def by_stack(record: AttentionRecord, what: str, numbers: Any) -> Mapping[str, Any]:
    """Numbers by stack; others are those of the record's only stack.

    Args:
        what: they are, for errors: "metric 'mine'".

    Raises:
        ValueError: there is no such stack, or several that they may be of.
    """
    if not isinstance(numbers, Mapping):
        if len(record.stacks) > 1:
            stacks = ", ".join(f"{stack!r}: ..." for stack in record.stacks)
            raise ValueError(
                f"{what} does not say of which stack it is; expected a dict of arrays, as "
                f"{{{stacks}}}"
            )
        return {record.stacks[0]: numbers}
    for stack in numbers:
        if stack not in record.stacks:
            raise ValueError(
                f"{what} has the stack {stack!r}; this record has {', '.join(record.stacks)}"
            )
    return numbers


def real_numbers(what: str, values: Any) -> NDArray[Any]:
    """An array of real numbers, also from a tensor; NaN where a masked array hides them.

    Args:
        what: has them, for errors: "lens 'mine' has".

    Raises:
        TypeError: they are no real numbers.
    """
    values = values.detach().cpu().float() if hasattr(values, "detach") else values
    try:
        numbers: NDArray[Any] = (
            np.ma.filled(values.astype(float), np.nan) if np.ma.isMA(values) else np.asarray(values)
        )
    except (ValueError, RuntimeError):  # a ragged list, or tensors that need a gradient
        numbers = np.asarray(None)
    if numbers.dtype.kind not in "biuf":
        raise TypeError(f"{what} {numbers.dtype} ({values!r:.60}); expected real numbers")
    return numbers
