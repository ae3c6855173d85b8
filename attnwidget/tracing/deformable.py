"""The route through deformable attention: a query averages values at a few points of feature maps.

A point's value is that of the four cells around it, by their distance, and zero outside of a map.
So a cell's weight is the sum over points near it, and a row sums to less than one where points are
outside. The functions that models call are known by their arguments, whatever their names, and are
wrapped during a trace.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import torch

from .calls import Maps, SoftmaxCall
from .explicit import check_size, weights_alone
from .known_functions import Known, calls_of
from .modules import Route

_ARGUMENTS = frozenset({"value", "sampling_locations", "attention_weights"})
_SHAPES = ("value_spatial_shapes_list", "value_spatial_shapes")

# The largest difference to the model's own outputs, relative to the head's largest value.
_EXACT = 1e-5

# The number of cells whose weights are read off at a time, so that memory stays small.
_CELLS = 512


def deformable_calls(route: Route) -> AbstractContextManager[None]:
    """Observe every call of such attention within this context."""
    return calls_of({_ARGUMENTS: _read}, route)


def _read(known: Known) -> SoftmaxCall:
    """The call of a function with these arguments.

    Raises:
        ValueError: its weights would take too much memory, or do not give its result.
    """
    function, module, given, result = known
    maps = tuple((int(rows), int(columns)) for rows, columns in _shapes(given))
    with torch.no_grad():
        value = given["value"].detach().transpose(1, 2)  # [batch, heads, cells, d_v]
        (items, count, cells, _), queries = value.shape, result.shape[1]
        check_size(items, count, queries, cells, "a smaller image")
        kind = torch.promote_types(value.dtype, torch.float32)
        limit = max(_EXACT, 3 * torch.finfo(value.dtype).eps)
        # In half precision, places are rounded as each device does it.
        for weights_of in (_weights, functools.partial(_read_off, function)):
            empty = value.new_zeros(items, count, queries, cells, dtype=kind)
            weights = weights_of(given, maps, empty)
            away = (weights @ value.to(kind) - _heads(result, count)).abs().amax((2, 3))
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

    # With its gradient: the model goes on with it.
    return weights_alone(module, weights, _heads(result, count), rebuild, value, maps)


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
