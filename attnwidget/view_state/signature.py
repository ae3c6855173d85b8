"""Signatures that name every option, for help, completion and documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from typing import Any, Literal, TypeVar, get_origin

from .table import TABLE

_Function = TypeVar("_Function", bound=Callable[..., Any])

CHOICE_DEFAULTS: Mapping[str, Any] = {
    name: choice.default for name, choice in TABLE.items() if name != "view"
}


def with_options(options: type, defaults: Mapping[str, Any]) -> Callable[[_Function], _Function]:
    """Name the keys of a TypedDict in a function's signature, in place of its `**` parameter.

    Type checkers read the names from `Unpack`, which Python's own tools do not.

    Args:
        defaults: the default of every key.
    """

    def decorate(function: _Function) -> _Function:
        before = signature(function)
        own = [
            each.replace(annotation=_readable(each.name, each.annotation, each.default))
            for each in before.parameters.values()
            if each.kind is not Parameter.VAR_KEYWORD
        ]
        named = [
            Parameter(
                name,
                Parameter.KEYWORD_ONLY,
                default=defaults[name],
                annotation=_readable(name, hint, defaults[name]),
            )
            for name, hint in options.__annotations__.items()
        ]
        function.__signature__ = before.replace(  # type: ignore[attr-defined]
            parameters=[*own, *named]
        )
        return function

    return decorate


def _readable(name: str, hint: Any, default: Any) -> Any:
    """An annotation as it is written; of a choice, the values that it allows."""
    if name not in TABLE:
        return getattr(hint, "__forward_arg__", hint)
    argument = TABLE[name].argument
    if get_origin(argument) is Literal or isinstance(argument, type):
        return argument | None if default is None else argument
    return repr(argument).replace("typing.", "").replace("collections.abc.", "")
