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
from collections.abc import Callable, Iterator, Mapping
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

# The largest difference to the model's own outputs, relative to the head's largest value.
_EXACT = 1e-5

# The number of cells whose weights are read off at a time, so that memory stays small.
_CELLS = 512


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
                read = functools.cache(functools.partial(_read, function, module, given, result))
                return observe(module, read, result)

        return marked(attention, function)

    modules = list(stack.model.modules())
    kinds = {type(module) for module in modules}
    files = [
        vars(sys.modules[file])
        for file in sorted({kind.__module__ for kind in kinds} & sys.modules.keys())
    ]
    functions = [(code, name) for code in files for name in _kinds_in(code)]
    own = {kind for kind in kinds if _is_kind(kind.forward)}
    with ExitStack() as undo:
        for code, name in functions:
            replace(code, name, observed, undo)
        # Modules may hold such a function, or be one.
        for module in modules if functions or own else []:
            for name in {*_kinds_in(vars(module)), *(["forward"] if type(module) in own else [])}:
                replace(module, name, observed, undo)
        yield


def _kinds_in(names: Mapping[str, Any]) -> list[str]:
    return [name for name, each in names.items() if _is_kind(each)]


def _is_kind(function: Any) -> bool:
    if not isinstance(function, (FunctionType, MethodType)):
        return False
    code = getattr(inspect.unwrap(function), "__code__", None)
    return code is not None and set(code.co_varnames[: code.co_argcount]) >= _ARGUMENTS


def _read(
    function: Callable[..., torch.Tensor],
    module: torch.nn.Module,
    given: dict[str, Any],
    result: torch.Tensor,
) -> SoftmaxCall:
    """The call of a function with these arguments.

    Raises:
        ValueError: its weights would take too much memory, or do not give its result.
    """
    maps = tuple((int(rows), int(columns)) for rows, columns in _shapes(given))
    with torch.no_grad():
        value = given["value"].detach().transpose(1, 2)  # [batch, heads, cells, d_v]
        (items, count, cells, _), queries = value.shape, result.shape[1]
        check_size(items, count, queries, cells, "a smaller image")
        heads = _heads(result, count)
        kind = torch.promote_types(value.dtype, torch.float32)
        limit = max(_EXACT, 3 * torch.finfo(value.dtype).eps)
        # In half precision, places are rounded as each device does it.
        for weights_of in (_weights, functools.partial(_read_off, function)):
            empty = value.new_zeros(items, count, queries, cells, dtype=kind)
            weights = weights_of(given, maps, empty)
            away = (weights @ value.to(kind) - heads).abs().amax((2, 3))
            error = float((away / value.abs().amax((2, 3)).clamp_min(1e-30)).max())
            if error <= limit:
                break
        else:
            raise ValueError(
                "the weights that follow from its sampling points do not give its output: "
                f"{error:.1e} off, relative to the largest value"
            )

    def rebuild(changed: torch.Tensor) -> Any:
        return changed.transpose(1, 2).flatten(2)

    return weights_alone(module, weights, heads, rebuild, value, maps)


def _heads(result: torch.Tensor, count: int) -> torch.Tensor:
    """[batch, queries, heads * d_v] -> [batch, heads, queries, d_v]."""
    return result.reshape(*result.shape[:2], count, -1).transpose(1, 2)


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


def _read_off(
    function: Callable[..., torch.Tensor], given: dict[str, Any], _: Maps, weights: torch.Tensor
) -> torch.Tensor:
    """Fill the weights in with what the function itself returns for rows of the identity."""
    heads, cells = weights.shape[1], weights.shape[3]
    value = given["value"]
    for start in range(0, cells, _CELLS):
        columns = value.new_zeros(cells, min(_CELLS, cells - start))
        columns.diagonal(-start).fill_(1)
        ones = columns[:, None].expand(len(value), cells, heads, -1)
        found = function(**{**given, "value": ones})
        weights[..., start : start + _CELLS] = _heads(found, heads)
    return weights
