"""The local attention of Reformer: within chunks, and to the chunks before and after.

Its softmax is written as exp and logsumexp. The first chunk has the last one before it, as the
model rolls them. Attention by locality-sensitive hashes is not read: which keys it sorts into the
chunk of a query depends on random projections.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import torch

from .calls import Call
from .explicit import explicit_call
from .replacement import spied


def is_kind(module: torch.nn.Module) -> bool:
    """True for modules of such attention."""
    kind = type(module)
    return hasattr(kind, "_look_adjacent") and not hasattr(kind, "_hash_vectors")


def run(
    module: Any, forward: Callable[..., Any], given: dict[str, Any], length: int | None
) -> tuple[Any, Callable[[], Call]]:
    """Run the module: as `longformer.run`."""
    with ExitStack() as undo:
        parts = [spied(getattr(module, n), ["forward"], undo) for n in ("query", "key", "value")]
        result = forward(**given)
    outputs = result.hidden_states  # [batch, filled, heads * d_v]
    filled, width = outputs.shape[1], module.attention_head_size
    tokens = filled if length is None else length

    def by_head(merged: torch.Tensor) -> torch.Tensor:
        return merged[:, :tokens].reshape(len(merged), tokens, -1, width).transpose(1, 2)

    def rebuild(changed: torch.Tensor) -> Any:
        whole = torch.cat([changed.transpose(1, 2).flatten(2), outputs[:, tokens:]], dim=1)
        return type(result)(hidden_states=whole, attention_probs=result.attention_probs)

    def read() -> Call:
        projected = [part["forward"].result for part in parts]
        if projected[1].shape[1] != filled:
            raise ValueError("its keys are those of cached chunks: give use_cache=False")
        query, key, value = map(by_head, projected)
        place = torch.arange(tokens, device=query.device)
        seen = _near(module, place, filled)[None, None]
        if module.is_decoder:
            seen = seen & (place <= place[:, None])
        mask = given.get("attention_mask")
        if mask is not None:
            seen = seen & mask[:, None, None, :tokens].bool()
        return explicit_call(
            module, query, key / width**0.5, value, seen, by_head(outputs), rebuild
        )

    return result, read


def _near(module: Any, place: torch.Tensor, filled: int) -> torch.Tensor:
    """True for keys [T, T] in a chunk that a query's chunk sees."""
    if filled <= module.chunk_length:
        return place.new_ones(len(place), len(place), dtype=torch.bool)
    chunk = place // module.chunk_length
    before = (chunk[:, None] - chunk) % (filled // module.chunk_length)
    after = (chunk - chunk[:, None]) % (filled // module.chunk_length)
    near: torch.Tensor = (before <= module.num_chunks_before) | (after <= module.num_chunks_after)
    return near
