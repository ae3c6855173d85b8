"""What an encoder-decoder's decoder is given."""

from __future__ import annotations

import inspect
from typing import Any

import torch

from .device import device_of
from .labels import text_tokenizer


def is_encoder_decoder(model: torch.nn.Module) -> bool:
    """Whether the model's decoder reads tokens of its own."""
    if "decoder_input_ids" not in inspect.signature(model.forward).parameters:
        return False
    # Some models take such an input only if their language model is one.
    config: Any = getattr(model, "config", None)
    configs = [c for c in (config, getattr(config, "text_config", None)) if c is not None]
    return not configs or any(getattr(c, "is_encoder_decoder", False) for c in configs)


def decoder_inputs(model: torch.nn.Module, tokenizer: Any, target: str) -> torch.Tensor:
    """The decoder's input tokens [1, tokens] for a target text: the start token, then the text.

    Raises:
        TypeError, ValueError: the model or the tokenizer does not do that.
    """
    if not is_encoder_decoder(model):
        raise TypeError(f"{type(model).__name__} is no encoder-decoder: it takes no target")
    if not isinstance(target, str):
        raise TypeError(
            f"target is {type(target).__name__}; expected a string (token ids go with the inputs, "
            "as decoder_input_ids)"
        )
    if tokenizer is None:
        raise TypeError("target is a string, so a tokenizer is needed")
    labels = text_tokenizer(tokenizer)(text_target=target, return_tensors="pt")["input_ids"]
    config: Any = getattr(model, "config", None)
    own = getattr(model, "prepare_decoder_input_ids_from_labels", None)
    if own is not None:
        ids = own(labels=labels)
    else:
        start = getattr(config, "decoder_start_token_id", None)
        if start is None:
            raise ValueError(
                f"{type(model).__name__} names no decoder_start_token_id; pass decoder_input_ids "
                "with the tensors instead of a target"
            )
        ids = torch.cat([torch.tensor([[start]]), labels[:, :-1]], dim=1)
    tokens: torch.Tensor = ids.to(device_of(model))
    return tokens
