"""The route through deformable attention: a query averages values at a few points of feature maps.

A point's value is that of the four cells around it, by their distance, and zero outside of a map.
So a cell's weight is the sum over points near it, and a row sums to less than one where points are
outside. The functions that models call are known by their arguments, whatever their names, and are
wrapped during a trace.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from types import FunctionType, MethodType
from typing import Any

import torch

from .calls import Maps, Observer, SoftmaxCall
from .explicit import check_size, weights_alone
from .modules import ModuleStack
from .replacement import marked, replace, unwrapped

_ARGUMENTS = {"value", "sampling_locations", "attention_weights"}
_SHAPES = ("value_spatial_shapes_list", "value_spatial_shapes")

# The largest difference to the model's own outputs, relative to the largest of these.
_EXACT = 1e-5


@contextmanager
def deformable_calls(
    stack: ModuleStack, observe: Observer, paused: Callable[[], AbstractContextManager[None]]
) -> Iterator[None]:
    """Pass every call of such attention to `observe` within this context.

    The attention and its observation run within `paused()`.
    """
    running = False

    def observed(function: Callable[..., Any]) -> Callable[..., Any]:
        function = unwrapped(function)
        signature = inspect.signature(function)

        @functools.wraps(function)
        def attention(*args: Any, **kwargs: Any) -> Any:
            nonlocal running
            module = stack.innermost
            if running or stack.elsewhere or not stack.owns(module):
                return function(*args, **kwargs)
            given = signature.bind(*args, **kwargs).arguments
            with paused():
                running = True
                try:
                    result = function(*args, **kwargs)
                finally:
                    running = False
                read = functools.cache(functools.partial(_read, module, given, result))
                return observe(module, read, result)

        return marked(attention, function)

    with ExitStack() as undo:
        files = set()
        for module in stack.model.modules():
            files.add(type(module).__module__)
            if _is_kind(module.forward):
                replace(module, "forward", observed, undo)
            own = [name for name, each in vars(module).items() if name != "forward" and _is_kind(each)]
            for name in own:
                replace(module, name, observed, undo)
        for code in [vars(sys.modules[file]) for file in sorted(files & sys.modules.keys())]:
            for name in [name for name, each in code.items() if _is_kind(each)]:
                replace(code, name, observed, undo)
        yield


def _is_kind(function: Any) -> bool:
    if not isinstance(function, (FunctionType, MethodType)):
        return False
    code = getattr(inspect.unwrap(function), "__code__", None)
    return code is not None and _ARGUMENTS <= set(code.co_varnames[: code.co_argcount])


def _read(module: torch.nn.Module, given: dict[str, Any], result: torch.Tensor) -> SoftmaxCall:
    """The call of these arguments.

    Raises:
        ValueError: its weights would take too much memory, or do not give its result.
    """
    maps = tuple((int(rows), int(columns)) for rows, columns in _shapes(given))
    with torch.no_grad():
        value = given["value"].detach().transpose(1, 2)  # [batch, heads, cells, d_v]
        queries, cells = result.shape[1], value.shape[2]
        check_size(*value.shape[:2], queries, cells, "a smaller image")
        heads = result.unflatten(2, (value.shape[1], -1)).transpose(1, 2)
        kind = torch.promote_types(value.dtype, torch.float32)
        empty = value.new_zeros(*value.shape[:2], queries, cells, dtype=kind)
        weights = _weights(given, maps, empty)
        away = (weights @ value.to(kind) - heads).abs().max() / heads.abs().max().clamp_min(1e-30)
    limit = max(_EXACT, 4 * torch.finfo(value.dtype).eps)
    if not away <= limit:
        raise ValueError(
            f"the weights that follow from its sampling points do not give its output: {away:.1e} "
            "off, relative to the largest"
        )

    def rebuild(changed: torch.Tensor) -> Any:
        return changed.transpose(1, 2).flatten(2)

    return weights_alone(module, weights, heads, rebuild, value, maps)


def _shapes(given: dict[str, Any]) -> Any:
    """The rows and columns of each map."""
    found = next(given[name] for name in _SHAPES if given.get(name) is not None)
    return found.tolist() if isinstance(found, torch.Tensor) else found


def _weights(given: dict[str, Any], maps: Maps, weights: torch.Tensor) -> torch.Tensor:
    """Add the weights of cells up in zeros [batch, heads, queries, cells]."""
    places, shares = given["sampling_locations"], given["attention_weights"]
    # [batch, queries, heads, levels, points, 2], or points of all levels in one dimension.
    counts = given.get("num_points_list") or [places.shape[4]] * places.shape[3]
    nearest = given.get("method") == "discrete"
    places = places.flatten(3, -2).transpose(1, 2).split(counts, dim=3)
    shares = shares.flatten(3).transpose(1, 2).split(counts, dim=3)
    start = 0
    for (rows, columns), at, share in zip(maps, places, shares, strict=True):
        size = weights.new_tensor([columns, rows])
        if nearest:
            cell = (at * size.to(at) + 0.5).long()
            corners = [(torch.minimum(cell.clamp_min(0), size.long() - 1), share)]
        else:
            # As torch's grid_sample counts from -1 to 1, with the same rounding.
            at = (((2 * at - 1).to(weights) + 1) * size - 1) / 2
            corners = []
            for step in ((0, 0), (1, 0), (0, 1), (1, 1)):
                corner = at.floor() + at.new_tensor(step)
                corners.append((corner, share * (1 - (at - corner).abs()).prod(-1)))
        for corner, part in corners:
            inside = ((corner >= 0) & (corner < size)).all(-1)
            column, row = torch.where(inside[..., None], corner, 0).long().unbind(-1)
            index = start + row * columns + column
            weights.scatter_add_(3, index, torch.where(inside, part, 0).to(weights.dtype))
        start += rows * columns
    return weights
