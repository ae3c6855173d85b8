"""A forward pass over a batch of texts."""

from __future__ import annotations

import inspect
from typing import Any

import torch

from .batches import TextBatch


def run_model(model: torch.nn.Module, batch: TextBatch, *, all_logits: bool = False) -> Any:
    """Run the model over a batch, without a cache.

    Args:
        all_logits: True for the logits of all tokens; else of the last one where that is quicker.

    Returns:
        The model's output.

    Raises:
        ValueError: a text is longer than the model takes.
    """
    parameters = inspect.signature(model.forward).parameters
    unneeded: dict[str, Any] = {"use_cache": False}
    if not all_logits:
        unneeded["logits_to_keep"] = 1
    options = {name: value for name, value in unneeded.items() if name in parameters}
    try:
        return model(**{**batch.tensors, **options})
    except (IndexError, RuntimeError, ValueError) as error:
        limit = getattr(getattr(model, "config", None), "max_position_embeddings", None)
        longest = max(batch.texts, key=lambda text: len(text.tokens))
        if isinstance(limit, int) and len(longest.tokens) > limit:
            raise ValueError(
                f"text {longest.index} has {len(longest.tokens)} tokens; {type(model).__name__} "
                f"takes at most {limit}: give max_tokens={limit}"
            ) from error
        raise
