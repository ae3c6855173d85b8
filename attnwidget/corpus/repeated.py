"""Random tokens that are repeated, in which only a token's earlier copies tell what follows."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from attnwidget.running.batches import TextBatch, token_batch
from attnwidget.running.labels import text_tokenizer
from attnwidget.running.vocabulary import vocabulary_size

# Sequences of so many random tokens, each twice.
_SAMPLES = 10
_PERIOD = 40

# These ids are of frequent tokens in most vocabularies; models know rare ones less well.
_FREQUENT = range(1000, 5000)


def repeated_tokens(model: torch.nn.Module, tokenizer: Any, seed: int) -> TextBatch:
    """Ten sequences of 40 random tokens, each twice, between the special tokens of a text.

    The tokens are no special ones, and all different where the vocabulary is large enough: of one
    with 5,000 tokens, they have ids from 1,000 on, below 5,000. A model that takes no so long text
    gets fewer.

    Raises:
        ValueError: the vocabulary of the model is not known.
    """
    tokenizer = text_tokenizer(tokenizer)
    config = getattr(model, "config", None)
    start = _first_known("bos_token_id", "cls_token_id", owners=(tokenizer, config))
    classifies = getattr(tokenizer, "cls_token_id", None) is not None
    end = _first_known("sep_token_id", owners=(tokenizer,)) if classifies else None
    limit: Any = getattr(config, "max_position_embeddings", None)
    # Relative positions have no limit, for which some configurations say -1.
    limited = isinstance(limit, int) and limit > 0
    period = max(1, min(_PERIOD, (limit - 4) // 2)) if limited else _PERIOD
    size = _vocabulary(model, tokenizer)
    # Some configurations name tokens that the model does not have.
    start, end = (token if token is not None and token < size else None for token in (start, end))
    special = set(getattr(tokenizer, "all_special_ids", None) or ()) | {start, end}
    ids = _FREQUENT if size >= _FREQUENT.stop else range(size)
    vocabulary = np.array([token for token in ids if token not in special])
    random = np.random.default_rng([seed, 2])
    rows = []
    for _ in range(_SAMPLES):
        tokens = random.choice(vocabulary, period, replace=len(vocabulary) < period).tolist()
        rows.append([token for token in (start, *tokens, *tokens, end) if token is not None])
    ends = {0: start, len(rows[0]) - 1: end}
    special_places = tuple(place for place, token in ends.items() if token is not None)
    return token_batch(model, torch.tensor(rows), special_places)


def _first_known(*names: str, owners: tuple[Any, ...]) -> int | None:
    for owner in owners:
        for name in names:
            found = getattr(owner, name, None)
            if type(found) is int:
                return found
    return None


def _vocabulary(model: torch.nn.Module, tokenizer: Any) -> int:
    """The number of token ids that both the model and the tokenizer have."""
    sizes = vocabulary_size(model), None if tokenizer is None else len(tokenizer)
    known = [size for size in sizes if size is not None]
    if not known:
        raise ValueError(
            "the model does not say how many tokens its vocabulary has (get_input_embeddings), so "
            "there are no random tokens to measure induction, duplicate and copying on; pass the "
            "tokenizer, or other metrics"
        )
    return min(known)
