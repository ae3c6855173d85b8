"""The attention of Longformer and of LED's encoder: a band around each token, and global tokens.

Without global tokens, it has queries and keys like any other. Global tokens have queries, keys and
values of their own projections, so that one matrix has two of each: these calls are weights alone.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import torch

from .calls import Call
from .explicit import check_size, explicit_call, weights_alone
from .replacement import spied

_SCORES = "_sliding_chunks_query_key_matmul"
_SUMS = "_sliding_chunks_matmul_attn_probs_value"


def is_kind(module: torch.nn.Module) -> bool:
    """True for modules of such attention."""
    return hasattr(type(module), _SCORES)


def run(
    module: Any, forward: Callable[..., Any], given: dict[str, Any], length: int | None
) -> tuple[Any, Callable[[], Call]]:
    """Run the module.

    Args:
        module: the attention module.
        forward: its function.
        given: the arguments of that.
        length: the number of tokens, without those that fill the last window; None for all.

    Returns:
        (the result of the function, a function that returns the call, or raises a ValueError if
        that would take too much memory).
    """
    with ExitStack() as undo:
        methods = spied(module, (_SCORES, _SUMS), undo)
        whole = forward(**{**given, "output_attentions": True})
    result = whole if given.get("output_attentions") else whole[:1]
    outputs = whole[0]  # [batch, tokens, heads * d_v]
    tokens = outputs.shape[1] if length is None else length
    heads = outputs[:, :tokens].unflatten(2, (module.num_heads, -1)).transpose(1, 2)

    def rebuild(changed: torch.Tensor) -> Any:
        merged = changed.transpose(1, 2).flatten(2)
        return torch.cat([merged, outputs[:, tokens:]], dim=1), *result[1:]

    def read() -> Call:
        if given["is_global_attn"]:
            weights = _weights(module, whole, given["is_index_global_attn"], tokens)
            return weights_alone(module, weights, heads, rebuild)
        query, key, value = (
            tensor[:, :tokens].transpose(1, 2)
            for tensor in (
                methods[_SCORES].given["query"],
                methods[_SCORES].given["key"],
                methods[_SUMS].given["value"],
            )
        )
        place = torch.arange(tokens, device=query.device)
        near = (place - place[:, None]).abs() <= module.one_sided_attn_window_size
        seen = near & ~given["is_index_masked"][:, None, None, :tokens]
        return explicit_call(module, query, key, value, seen, heads, rebuild)

    return result, read


def _weights(
    module: Any, whole: tuple[torch.Tensor, ...], is_global: torch.Tensor, tokens: int
) -> torch.Tensor:
    """Weights [batch, heads, tokens, tokens], from those of the band and those of global tokens."""
    _, local, of_global = whole
    check_size(len(local), module.num_heads, tokens, tokens)
    side = module.one_sided_attn_window_size
    # Columns are global tokens, then distances from -side to side.
    to_global, band = local[:, :tokens].transpose(1, 2).tensor_split([-(2 * side + 1)], dim=3)
    columns = torch.arange(tokens, device=band.device)[:, None] + torch.arange(
        2 * side + 1, device=band.device
    )
    weights = band.new_zeros(*band.shape[:3], tokens + 2 * side)
    weights = weights.scatter(3, columns.expand(band.shape), band)[..., side : side + tokens]
    for item, places in enumerate(is_global[:, :tokens]):
        positions = places.nonzero()[:, 0]
        count = len(positions)
        # Within the band, global tokens have no weight.
        weights[item, :, :, positions] = to_global[item, :, :, :count]
        weights[item, :, positions] = of_global[item, :, :count, :tokens]
    return weights
