"""Model inputs and their labels, from the user's arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from attnwidget.record import Tokens

from .items import Batch, Padded
from .labels import text_tokenizer, token_labels
from .model import check_vocabulary, device_of, traits
from .sequences import Sequences, audio_seconds, image_size, patch_size
from .words import cut_off, word_spans


@dataclass(frozen=True)
class Inputs:
    """The inputs of one forward pass.

    Attributes:
        tensors: keyword arguments for the model.
        batch: the items of the batch.
        sequences: the labels of the recorded item.
        cut_off: the tokens that the tokenizer cut off, as "text: reason", or None.
    """

    tensors: dict[str, Any]
    batch: Batch
    sequences: Sequences
    cut_off: str | None = None

    @property
    def has_target(self) -> bool:
        """True if the tokens of a decoder are given."""
        return any(name.startswith("decoder_input") or name == "labels" for name in self.tensors)

    @property
    def item_pixels(self) -> torch.Tensor | None:
        """The one image of the recorded item, [channels, height, width]; None if it has another
        number of images, or if they come in another form."""
        pixels = self.tensors.get("pixel_values")
        if not isinstance(pixels, torch.Tensor) or pixels.ndim != 4:
            return None
        return pixels[self.batch.index] if self.batch.media == self.batch.size else None


def prepare(
    model: torch.nn.Module,
    tokenizer: Any,
    text: str | Mapping[str, Any],
    text_pair: str | None,
    target: str | None,
    batch_index: int,
) -> Inputs:
    """Tokenize if needed, and collect the tokens of the recorded item.

    Raises:
        TypeError, ValueError, IndexError: as `attnwidget.capture` says.
    """
    encoding = _encoding(tokenizer, text, text_pair)
    tensors = on_device(encoding, model)
    _check(model, tensors, text)
    size = _batch_size(tensors)
    if target is not None:
        tensors["decoder_input_ids"] = decoder_inputs(model, tokenizer, target).repeat(size, 1)
    if type(batch_index) is not int:
        raise TypeError(f"batch_index is {batch_index!r}; expected a number")
    if not 0 <= batch_index < size:
        raise IndexError(f"batch_index {batch_index}: the batch has {size} items")
    name = "input_ids" if "input_ids" in tensors else "inputs_embeds"
    padded = kept_positions(tensors, name, "attention_mask", batch_index)
    tokens = None
    if padded is not None and not len(padded.kept) and not isinstance(text, str):
        raise ValueError("the inputs have no tokens")
    if padded is not None and name == "input_ids" and tensors[name].ndim == 2:
        ids = _ids(tensors["input_ids"], batch_index, padded)
        tokens = labelled(tokenizer, ids)
        if isinstance(text, str) and len(tokens.special) == len(ids):
            raise ValueError(
                f"the text {text!r} gives no tokens{' but special ones' if ids else ''}"
            )
        positions = padded.kept.tolist()
        texts = None
        if isinstance(text, str):
            texts = (text,) if text_pair is None else (text, text_pair)
        words, offsets = word_spans(encoding, batch_index, positions, texts)
        segments = segments_of(encoding, batch_index, positions) if text_pair is not None else None
        tokens = replace(tokens, segments=segments, words=words, offsets=offsets)
    target_padded = kept_positions(
        tensors, "decoder_input_ids", "decoder_attention_mask", batch_index
    )
    target_ids = tensors.get("decoder_input_ids")
    labels = None
    if target_padded is not None and target_ids is not None and target_ids.ndim == 2:
        labels = labelled(tokenizer, _ids(target_ids, batch_index, target_padded))
    sequences = Sequences(
        tokens,
        labels,
        image_size(tensors),
        patch_size(model),
        audio_seconds(tensors, tokenizer),
        global_tokens=traits(model).global_tokens,
    )
    cached = _cached(tensors, padded, batch_index)
    batch = Batch(
        size,
        batch_index,
        padded,
        target_padded,
        cached,
        _media_count(tensors),
        sequences.global_tokens,
    )
    return Inputs(tensors, batch, sequences, cut_off(encoding, batch_index))


def labelled(tokenizer: Any, ids: list[int]) -> Tokens:
    """Labels of token ids, with special tokens marked."""
    owner = text_tokenizer(tokenizer)
    special = set(getattr(owner, "all_special_ids", None) or ())
    # Unknown and mask tokens stand for text.
    special -= {getattr(owner, f"{name}_token_id", None) for name in ("unk", "mask")}
    places = tuple(position for position, token in enumerate(ids) if token in special)
    return Tokens(token_labels(tokenizer, ids), special=places)


def decoder_inputs(model: torch.nn.Module, tokenizer: Any, target: str) -> torch.Tensor:
    """The decoder's input tokens [1, tokens] for a target text: the start token, then the text.

    Raises:
        TypeError, ValueError: the model or the tokenizer does not support a target.
    """
    if not traits(model).has_decoder:
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
    prepare_ids = getattr(model, "prepare_decoder_input_ids_from_labels", None)
    if prepare_ids is not None:
        ids = prepare_ids(labels=labels)
    else:
        start = getattr(config, "decoder_start_token_id", None)
        if start is None:
            raise ValueError(
                f"{type(model).__name__} names no decoder_start_token_id; pass decoder_input_ids "
                "with the tensors instead of a target"
            )
        ids = torch.cat([torch.tensor([[start]]), labels[:, :-1]], dim=1)
    decoder = getattr(model, "get_decoder", None)
    check_vocabulary(model if decoder is None else decoder(), ids)
    tokens: torch.Tensor = ids.to(device_of(model))
    return tokens


def _encoding(tokenizer: Any, text: Any, text_pair: str | None) -> Any:
    if isinstance(tokenizer, str):
        raise TypeError("tokenizer is a string: the order is (model, tokenizer, text)")
    if isinstance(text, str):
        if tokenizer is None:
            raise TypeError(
                "text is a string, so a tokenizer is needed: pass the model's tokenizer "
                "(AutoTokenizer.from_pretrained(...)), or pass what it returned instead of a string"
            )
        # A processor's tokenizer is called, because the processor's first argument may be an image.
        return text_tokenizer(tokenizer)(text, text_pair, return_tensors="pt")
    if not isinstance(text, Mapping):
        raise TypeError(
            f"text is {type(text).__name__}; expected a string, or a mapping of the model's inputs "
            'such as a tokenizer or processor returns with return_tensors="pt", e.g. '
            '{"input_ids": ids} (for several texts, capture one after the other)'
        )
    if text_pair is not None:
        raise TypeError("text_pair needs a string as text; these inputs are tokenized already")
    if not any(isinstance(value, torch.Tensor) for value in text.values()):
        raise ValueError('the inputs have no tensors; use return_tensors="pt"')
    return text


def on_device(encoding: Any, model: torch.nn.Module) -> dict[str, Any]:
    """Move tensors to the model's device, and floating-point ones to its precision."""
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
    """Raise errors that are clearer than the model's own."""
    kind = traits(model)
    if isinstance(text, str) and "input_ids" not in kind.parameters and not kind.takes_any:
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
    # Placeholders of images and sounds may have ids beyond the vocabulary.
    if not any(isinstance(t, torch.Tensor) and t.is_floating_point() for t in tensors.values()):
        check_vocabulary(model, ids)


