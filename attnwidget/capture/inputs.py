"""Model inputs, and labels for them, from what the user passed."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from attnwidget.record import Tokens

from .items import Batch, Padded
from .labels import text_tokenizer, token_labels
from .model import device_of, is_encoder_decoder
from .sequences import Sequences, audio_seconds, image_size, patch_size
from .words import word_spans


@dataclass(frozen=True)
class Inputs:
    """Inputs of one forward pass.

    Attributes:
        tensors: keyword arguments for the model.
        batch: the items in them.
        sequences: labels.
    """

    tensors: dict[str, Any]
    batch: Batch
    sequences: Sequences


def prepare(
    model: torch.nn.Module,
    tokenizer: Any,
    text: str | Mapping[str, Any],
    text_pair: str | None,
    target: str | None,
    batch_index: int,
) -> Inputs:
    """Tokenize if needed, and find what one item of the batch consists of.

    Raises:
        TypeError, ValueError, IndexError: as `attnwidget.capture` says.
    """
    encoding = _encoding(tokenizer, text, text_pair)
    tensors = _on_device(encoding, model)
    _check(model, tensors, text)
    size = _batch_size(tensors)
    if target is not None:
        tensors["decoder_input_ids"] = _decoder_inputs(model, tokenizer, target).repeat(size, 1)
    if type(batch_index) is not int:
        raise TypeError(f"batch_index is {batch_index!r}; expected a number")
    if not 0 <= batch_index < size:
        raise IndexError(f"batch_index {batch_index}: the batch has {size} items")
    name = "input_ids" if "input_ids" in tensors else "inputs_embeds"
    padded = _padded(tensors, name, "attention_mask", batch_index)
    tokens = None
    if padded is not None and not len(padded.kept) and not isinstance(text, str):
        raise ValueError("the inputs hold no tokens")
    if padded is not None and name == "input_ids" and tensors[name].ndim == 2:
        ids = _ids(tensors["input_ids"], batch_index, padded)
        special = _special_positions(tokenizer, ids)
        if not ids or (isinstance(text, str) and len(special) == len(ids)):
            raise ValueError(f"the text {text!r} gives no tokens" if isinstance(text, str) else
                             "the inputs hold no tokens")  # fmt: skip
        positions = padded.kept.tolist()
        texts = (
            (text, *([text_pair] if text_pair is not None else []))
            if isinstance(text, str)
            else None
        )
        words, offsets = word_spans(encoding, batch_index, positions, texts)
        segments = _segments(encoding, batch_index, positions) if text_pair is not None else None
        tokens = Tokens(token_labels(tokenizer, ids), segments, special, words, offsets)
    aim = _padded(tensors, "decoder_input_ids", "decoder_attention_mask", batch_index)
    target_ids = tensors.get("decoder_input_ids")
    labels = None
    if aim is not None and target_ids is not None and target_ids.ndim == 2:
        labels = labelled(tokenizer, _ids(target_ids, batch_index, aim))
    sequences = Sequences(
        tokens,
        labels,
        image_size(tensors),
        patch_size(getattr(model, "config", None)),
        audio_seconds(tensors, tokenizer),
    )
    cached = _cached(tensors, padded, batch_index)
    batch = Batch(size, batch_index, padded, aim, cached, _media(tensors))
    return Inputs(tensors, batch, sequences)


def labelled(tokenizer: Any, ids: list[int]) -> Tokens:
    """Labels of token ids, with special tokens marked."""
    return Tokens(token_labels(tokenizer, ids), None, _special_positions(tokenizer, ids))


def _decoder_inputs(model: torch.nn.Module, tokenizer: Any, target: str) -> torch.Tensor:
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


def _encoding(tokenizer: Any, text: Any, text_pair: str | None) -> Any:
    if isinstance(tokenizer, str):
        raise TypeError("tokenizer is a string: the order is capture(model, tokenizer, text)")
    if isinstance(text, str):
        if tokenizer is None:
            raise TypeError(
                "text is a string, so a tokenizer is needed: pass the model's tokenizer "
                "(AutoTokenizer.from_pretrained(...)), or pass what it returned instead of a string"
            )
        # The tokenizer of a processor: a processor's own first argument may be an image.
        return text_tokenizer(tokenizer)(text, text_pair, return_tensors="pt")
    if not isinstance(text, Mapping):
        raise TypeError(
            f"text is {type(text).__name__}; expected a string, or a mapping of the model's inputs "
            'such as a tokenizer or processor returns with return_tensors="pt", e.g. '
            '{"input_ids": ids} (for several texts, capture one after the other)'
        )
    if text_pair is not None:
        raise TypeError("text_pair goes with a string; these inputs are tokenized already")
    if not any(isinstance(value, torch.Tensor) for value in text.values()):
        raise ValueError('the inputs hold no tensors; use return_tensors="pt"')
    return text


def _on_device(encoding: Any, model: torch.nn.Module) -> dict[str, Any]:
    """The tensors where the model is, those of real numbers in its own precision."""
    device, dtype = device_of(model), getattr(model, "dtype", None)

    def moved(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        real = (
            value.is_floating_point() and isinstance(dtype, torch.dtype) and dtype.is_floating_point
        )
        return value.to(device, dtype if real else None)

    return {name: moved(value) for name, value in encoding.items()}


def _check(model: torch.nn.Module, tensors: Mapping[str, Any], text: Any) -> None:
    """Raise an error that says more than the model's own would."""
    takes = inspect.signature(model.forward).parameters
    anything = any(p.kind is p.VAR_KEYWORD for p in takes.values())
    if isinstance(text, str) and "input_ids" not in takes and not anything:
        raise ValueError(
            f"{type(model).__name__} takes no text; pass what its processor returns for an image "
            "or audio, and a text as target="
        )
    for name, value in tensors.items():
        if isinstance(value, (list, tuple, np.ndarray)):
            raise ValueError(f'{name} must be a torch tensor; use return_tensors="pt"')
    ids = tensors.get("input_ids")
    if ids is not None and (not isinstance(ids, torch.Tensor) or ids.ndim < 2):
        raise ValueError('input_ids must be a tensor [batch, tokens]; use return_tensors="pt"')


