"""Functions of a model's code that are known by their arguments, whatever their names."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from types import FunctionType, MethodType
from typing import Any, NamedTuple, TypeAlias

import torch

from .modules import Route
from .replacement import replace


class Known(NamedTuple):
    """A call of such a function.

    Attributes:
        function: itself, which may be run again.
        module: the module that called.
        given: the arguments by name.
        result: what it returned.
    """

    function: Callable[..., Any]
    module: torch.nn.Module
    given: dict[str, Any]
    result: Any


# Makes a call of attention, or of what mixes tokens otherwise, of such a call.
Reader: TypeAlias = "Callable[[Known], Any]"

# By the arguments that tell a function, its reader; the first that fits counts.
Readers: TypeAlias = "Mapping[frozenset[str], Reader]"


@contextmanager
def calls_of(readers: Readers, route: Route) -> Iterator[None]:
    """Observe every call of such functions within this context.

    They are functions of the files of the model's classes, methods of these, and attributes of its
    modules.
    """
    stack = route.stack
    running = False

    def observed(function: Callable[..., Any]) -> Callable[..., Any]:
        signature, reader = inspect.signature(function), reader_of(readers, function)
        assert reader is not None

        def alone(*args: Any, **kwargs: Any) -> Any:
            nonlocal running
            before, running = running, True
            try:
                return function(*args, **kwargs)
            finally:
                running = before

        def call(*args: Any, **kwargs: Any) -> Any:
            module = stack.innermost
            if running or route.ignores(module):
                return function(*args, **kwargs)
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            with route.paused():
                result = alone(*args, **kwargs)
                known = Known(alone, module, bound.arguments, result)
                return route.observe(module, functools.partial(reader, known), result)

        return call

    modules = list(stack.model.modules())
    kinds = {type(module) for module in modules}
    # A user's class, or one that a library has made, may inherit what another file calls.
    named = {each.__module__ for kind in kinds for each in kind.__mro__}
    files = [vars(sys.modules[file]) for file in sorted(named & sys.modules.keys())]

    def known(names: Mapping[str, Any]) -> list[str]:
        return [name for name, each in names.items() if reader_of(readers, each) is not None]

    # A class of torch or of Python has none.
    methods = {
        kind: {
            name
            for each in kind.__mro__
            if each.__module__.partition(".")[0] not in ("torch", "builtins")
            for name in known(vars(each))
        }
        for kind in kinds
    }
    functions = [(code, name) for code in files for name in known(code)]
    with ExitStack() as undo:
        for code, name in functions:
            replace(code, name, observed, undo)
        for module in modules if functions or any(methods.values()) else []:
            for name in {*known(vars(module)), *methods[type(module)]}:
                replace(module, name, observed, undo)
        yield


def reader_of(readers: Readers, function: Any) -> Reader | None:
    """The reader of a function that is known by its arguments; None for anything else."""
    if not isinstance(function, (FunctionType, MethodType)):
        return None
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None:
        return None
    arguments = set(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    return next((reader for told, reader in readers.items() if told <= arguments), None)
