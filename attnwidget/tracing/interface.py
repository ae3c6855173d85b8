"""The route through transformers' attention interface.

The registry's own lookup is wrapped for the length of a trace: a model asks it for an attention
function and gets that same function, with an observer around it. Switching the model's
configuration to an implementation of our own would be simpler, and wrong: models branch on its
name (for their masks, for instance), and some then compute something else.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from typing import Any

import torch
from transformers import modeling_utils

from .calls import FunctionCall, Observer, Read, Reference, SoftmaxCall
from .function_mode import AttentionMode
from .layout import Layout
from .modules import ModuleStack

ROUTE = "attention interface"

AttentionFunction = Callable[..., Any]

# Marks a wrapped function, so that a lookup that passes through another is not wrapped twice.
_ORIGINAL = "_attnwidget_original"

_POSITIONAL = ("module", "query", "key", "value", "attention_mask")

# Our masks hold the position bias, no dropout is wanted, and the mask says what is causal.
_NOT_FOR_REFERENCE = ("dropout", "position_bias", "is_causal")


@contextmanager
def interface_calls(
    stack: ModuleStack, observe: Observer, paused: Callable[[], AbstractContextManager[None]]
) -> Iterator[None]:
    """Within this context, `observe` receives every call through the interface.

    The function itself, and what is done with its call, run within `paused()`. The lookups are
    those of the whole process: one such context at a time.
    """
    # A function that calls another one of the registry is one attention, not two.
    inside = False
    # A model may keep a function that it has looked up, wrapper and all.
    over = False

    def observed(function: AttentionFunction, eager: AttentionFunction | None) -> AttentionFunction:
        function = _original(function)

        @functools.wraps(function)
        def attention(*args: Any, **kwargs: Any) -> Any:
            nonlocal inside
            arguments = {**dict(zip(_POSITIONAL, args, strict=False)), **kwargs}
            module, query = arguments.pop("module", None), arguments.get("query")
            # For other layouts than [batch, heads, tokens, d], torch's functions are followed.
            other = inside or over or stack.elsewhere or not stack.owns(module)
            if other or getattr(query, "ndim", 0) != 4:
                return function(*args, **kwargs)
            inside = True
            try:
                with paused():
                    result = function(*args, **kwargs)
                    own = _original(eager) if eager else _eager_function(module)

                    def read() -> FunctionCall:
                        return _call(stack, module, function, own, arguments, result)

                    return observe(module, read, result)
            finally:
                inside = False

        setattr(attention, _ORIGINAL, function)
        return attention

    with ExitStack() as undo:
        for owner, name, wrapper in _lookups(stack.model, observed):
            _replace(owner, name, wrapper, undo)
        try:
            yield
        finally:
            over = True


def _call(
    stack: ModuleStack,
    module: torch.nn.Module,
    function: AttentionFunction,
    eager: AttentionFunction | None,
    arguments: dict[str, Any],
    result: Any,
) -> FunctionCall:
    query, key, value = (arguments[name] for name in ("query", "key", "value"))
    mask = arguments.get("attention_mask")
    options = _without(arguments, *_POSITIONAL)
    flash = "flash" in getattr(function, "__name__", "")
    if flash:
        options = {**options, "flash": True}
    # To flash attention, a mask of two dimensions says which keys are padding, and nothing else.
    open_ = mask is None or (flash and getattr(mask, "ndim", 0) == 2)
    return FunctionCall(
        module,
        ROUTE,
        query,
        key,
        value,
        mask,
        causal=open_ and function is not eager and _implicitly_causal(module, query, options),
        options=options,
        reference=None if eager is None else _reference(module, eager, options),
        replay=None
        if eager is None
        else lambda added: _replayed(stack, module, eager, (query, key, value, added), options),
        output=_by_head(result[0], query.shape, value.shape[-1]),
        rebuild=lambda heads: (heads.transpose(1, 2).reshape(result[0].shape), *result[1:]),
    )


def _by_head(output: Any, shape: torch.Size, width: int) -> torch.Tensor | None:
    """[M, tokens, heads, d_v], perhaps flattened over heads, as [M, heads, tokens, d_v]."""
    batch, heads, tokens, _ = shape
    if not isinstance(output, torch.Tensor) or output.numel() != batch * heads * tokens * width:
        return None
    return output.reshape(batch, tokens, heads, width).transpose(1, 2)


def _reference(
    module: torch.nn.Module, eager: AttentionFunction, options: dict[str, Any]
) -> Reference:
    def weights(
        query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor
    ) -> torch.Tensor:
        others = _without(options, *_NOT_FOR_REFERENCE, "flash")
        found: torch.Tensor = eager(module, query, key, value, mask, dropout=0.0, **others)[1]
        return found

    return weights


def _replayed(
    stack: ModuleStack,
    module: torch.nn.Module,
    eager: AttentionFunction,
    tensors: tuple[Any, ...],
    options: dict[str, Any],
) -> list[SoftmaxCall]:
    """The softmaxes within the model's own explicit function, and the weights that it returns."""
    calls: list[SoftmaxCall] = []

    def keep(module: torch.nn.Module, read: Read, result: Any) -> Any:
        with suppress(Exception):  # what cannot be read does not stop the function
            call = read()
            if isinstance(call, SoftmaxCall):
                calls.append(call)
        return result

    batch = len(tensors[0])
    with AttentionMode(stack, keep, batch):
        others = _without(options, "dropout", "flash")
        _, weights = eager(module, *tensors, **others, dropout=0.0)
    if isinstance(weights, torch.Tensor):
        layout = Layout(4, 1, batch)
        calls.append(SoftmaxCall(module, weights, weights, None, None, layout))
    return calls


def _without(options: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name not in names}


def _implicitly_causal(
    module: torch.nn.Module, query: torch.Tensor, options: dict[str, Any]
) -> bool:
    """True if a missing mask means causal, as it does for every function but the eager one."""
    if query.shape[-2] == 1:
        return False
    flag = options.get("is_causal")
    return bool(getattr(module, "is_causal", True) if flag is None else flag)


def _lookups(
    model: torch.nn.Module, observed: Callable[..., AttentionFunction]
) -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """(owner, name, wrapper) of each place where models look attention functions up."""
    sources = [sys.modules[name] for name in {type(m).__module__ for m in model.modules()}]
    registry: Any = modeling_utils.ALL_ATTENTION_FUNCTIONS
    if type(registry) is dict:  # before 4.50
        for name in registry:
            yield registry, name, lambda function: observed(function, None)
    else:

        def wrap_getitem(lookup: Any) -> Any:
            return lambda self, name: observed(lookup(self, name), None)

        yield type(registry), "__getitem__", wrap_getitem
    if hasattr(registry, "get_interface"):

        def wrap_get_interface(lookup: Any) -> Any:
            def get_interface(self: Any, attn_implementation: str, default: Any) -> Any:
                return observed(lookup(self, attn_implementation, default), default)

            return get_interface

        yield type(registry), "get_interface", wrap_get_interface
    else:  # before 5.3: eager attention is looked up in each modeling file instead
        for source in sources:
            if hasattr(source, "eager_attention_forward"):
                yield source, "eager_attention_forward", lambda f: observed(f, f)


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