def _batch_size(tensors: Mapping[str, Any]) -> int:
    for name in ("input_ids", "inputs_embeds", "decoder_input_ids"):
        if name in tensors:
            return len(tensors[name])
    if any(name.endswith("grid_thw") for name in tensors):
        return 1  # the patches of all images lie in one dimension
    lengths = (len(t) for t in tensors.values() if isinstance(t, torch.Tensor) and t.ndim > 1)
    return next(lengths, 1)


def _media_count(tensors: Mapping[str, Any]) -> int | None:
    """The number of images or sounds, or None."""
    names = ("pixel_values", "input_features", "input_values")
    return next((len(tensors[name]) for name in names if name in tensors), None)


def _cached(tensors: Mapping[str, Any], text: Padded | None, batch_index: int) -> Padded | None:
    """The text with the cached tokens before it, if the mask covers these."""
    mask = tensors.get("attention_mask")
    if text is None or not isinstance(mask, torch.Tensor) or mask.ndim != 2:
        return None
    if mask.shape[1] <= text.length:
        return None
    return Padded(mask.shape[1], mask[batch_index].nonzero()[:, 0].cpu())


def kept_positions(
    tensors: Mapping[str, Any], ids_name: str, mask_name: str, batch_index: int
) -> Padded | None:
    """The item's positions in the tensor of this name that its mask does not hide."""
    ids, mask = tensors.get(ids_name), tensors.get(mask_name)
    if not isinstance(ids, torch.Tensor):
        return None
    length = ids.shape[1]
    if isinstance(mask, torch.Tensor) and mask.ndim == 2 and mask.shape[1] == length:
        return Padded(length, mask[batch_index].nonzero()[:, 0].cpu())
    return Padded(length, torch.arange(length))


def _ids(ids: torch.Tensor, batch_index: int, padded: Padded) -> list[int]:
    return [int(token) for token in ids[batch_index].cpu()[padded.kept]]


def segments_of(encoding: Any, batch_index: int, positions: list[int]) -> tuple[int, ...] | None:
    """0 or 1 per token, for special tokens that of the text before; None if a text is empty."""
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
