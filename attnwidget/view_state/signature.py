"""Signatures that name every option, for help, completion and documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from typing import Any, Literal, TypeVar, get_origin

from . import choices
from .choices import ChoiceOptions, Choices

_Function = TypeVar("_Function", bound=Callable[..., Any])

_TRAITS = Choices.class_traits(choice=True)

# Without a stack and a layer, the first ones are shown.
CHOICE_DEFAULTS: Mapping[str, Any] = {
    name: None if name in ("stack", "layer") else _TRAITS[name].default()
    for name in ChoiceOptions.__annotations__
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
            each.replace(annotation=_readable(each.annotation))
            for each in before.parameters.values()
            if each.kind is not Parameter.VAR_KEYWORD
        ]
        named = [
            Parameter(
                name, Parameter.KEYWORD_ONLY, default=defaults[name], annotation=_readable(hint)
            )
            for name, hint in options.__annotations__.items()
        ]
        function.__signature__ = before.replace(  # type: ignore[attr-defined]
            parameters=[*own, *named]
        )
        return function

    return decorate


def _readable(hint: Any) -> Any:
    """An annotation as it is written, or the values that it allows."""
    written = getattr(hint, "__forward_arg__", hint)
    alias = getattr(choices, str(written), None)
    return alias if get_origin(alias) is Literal else written
