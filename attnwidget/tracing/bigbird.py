"""The attention of BigBird over long texts: neighbouring blocks, those at both ends, random ones.

A block can be among a query's keys twice: in evaluation mode, all random blocks are the first one,
which every query has already. So the weights of keys are read off the outputs that the model's own
function has for values that are rows of the identity.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import torch

from .calls import Call
from .explicit import check_size, weights_alone
from .replacement import spied

_SUMS = "bigbird_block_sparse_attention"

# The number of keys whose weights are read off at a time, so that memory stays small.
_KEYS = 512


def is_kind(module: torch.nn.Module) -> bool:
    """True for modules of such attention."""
    return hasattr(type(module), _SUMS)


def run(
    module: Any, forward: Callable[..., Any], given: dict[str, Any], length: int | None
) -> tuple[Any, Callable[[], Call]]:
    """Run the module: as `longformer.run`."""
    with ExitStack() as undo:
        methods = spied(module, [_SUMS], undo)
        result = forward(**given)
    outputs = result[0]  # [batch, filled, heads * d_v]
    filled = outputs.shape[1]
    tokens = filled if length is None else length
    heads = outputs[:, :tokens].unflatten(2, (module.num_attention_heads, -1)).transpose(1, 2)

    def rebuild(changed: torch.Tensor) -> Any:
        merged = changed.transpose(1, 2).flatten(2)
        return torch.cat([merged, outputs[:, tokens:]], dim=1), *result[1:]

    def read() -> Call:
        check_size(heads.shape[0], heads.shape[1], tokens, tokens)
        arguments = methods[_SUMS].given
        one = torch.eye(filled, dtype=outputs.dtype, device=outputs.device)
        weights = heads.new_empty(*heads.shape[:3], tokens)
        with torch.no_grad():
            for start in range(0, tokens, _KEYS):
                columns = one[:, start : min(start + _KEYS, tokens)]
                value = columns.expand(*heads.shape[:2], *columns.shape)
                sums, _ = getattr(module, _SUMS)(**{**arguments, "value_layer": value})
                weights[..., start : start + _KEYS] = sums[:, :tokens].transpose(1, 2)
        return weights_alone(module, weights, heads, rebuild)

    return result, read
