"""A forward pass becomes an AttentionRecord. Torch is imported by the first capture, not before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from attnwidget.record import AttentionRecord

if TYPE_CHECKING:
    import torch


def capture(
    model: torch.nn.Module,
    tokenizer: Any,
    text: str | Mapping[str, Any],
    text_pair: str | None = None,
    *,
    batch_index: int = 0,
) -> AttentionRecord:
    """Run `model` once and record the queries and keys of every attention layer.

    The model runs as it is, with its own attention implementation; what its attention
    functions receive is written down beside it. Its configuration and hooks are not
    touched, and it is left as it was, also after an exception or Ctrl-C. It runs
    without gradients and in evaluation mode, so that dropout adds no noise.

    Args:
        model: a Hugging Face transformers encoder or decoder.
        tokenizer: its tokenizer, or None if `text` is a mapping (labels are then positions).
        text: a string, or the mapping of tensors that a tokenizer returned.
        text_pair: a second string, for models that take a pair.
        batch_index: which item of a batch to record. Its padding is cut off.

    Returns:
        A record with one stack, "self", whose layers are the model's attention calls in the order
        in which it makes them (in a hybrid model, layers without attention do not count;
        `record.fidelity` names each layer's module, and says how far its numbers are from the
        model's own).

    Raises:
        TypeError: `model` is not a torch module, or a string came without a tokenizer.
        ValueError: the text gives no tokens or too many, the model has no attention that can be
            seen, or its queries and keys are not finite.
        IndexError: the batch has no item `batch_index`.
    """
    # Imported here, so that a record can be opened and shown where torch is not installed.
    from .run import capture_record

    return capture_record(model, tokenizer, text, text_pair, batch_index)


__all__ = ["capture"]
