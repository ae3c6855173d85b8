"""What the user passed becomes model inputs and token labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from attnwidget.record import Tokens

from .labels import token_labels


@dataclass(frozen=True)
class Inputs:
    """Inputs of one forward pass.

    Attributes:
        tensors: keyword arguments for the model.
        batch_index: the item of the batch that is recorded.
        positions: its positions that are not padding.
        tokens: their labels.
    """

    tensors: dict[str, Any]
    batch_index: int
    positions: torch.Tensor
    tokens: Tokens


def prepare(
    tokenizer: Any,
    text: str | Mapping[str, Any],
    text_pair: str | None,
    batch_index: int,
    device: torch.device,
) -> Inputs:
    """Tokenize if needed, and find the tokens of one item of the batch.

    Raises:
        TypeError, ValueError: as `attnwidget.capture` says.
    """
    if isinstance(tokenizer, str):
        raise TypeError("tokenizer is a string: the order is capture(model, tokenizer, text)")
    if isinstance(text, str):
        if tokenizer is None:
            raise TypeError(
                "text is a string, so a tokenizer is needed: pass the model's tokenizer "
                "(AutoTokenizer.from_pretrained(...)), or pass what it returned instead of a string"
            )
        encoding = tokenizer(text, text_pair, return_tensors="pt")
    elif isinstance(text, Mapping):
        if text_pair is not None:
            raise TypeError("text_pair goes with a string; these inputs are tokenized already")
        encoding = text
    else:
        raise TypeError(
            f"text is {type(text).__name__}; expected a string or the mapping of tensors that a "
            "tokenizer returns (for several texts, capture one after the other)"
        )
    if "input_ids" not in encoding:
        raise ValueError("the inputs hold no input_ids: only token inputs can be captured so far")
    tensors = {k: v.to(device) if hasattr(v, "to") else v for k, v in encoding.items()}
    ids = tensors["input_ids"]
    if not isinstance(ids, torch.Tensor) or ids.ndim != 2:
        raise ValueError('input_ids must be a tensor [batch, tokens]; use return_tensors="pt"')
    if not 0 <= batch_index < len(ids):
        raise IndexError(f"batch_index {batch_index}: the batch has {len(ids)} items")
    positions = _unpadded(tensors, batch_index, ids.shape[1])
    kept = [int(i) for i in ids[batch_index, positions]]
    special = _special_positions(tokenizer, kept)
    if not kept or (isinstance(text, str) and len(special) == len(kept)):
        raise ValueError(f"the text {text!r} gives no tokens" if isinstance(text, str) else
                         "the inputs hold no tokens")  # fmt: skip
    segments = _segments(encoding, batch_index, positions) if text_pair is not None else None
    return Inputs(
        tensors, batch_index, positions, Tokens(token_labels(tokenizer, kept), segments, special)
    )


def _unpadded(tensors: Mapping[str, Any], batch_index: int, length: int) -> torch.Tensor:
    mask = tensors.get("attention_mask")
    if isinstance(mask, torch.Tensor) and mask.ndim == 2:
        return mask[batch_index].nonzero()[:, 0].cpu()
    return torch.arange(length)


def _special_positions(tokenizer: Any, ids: list[int]) -> tuple[int, ...]:
    special = set(getattr(tokenizer, "all_special_ids", ()))
    # These two stand for text.
    special -= {getattr(tokenizer, f"{name}_token_id", None) for name in ("unk", "mask")}
    return tuple(position for position, token in enumerate(ids) if token in special)


def _segments(encoding: Any, batch_index: int, positions: torch.Tensor) -> tuple[int, ...] | None:
    """0 or 1 per token, special tokens as the text before them; None if a text is empty."""
    if not getattr(encoding, "is_fast", False):
        types = encoding.get("token_type_ids")
        segments = [] if types is None else [int(t) for t in types[batch_index, positions]]
    else:
        segments = []
        owners = encoding.sequence_ids(batch_index)
        for position in positions.tolist():
            owner = owners[position]
            segments.append(owner if owner is not None else (segments[-1] if segments else 0))
    return tuple(segments) if set(segments) == {0, 1} else None