def _batch_size(tensors: Mapping[str, Any]) -> int:
    for name in ("input_ids", "inputs_embeds", "decoder_input_ids"):
        if name in tensors:
            return len(tensors[name])
    found = (len(t) for t in tensors.values() if isinstance(t, torch.Tensor) and t.ndim > 1)
    return next(found, 1)


def _media(tensors: Mapping[str, Any]) -> int | None:
    names = ("pixel_values", "input_features", "input_values")
    return next((len(tensors[name]) for name in names if name in tensors), None)


def _cached(tensors: Mapping[str, Any], text: Padded | None, batch_index: int) -> Padded | None:
    mask = tensors.get("attention_mask")
    if text is None or not isinstance(mask, torch.Tensor) or mask.ndim != 2:
        return None
    if mask.shape[1] <= text.length:
        return None
    return Padded(mask.shape[1], mask[batch_index].nonzero()[:, 0].cpu())


def _padded(tensors: Mapping[str, Any], ids: str, mask: str, batch_index: int) -> Padded | None:
    if not isinstance(tensors.get(ids), torch.Tensor):
        return None
    length = tensors[ids].shape[1]
    read = tensors.get(mask)
    if isinstance(read, torch.Tensor) and read.ndim == 2 and read.shape[1] == length:
        return Padded(length, read[batch_index].nonzero()[:, 0].cpu())
    return Padded(length, torch.arange(length))


def _ids(ids: torch.Tensor, batch_index: int, padded: Padded) -> list[int]:
    return [int(token) for token in ids[batch_index].cpu()[padded.kept]]


def _special_positions(tokenizer: Any, ids: list[int]) -> tuple[int, ...]:
    tokenizer = text_tokenizer(tokenizer)
    special = set(getattr(tokenizer, "all_special_ids", None) or ())
    # These two stand for text.
    special -= {getattr(tokenizer, f"{name}_token_id", None) for name in ("unk", "mask")}
    return tuple(position for position, token in enumerate(ids) if token in special)


def _segments(encoding: Any, batch_index: int, positions: list[int]) -> tuple[int, ...] | None:
    """0 or 1 per token, special tokens as the text before them; None if a text is empty."""
    if not getattr(encoding, "is_fast", False):
        types = encoding.get("token_type_ids")
        segments = [] if types is None else [int(t) for t in types[batch_index, positions]]
    else:
        segments = []
        owners = encoding.sequence_ids(batch_index)
        for position in positions:
            owner = owners[position]
            segments.append(owner if owner is not None else (segments[-1] if segments else 0))
    return tuple(segments) if set(segments) == {0, 1} else None
