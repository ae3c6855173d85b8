"""The route through transformers' attention interface.

The registry's lookup is wrapped during a trace: a model looks up an attention function and gets
that same function, with an observer around it. Switching the model's configuration to an
implementation of our own would be simpler, but wrong: models branch on its name (for their masks,
for instance), and some then compute something else.
"""

from __future__ import annotations

import dataclasses
import dis
import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import torch
from transformers import modeling_utils

from .calls import FunctionCall, Read, SoftmaxCall
from .function_mode import AttentionMode
from .layout import Layout
from .modules import ModuleStack, Route
from .replacement import marked, replace, unwrapped

ROUTE = "attention interface"

AttentionFunction = Callable[..., Any]

_POSITIONAL = ("module", "query", "key", "value", "attention_mask")

# Our masks include position bias and causality, and dropout is off.
_NOT_FOR_REFERENCE = ("dropout", "position_bias", "is_causal")


@contextmanager
def interface_calls(route: Route) -> Iterator[None]:
    """Observe every call through the interface within this context.

    The lookups belong to the whole process, so only one such context can be active.
    """
    # True while a function runs. If it calls another function of the registry, both are one call.
    inside = False
    # True after the trace, in which a model may have kept a wrapped function.
    over = False

    def observed(function: AttentionFunction, eager: AttentionFunction | None) -> AttentionFunction:
        function = unwrapped(function)

        @functools.wraps(function)
        def attention(*args: Any, **kwargs: Any) -> Any:
            nonlocal inside
            arguments = {**dict(zip(_POSITIONAL, args, strict=False)), **kwargs}
            module, query = arguments.pop("module", None), arguments.get("query")
            # The other route observes layouts other than [batch, heads, tokens, d].
            other = inside or over or route.ignores(module)
            if other or getattr(query, "ndim", 0) != 4:
                return function(*args, **kwargs)
            inside = True
            try:
                with route.paused():
                    result = function(*args, **kwargs)
                    reference = unwrapped(eager) if eager else _eager_function(module)

                    def read() -> FunctionCall:
                        return _call(route.stack, module, function, reference, arguments, result)

                    return route.observe(module, read, result)
            finally:
                inside = False

        return marked(attention, function)

    with ExitStack() as undo:
        for owner, name, wrapper in _lookups(route.stack.model, observed):
            replace(owner, name, wrapper, undo)
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
    # In flash attention, a mask of two dimensions only marks the keys that are padding.
    no_mask = mask is None or (flash and getattr(mask, "ndim", 0) == 2)

    call = FunctionCall(
        module,
        ROUTE,
        query,
        key,
        value,
        mask,
        causal=no_mask and function is not eager and _implicitly_causal(module, query, options),
        options=options,
        output=_by_head(result[0], query.shape, value.shape[-1]),
        rebuild=lambda heads: (heads.transpose(1, 2).reshape(result[0].shape), *result[1:]),
    )
    if eager is None:
        return call

    def explicit(tensors: tuple[Any, ...], *without: str, **more: Any) -> Any:
        return eager(module, *tensors, **_without(options, "flash", *without), **more)

    def rerun(*tensors: torch.Tensor) -> tuple[Any, torch.Tensor | None]:
        again = explicit(tensors, "is_causal")
        query, _, value, _ = tensors
        return again, _by_head(again[0], query.shape, value.shape[-1])

    def recompute(*tensors: torch.Tensor | None) -> list[SoftmaxCall]:
        run = functools.partial(explicit, tensors, "dropout", dropout=0.0)
        return _softmaxes(stack, module, len(query), run)

    return dataclasses.replace(
        call,
        reference=lambda *tensors: explicit(tensors, *_NOT_FOR_REFERENCE, dropout=0.0)[1],
        recompute=recompute,
        rerun=rerun if _takes_mask(eager) else None,
    )


@functools.cache
def _takes_mask(eager: AttentionFunction) -> bool:
    """False if an explicit attention function never reads its mask, the fifth argument."""
    code = getattr(eager, "__code__", None)
    if code is None or code.co_argcount < len(_POSITIONAL):
        return True
    name = code.co_varnames[len(_POSITIONAL) - 1]
    return any(
        step.opname.startswith("LOAD") and name in str(step.argval)
        for step in dis.get_instructions(code)
    )


def _by_head(output: Any, shape: torch.Size, width: int) -> torch.Tensor | None:
    """[M, tokens, heads, d_v], perhaps flattened over heads, as [M, heads, tokens, d_v]."""
    batch, heads, tokens, _ = shape
    if not isinstance(output, torch.Tensor) or output.numel() != batch * heads * tokens * width:
        return None
    return output.reshape(batch, tokens, heads, width).transpose(1, 2)


def _softmaxes(
    stack: ModuleStack, module: torch.nn.Module, batch: int, explicit: Callable[[], Any]
) -> list[SoftmaxCall]:
    """The softmaxes within the model's own explicit function, and the weights that it returns."""
    calls: list[SoftmaxCall] = []

    def keep(module: torch.nn.Module, read: Read, result: Any) -> Any:
        with suppress(Exception):  # a call that cannot be read must not stop the function
            call = read()
            if isinstance(call, SoftmaxCall):
                calls.append(call)
        return result

    with AttentionMode(stack, keep, batch):
        _, weights = explicit()
    if isinstance(weights, torch.Tensor):
        layout = Layout.plain(batch)
        calls.append(SoftmaxCall(module, weights, weights, None, None, layout))
    return calls


def _without(options: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name not in names}


def _implicitly_causal(
    module: torch.nn.Module, query: torch.Tensor, options: dict[str, Any]
) -> bool:
    """True if a missing mask means causal attention, as for every function but the eager one."""
    if query.shape[-2] == 1:
        return False
    flag = options.get("is_causal")
    return bool(getattr(module, "is_causal", True) if flag is None else flag)


def _lookups(
    model: torch.nn.Module, observed: Callable[..., AttentionFunction]
) -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """(owner, name, wrapper) of every place where models look up attention functions."""
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
        for name in {type(module).__module__ for module in model.modules()}:
            source = sys.modules[name]
            if hasattr(source, "eager_attention_forward"):
                yield source, "eager_attention_forward", lambda f: observed(f, f)


def _eager_function(module: torch.nn.Module) -> AttentionFunction | None:
    """The eager function in the file that defines the module's class, or one of its bases."""
    for base in type(module).__mro__:
        function = getattr(sys.modules.get(base.__module__), "eager_attention_forward", None)
        if function is not None:
            eager: AttentionFunction = unwrapped(function)
            return eager
    return None
