"""The attention of Pegasus-X's encoder: within blocks, and with global tokens before the text.

A token attends to its block and to all global tokens, and these attend to everything. Every second
layer shifts its blocks by half of one.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import torch

from .calls import Call
from .explicit import explicit_call
from .replacement import spied

_GLOBAL = "compute_global_attention_representations"
_LOCAL = "compute_local_attention_representations"


def is_kind(module: torch.nn.Module) -> bool:
    """True for modules of such attention."""
    return hasattr(type(module), _LOCAL)


def run(
    module: Any, forward: Callable[..., Any], given: dict[str, Any], length: int | None
) -> tuple[Any, Callable[[], Call]]:
    """Run the module: as `longformer.run`. The global tokens come first in the call."""
    with ExitStack() as undo:
        methods = spied(module, (_GLOBAL, _LOCAL), undo)
        result = forward(**given)
    of_global, of_local = methods[_GLOBAL].given, methods[_LOCAL].given
    size, count = module.block_size, of_global["global_q"].shape[2]
    filled = of_local["local_q"].shape[2]
    tokens = filled if length is None else length
    # Shifted blocks are filled by half of one on either side.
    start = (filled - -(-tokens // size) * size) // 2
    kept = slice(start, start + tokens)
    local = methods[_LOCAL].result[0].flatten(2, 3)  # [batch, heads, filled, d_v]
    heads = torch.cat([methods[_GLOBAL].result[0], local[:, :, kept]], dim=2)

    def rebuild(changed: torch.Tensor) -> Any:
        first, between = changed.tensor_split([count], dim=2)
        whole = torch.cat([local[:, :, :start], between, local[:, :, kept.stop :]], dim=2)
        merged = (module.out_proj(each.transpose(1, 2).flatten(2)) for each in (whole, first))
        return *merged, *result[2:]

    def joined(name: str) -> torch.Tensor:
        everywhere = {**of_global, **of_local}
        return torch.cat(
            [everywhere[f"global_{name}"], everywhere[f"local_{name}"][:, :, kept]], dim=2
        )

    def read() -> Call:
        query, key, value = (joined(name) for name in "qkv")
        block = torch.arange(filled, device=query.device)[kept] // size
        seen = query.new_ones(len(query), 1, count + tokens, count + tokens, dtype=torch.bool)
        seen[..., count:, count:] = block == block[:, None]
        seen[..., count:] &= (of_local["mask"][:, kept] == 0)[:, None, None]
        return explicit_call(module, query, key, value, seen, heads, rebuild)

    return result, read
