"""See every call that a model makes through transformers' attention interface.

The registry's own lookup is wrapped for the length of a forward pass: a model asks it for an
attention function and gets that same function, with a note-taker around it. Switching the
model's configuration to an implementation of our own would be simpler, and wrong: models
branch on its name (for their masks, for instance), and some then compute something else.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from transformers import modeling_utils

AttentionFunction = Callable[..., Any]

# Marks a wrapped function, so that a lookup that passes through another is not wrapped twice.
_ORIGINAL = "_attnwidget_original"

_POSITIONAL = ("module", "query", "key", "value", "attention_mask")


@dataclass(frozen=True)
class AttentionCall:
    """One call of an attention function, and what it returned.

    Attributes:
        module: the attention module that called.
        query, key, value: [batch, heads, tokens, d], as they enter the dot product.
        mask: the attention mask as passed, or None.
        options: the remaining keyword arguments, e.g. scaling, softcap, sliding_window.
        eager: the model's own function that computes weights explicitly, if known.
        is_eager: whether that is also the function that ran.
        output: the attention output, [batch, tokens, heads, d_v] or flattened over heads.
    """

    module: torch.nn.Module
    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    mask: Any
    options: dict[str, Any]
    eager: AttentionFunction | None
    is_eager: bool
    output: torch.Tensor


@contextmanager
def attention_calls(
    model: torch.nn.Module, observe: Callable[[AttentionCall], None]
) -> Iterator[None]:
    """Within this context, `observe` is given every attention call that `model` makes.

    Calls of other models, and of the same model on other threads, pass unobserved. The lookups
    are those of the whole process: one such context at a time.
    """
    modules = {id(module) for module in model.modules()}
    thread = threading.get_ident()
    # A function that calls another one of the registry is one attention, not two.
    inside = False

    def noted(function: AttentionFunction, eager: AttentionFunction | None) -> AttentionFunction:
        function = _original(function)

        @functools.wraps(function)
        def attention(*args: Any, **kwargs: Any) -> Any:
            nonlocal inside
            if inside or threading.get_ident() != thread:
                return function(*args, **kwargs)
            inside = True
            try:
                result = function(*args, **kwargs)
            finally:
                inside = False
            call = {**dict(zip(_POSITIONAL, args, strict=False)), **kwargs}
            module = call.pop("module")
            if id(module) in modules:
                reference = _original(eager) if eager else _eager_function(module)
                observe(
                    AttentionCall(
                        module,
                        call.pop("query"),
                        call.pop("key"),
                        call.pop("value"),
                        call.pop("attention_mask", None),
                        call,
                        reference,
                        is_eager=function is reference,
                        output=result[0],
                    )
                )
            return result

        setattr(attention, _ORIGINAL, function)
        return attention

    with ExitStack() as undo:
        for owner, name, wrapper in _lookups(model, noted):
            _replace(owner, name, wrapper, undo)
        yield


def _lookups(
    model: torch.nn.Module, noted: Callable[..., AttentionFunction]
) -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """(owner, name, wrapper) of each place where models look attention functions up."""
    registry: Any = modeling_utils.ALL_ATTENTION_FUNCTIONS
    if type(registry) is dict:  # before 4.50
        for name in registry:
            yield registry, name, lambda function: noted(function, None)
    else:

        def wrap_getitem(lookup: Any) -> Any:
            return lambda self, name: noted(lookup(self, name), None)

        yield type(registry), "__getitem__", wrap_getitem
    if hasattr(registry, "get_interface"):

        def wrap_get_interface(lookup: Any) -> Any:
            def get_interface(self: Any, attn_implementation: str, default: Any) -> Any:
                return noted(lookup(self, attn_implementation, default), default)

            return get_interface

        yield type(registry), "get_interface", wrap_get_interface
    else:  # before 5.3: eager attention is looked up in each modeling file instead
        for source in {type(module).__module__ for module in model.modules()}:
            if hasattr(sys.modules[source], "eager_attention_forward"):
                yield sys.modules[source], "eager_attention_forward", lambda f: noted(f, f)


def _replace(owner: Any, name: str, wrapper: Callable[[Any], Any], undo: ExitStack) -> None:
    """Put wrapper(original) in the place of the original, until `undo` is closed."""
    if isinstance(owner, dict):
        undo.callback(owner.__setitem__, name, owner[name])
        owner[name] = wrapper(owner[name])
        return
    original = getattr(owner, name)
    if name in vars(owner):
        undo.callback(setattr, owner, name, original)
    else:  # inherited: leave no copy behind
        undo.callback(delattr, owner, name)
    setattr(owner, name, wrapper(original))


def _eager_function(module: torch.nn.Module) -> AttentionFunction | None:
    """The function of this name in the file that defines the module, or one of its bases."""
    for base in type(module).__mro__:
        found = getattr(sys.modules.get(base.__module__), "eager_attention_forward", None)
        if found is not None:
            return _original(found)
    return None


def _original(function: AttentionFunction) -> AttentionFunction:
    found: AttentionFunction = getattr(function, _ORIGINAL, function)
    return found
