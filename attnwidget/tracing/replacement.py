"""Replacement of functions by wrappers of them, for the time of a trace."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import Any, NamedTuple, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])

# Marks a wrapper, so that a function that is looked up through another is not wrapped twice.
_ORIGINAL = "_attnwidget_original"


class Spied(NamedTuple):
    """A call of a method: its arguments by name, and its result."""

    given: dict[str, Any]
    result: Any


def marked(wrapper: _Function, original: Any) -> _Function:
    """The wrapper, from which `unwrapped` finds the original."""
    setattr(wrapper, _ORIGINAL, original)
    return wrapper


def unwrapped(function: _Function) -> _Function:
    """The function without our wrapper."""
    original: _Function = getattr(function, _ORIGINAL, function)
    return original


def replace(owner: Any, name: str, wrapper: Callable[[Any], Any], undo: ExitStack) -> None:
    """Replace an attribute or item by wrapper(original), until `undo` is closed.

    The original is the function without the wrapper of another trace.
    """

    def wrapped(function: Any) -> Any:
        function = unwrapped(function)
        return marked(functools.update_wrapper(wrapper(function), function), function)

    if isinstance(owner, dict):
        undo.callback(owner.__setitem__, name, owner[name])
        owner[name] = wrapped(owner[name])
        return
    original = getattr(owner, name)
    if name in vars(owner):
        undo.callback(setattr, owner, name, original)
    else:  # inherited: leave no copy behind
        undo.callback(delattr, owner, name)
    setattr(owner, name, wrapped(original))


def spied(owner: Any, names: Iterable[str], undo: ExitStack) -> dict[str, Spied]:
    """Keep the arguments and the result of each method's first call, until `undo` is closed."""
    calls: dict[str, Spied] = {}

    def spy(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(method)

        def called(*args: Any, **kwargs: Any) -> Any:
            result = method(*args, **kwargs)
            if name not in calls:
                calls[name] = Spied(signature.bind(*args, **kwargs).arguments, result)
            return result

        return called

    for name in names:
        replace(owner, name, functools.partial(spy, name), undo)
    return calls
