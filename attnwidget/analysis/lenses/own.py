"""Lenses of the user's own: numbers for every query and key, or a factor of every key."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from attnwidget.analysis.own_numbers import (
    LONGEST_NAME,
    by_stack,
    check_name,
    is_name,
    real_numbers,
)
from attnwidget.record import AttentionRecord, Floats, Stack

from .attention import why_no_softmax
from .lens import FactorLens, Lens, MatrixLens, WhyNot

OwnLenses = Mapping[str, "ArrayLike | Sequence[ArrayLike] | Mapping[str, Any]"]
"""Arrays by the name of a lens; or, by name, arrays by stack, or fields (`own_lenses`)."""

_MOST = 32
_WORDS = ("label", "description", "unit")
_ARRAYS = ("matrices", "factors")
# How far the sum of a row of shares may be from 1.
_SUM = 0.01
# The most decimals that are shown, and the smallest number of which these have three digits.
_MOST_DIGITS, _SMALLEST = 9, 1e-7

_EXPECTED = (
    "matrices [layers, heads, queries, keys] or [layers, queries, keys], or factors "
    "[layers, heads, keys]"
)


def own_lenses(
    record: AttentionRecord, lenses: OwnLenses, taken: Sequence[Lens] = ()
) -> tuple[Lens, ...]:
    """Check a user's lenses against the record that they are of.

    Args:
        lenses: by name, an array of the record's only stack, or such arrays by stack. An array, or
            a list of one for each layer, is [layers, heads, Tq, Tk] (numbers of every head),
            [layers, Tq, Tk] (of layers), or [layers, heads, Tk] (a factor of each key, by which
            weights are multiplied; the lens has the products as shares of their row). A dict with
            such numbers as "matrices" or as "factors" says which they are, and may have a "label",
            a "description" and a "unit".
        taken: lenses whose names cannot be used again.

    Raises:
        TypeError: `lenses` is no mapping, a name is no string, or numbers are not real.
        ValueError: a name is taken or cannot be printed, a stack does not exist, an array has
            another shape, a number is NaN, infinite, or a factor below zero, or all are too small
            to be read.
    """
    if not isinstance(lenses, Mapping):
        raise TypeError(
            f"lenses is {type(lenses).__name__}; expected a dict of names and arrays, as "
            "{'mine': array}"
        )
    if len(lenses) > _MOST:
        raise ValueError(f"lenses has {len(lenses)} lenses; at most {_MOST} can be shown")
    names = [lens.name for lens in taken]
    return tuple(_own(record, name, given, names) for name, given in lenses.items())


def _own(record: AttentionRecord, name: str, given: Any, taken: Sequence[str]) -> Lens:
    check_name("lenses", name)
    if name in taken:
        raise ValueError(f"lens {name!r}: this name is taken; choose another")
    kind, numbers, words = _fields(record, name, given)
    by_stack = {
        stack: _layers(name, record.stack(stack), stack, kind, values)
        for stack, values in _by_stack(record, name, numbers).items()
    }
    kinds = {found for found, _ in by_stack.values()}
    if len(kinds) > 1:
        raise ValueError(f"lens {name!r} has {' and '.join(sorted(kinds))}; give one kind")
    layers = {stack: arrays for stack, (_, arrays) in by_stack.items()}

    def why_not(shown: AttentionRecord, stack: str, layer: int) -> WhyNot | None:
        if shown is not record:
            return WhyNot("of the whole model", f"has no {name}: it is of the whole model")
        if stack not in layers:
            given = ", ".join(layers)
            return WhyNot(f"of {given} alone", f"has no {name}: it was given for {given}")
        if kind == "factors":
            return why_no_softmax(
                record.layer(layer, stack),
                "weights times factors are shares of a row; multiply coefficients with factors, "
                "and give matrices",
            )
        return None

    def layer_of(stack: str, layer: int) -> Floats:
        return layers[stack][record.stack(stack).numbers.index(layer)]

    (kind,) = kinds
    words = {"label": name, "description": "", **words}
    if kind == "factors":
        return FactorLens(
            name=name,
            one="share",
            many="shares",
            why_not=why_not,
            factors=lambda shown, stack, layer: layer_of(stack, layer),
            factor=words["label"],
            product=f"weight × {words['label']}",
            **words,
        )
    each = [array for arrays in layers.values() for array in arrays]
    largest = max(float(np.abs(array).max()) for array in each)
    shares = all(map(_are_shares, each))
    if 0 < largest < _SMALLEST:
        raise ValueError(
            f"lens {name!r} has no number above {largest:.2g}, and {_MOST_DIGITS} decimals are "
            "shown: multiply the numbers, and say so in the unit, as {'matrices': 1e6 * array, "
            "'unit': '1e-6'}"
        )
    return MatrixLens(
        name=name,
        one=words["label"],
        many="numbers",
        signed=any((array < 0).any() for array in each),
        digits=3 if shares else _digits(largest),
        why_not=why_not,
        matrices=lambda shown, stack: layers[stack],
        by_head=kind == "matrices",
        shares=shares,
        **words,
    )


def _fields(record: AttentionRecord, name: str, given: Any) -> tuple[str | None, Any, Any]:
    """The kind of numbers, if the user says so, the numbers, and words for them."""
    named = isinstance(given, Mapping) and not any(stack in given for stack in record.stacks)
    if not named:
        return None, given, {}
    for field in given:
        if field not in (*_ARRAYS, *_WORDS):
            raise ValueError(
                f"lens {name!r} has {field!r}; there are {', '.join((*_ARRAYS, *_WORDS))}, and the "
                f"stacks {', '.join(record.stacks)}"
            )
    arrays = [field for field in _ARRAYS if field in given]
    if len(arrays) != 1:
        raise ValueError(f"lens {name!r} needs either 'matrices' or 'factors'")
    words = {field: given[field] for field in _WORDS if field in given}
    if words.get("label") == "":
        raise ValueError(f"lens {name!r} has an empty label; leave it out for the lens's name")
    for field, text in words.items():
        if not (text == "" or is_name(text)):
            raise ValueError(
                f"lens {name!r} has the {field} {text!r:.100}; expected at most {LONGEST_NAME} "
                "printable characters"
            )
    return arrays[0], given[arrays[0]], words


def _by_stack(record: AttentionRecord, name: str, numbers: Any) -> Mapping[str, Any]:
    found = by_stack(record, f"lens {name!r}", numbers)
    fields = [stack for stack, values in found.items() if isinstance(values, Mapping)]
    if fields:
        raise ValueError(
            f"lens {name!r} has a dict for the stack {fields[0]!r}; stacks come within the fields, "
            f"as {{'matrices': {{{fields[0]!r}: array}}}}"
        )
    if not found:
        raise ValueError(f"lens {name!r} has no numbers; expected {_EXPECTED}")
    return found


def _layers(
    name: str, stack: Stack, stack_name: str, kind: str | None, values: Any
) -> tuple[str, list[Floats]]:
    """The kind of numbers, "matrices", "layers" or "factors", and those of every layer."""
    rows = [_numbers(name, each) for each in _listed(name, values)]
    queries, keys = len(stack.queries), len(stack.keys)
    expected: dict[str, list[tuple[int, ...]]] = {
        "matrices": [(layer.num_heads, queries, keys) for layer in stack.layers],
        "layers": [(queries, keys) for _ in stack.layers],
        "factors": [(layer.num_heads, keys) for layer in stack.layers],
    }
    matrices = [] if kind == "factors" else ["matrices", "layers"]
    kinds = [*matrices, *([] if kind == "matrices" else ["factors"])]
    shapes = [row.shape for row in rows]
    fitting = [each for each in kinds if expected[each] == shapes]
    if not fitting:
        raise ValueError(
            f"lens {name!r} has {_shape(shapes)}; expected {_EXPECTED}: here, of {stack_name!r}, "
            + ", or ".join(_shape(expected[each]) for each in kinds)
        )
    if len(fitting) > 1:
        raise ValueError(
            f"lens {name!r} has {_shape(shapes)}, and there are as many heads as queries: say what "
            "it is, as {'matrices': array} or {'factors': array}"
        )
    for row in rows:
        if not np.isfinite(row).all():
            raise ValueError(
                f"lens {name!r} has {'NaN' if np.isnan(row).any() else 'an infinite number'}; "
                "0 stands for no number"
            )
    (found,) = fitting
    if found == "factors" and any((row < 0).any() for row in rows):
        raise ValueError(
            f"lens {name!r} has a factor below zero, of which no share of a row follows; multiply "
            "weights with it, and give matrices"
        )
    return found, [row[None] if found == "layers" else row for row in rows]


def _listed(name: str, values: Any) -> list[Any]:
    if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
        raise TypeError(f"lens {name!r} is {type(values).__name__}; expected {_EXPECTED}")
    return list(values)


def _numbers(name: str, values: Any) -> Floats:
    with np.errstate(over="ignore"):
        single: Floats = real_numbers(f"lens {name!r} has", values).astype(np.float32)
    return single


def _shape(shapes: Sequence[tuple[int, ...]]) -> str:
    """Describe the shapes of layers: "the shape [6, 12, 9, 9]", or those of each."""
    if len(set(shapes)) == 1:
        return f"the shape {[len(shapes), *shapes[0]]}"
    return f"layers of the shapes {', '.join(str(list(shape)) for shape in shapes) or 'of none'}"


def _are_shares(array: Floats) -> bool:
    """True if every row sums to 1, or is zero."""
    sums = array.sum(axis=-1, dtype=np.float64)
    return bool((array >= 0).all() and ((np.abs(sums - 1) < _SUM) | (sums == 0)).all())


def _digits(largest: float) -> int:
    """The decimals with which the largest number has three significant digits."""
    exponent = math.floor(math.log10(largest)) if largest > 0 else 0
    return max(0, 2 - exponent)
