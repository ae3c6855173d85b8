"""Checks of arguments: declared beside a signature, made before the function runs.

    @checked(by=one_of(By), seed=whole(0), max_tokens=whole(1, none=True))
    def scan(model, *, by: By = "head", seed: int = 0, max_tokens: int | None = None): ...

A check takes an argument's name and value, and returns the value to go on with, such as an int for
a number of numpy. It raises a TypeError or ValueError with what was given and what is expected.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import wraps
from math import isfinite
from operator import index
from typing import Any, ParamSpec, TypeAlias, TypeVar, get_args

Check: TypeAlias = Callable[[str, Any], Any]

_P = ParamSpec("_P")
_R = TypeVar("_R")


def checked(**checks: Check) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Check arguments of a function, by their names, whenever it is called with them."""

    def decorate(function: Callable[_P, _R]) -> Callable[_P, _R]:
        signature = inspect.signature(function)

        @wraps(function)
        def checking(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            try:
                given = signature.bind(*args, **kwargs)
            except TypeError:  # which Python says in its own words
                return function(*args, **kwargs)
            for name, check in checks.items():
                if name in given.arguments:
                    given.arguments[name] = check(name, given.arguments[name])
            return function(*given.args, **given.kwargs)

        return checking

    return decorate


def check_fields(instance: object, **checks: Check) -> None:
    """Check attributes of a dataclass, also of a frozen one, by their names."""
    for name, check in checks.items():
        object.__setattr__(instance, name, check(name, getattr(instance, name)))


def one_of(*options: Any) -> Check:
    """A check for one of some values; a Literal type stands for all of its own."""
    known = [value for option in options for value in get_args(option) or [option]]
    expected = f"one of {', '.join(map(repr, known))}" if len(known) > 1 else repr(known[0])

    def check(name: str, value: Any) -> Any:
        # An array compares element by element, and 1 equals True.
        if not any(value is each or (isinstance(value, str) and value == each) for each in known):
            raise _error(ValueError, name, value, expected)
        return value

    return check


def whole(least: int, expected: str = "", *, none: bool = False) -> Check:
    """A check for a whole number from the least one on, and for None if `none`."""
    expected = expected or f"a number from {least}{', or None' if none else ''}"

    def check(name: str, value: Any) -> int | None:
        if none and value is None:
            return None
        try:
            number = whole_number(value)
        except TypeError:
            raise _error(TypeError, name, value, expected) from None
        if number < least:
            raise _error(ValueError, name, value, expected)
        return number

    return check


def real(expected: str, *, above: bool = False, signed: bool = False, none: bool = False) -> Check:
    """A check for a finite number from 0 on, above it, or of any sign; and for None if `none`."""

    def check(name: str, value: Any) -> float | None:
        if none and value is None:
            return None
        # Arrays and tensors have __float__, too.
        is_number = hasattr(value, "__float__") and getattr(value, "ndim", 0) == 0
        if not is_number or "bool" in str(getattr(value, "dtype", type(value))):
            raise _error(TypeError, name, value, expected)
        number = float(value)
        in_range = signed or (number > 0 if above else number >= 0)
        if not (isfinite(number) and in_range):
            raise _error(ValueError, name, value, expected)
        return number

    return check


def whole_numbers(name: str, value: Any) -> int | tuple[int, ...] | None:
    """A check for one number, at least one of several, or None for all."""
    with suppress(TypeError):
        return whole_number(value)
    return several_numbers(name, value, "a number, several as [0, 5], or None for all")


def several_numbers(
    name: str, value: Any, expected: str = "several numbers, as [0, 5], or None for all"
) -> tuple[int, ...] | None:
    """A check for at least one of several numbers, or None for all."""
    if value is None:
        return None
    given = entries(name, value, expected)
    try:
        numbers = tuple(map(whole_number, given))
    except TypeError:
        raise _error(TypeError, name, value, expected) from None
    if not numbers:
        raise ValueError(f"{name} is empty; give at least one, or None for all")
    return numbers


def holds_entries(value: Any) -> bool:
    """True for what gives its entries one by one.

    A string gives letters, a mapping its keys, a table the names of its columns, a data set rows.
    """
    # A tensor of no dimension is iterable by its type alone.
    several = isinstance(value, Iterable) and getattr(value, "ndim", 1) != 0
    return several and not (isinstance(value, (str, bytes)) or _is_named(value))


def _is_named(value: Any) -> bool:
    names = (getattr(value, name, None) for name in ("columns", "column_names"))
    return isinstance(value, Mapping) or any(each is not None for each in names)


def entries(name: str, value: Any, expected: str) -> Iterable[Any]:
    """An iterable that gives entries one by one, not read yet.

    Raises:
        TypeError: it is something else, as `holds_entries` says.
    """
    if holds_entries(value):
        return value  # type: ignore[no-any-return]
    if not _is_named(value):
        raise _error(TypeError, name, value, expected)
    hint = "give one of its columns, or its values, as a list"
    raise TypeError(f"{name} is {type(value).__name__}; expected {expected}; {hint}")


def list_of(
    of: type | Callable[[Any], Any], expected: str, *, none: bool = False, any_order: bool = False
) -> Check:
    """A check for entries, each of a class, or taken by a function; a list of them.

    Args:
        any_order: True to take a set.
    """

    def entry(given: Any) -> Any:
        if not isinstance(of, type):
            return of(given)
        if not isinstance(given, of):
            raise TypeError
        return given

    def check(name: str, value: Any) -> list[Any] | None:
        if none and value is None:
            return None
        if isinstance(value, (set, frozenset)) and not any_order:
            raise TypeError(f"{name} is a set, which has no order; expected {expected}")
        given = list(entries(name, value, expected))
        try:
            return [entry(each) for each in given]
        except (TypeError, ValueError):
            raise _error(TypeError, name, given, expected) from None

    return check


def head_pairs(*, none: bool = False) -> Check:
    """A check for heads by layer, in any order, and for None if `none`."""
    expected = f"(layer, head) pairs, as [(1, 5)]{', or None' if none else ''}"
    return list_of(two_numbers, expected, none=none, any_order=True)


def instance(kind: type, expected: str, *, none: bool = False) -> Check:
    """A check for an object of a class, and for None if `none`."""

    def check(name: str, value: Any) -> Any:
        if isinstance(value, kind) or (none and value is None):
            return value
        raise TypeError(f"{name} is {type(value).__name__}; expected {expected}")

    return check


def whole_number(value: Any) -> int:
    """An int, from what stands for one, such as the `argmax` of an array.

    Raises:
        TypeError: it is something else, as True or 1.0.
    """
    # A boolean array's argmax is a number, but its elements are not.
    if "bool" in str(getattr(value, "dtype", type(value))):
        raise TypeError(f"{value!r} is no whole number")
    return index(value)


def one_number(name: str, value: Any) -> int:
    """A check for one whole number, of either sign."""
    try:
        return whole_number(value)
    except TypeError:
        raise _error(TypeError, name, value, "one number") from None


def two_numbers(value: Any) -> tuple[int, int]:
    """A pair of ints, such as the start and the end of a range, or a layer and a head.

    Raises:
        TypeError, ValueError: it is something else.
    """
    first, second = value
    return whole_number(first), whole_number(second)


def segment(value: Any) -> tuple[int, int, str]:
    """A named range of tokens, (start, end, name): the first, and the one after the last.

    Raises:
        TypeError, ValueError: it is something else.
    """
    *place, name = value
    start, end = two_numbers(place)
    if not isinstance(name, str) or not name.strip() or not 0 <= start < end:
        raise ValueError
    return start, end, name


def _error(kind: type[Exception], name: str, value: Any, expected: str) -> Exception:
    return kind(f"{name} is {value!r:.100}; expected {expected}")
