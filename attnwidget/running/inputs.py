"""Model inputs and their labels, from the user's arguments."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import torch

from attnwidget.arguments import whole_number
from attnwidget.record import Tokens

from .chat import Chat, Messages, is_chat, pieces_of, render
from .illustrated import illustrated, tokens_in_text
from .items import Batch
from .labels import text_tokenizer, token_labels
from .model import CACHES, STANDARD, before_text, device_of, has_places, holds_tensors, traits
from .originals import Originals
from .padding import Padded, is_square, kept_positions, rows_of
from .sequences import Sequences, image_size, patch_size, pixels_name
from .sound import sound_in, sound_of
from .structure import structure_of
from .vocabulary import check_vocabulary, doubt_of
from .words import cut_off, encoding_of, word_spans

# The inputs with tokens that most models have.
_USUAL = ("input_ids", "inputs_embeds", "decoder_input_ids")


@dataclass(frozen=True)
class Inputs:
    """The inputs of one forward pass.

    Attributes:
        tensors: keyword arguments for the model.
        batch: the items of the batch.
        sequences: the labels of the recorded item.
        missing: the tokens that the tokenizer cut off, or that are likely not the model's, as
            "text: reason".
        answer: the ids of a generated answer whose tokens but the last are in the tensors; () if
            nothing was generated, or not by ids.
        originals: the reader's own images of which the pixels were made; None if these are not
            known.
    """

    tensors: dict[str, Any]
    batch: Batch
    sequences: Sequences
    missing: tuple[str, ...] = ()
    answer: tuple[int, ...] = ()
    originals: Originals | None = None

    @property
    def has_target(self) -> bool:
        """True if the tokens of a decoder are given."""
        return any(name.startswith("decoder_input") or name == "labels" for name in self.tensors)


def prepare(
    model: torch.nn.Module,
    tokenizer: Any,
    text: str | Mapping[str, Any] | Messages,
    text_pair: str | None,
    target: str | None,
    batch_index: int,
    images: Any = (),
) -> Inputs:
    """Tokenize if needed, and collect the tokens of the recorded item.

    Args:
        images: of the text; those in the messages of a chat need not be given.

    Raises:
        TypeError, ValueError, IndexError: as `attnwidget.capture` says.
    """
    read = illustrated(tokenizer, text, images)
    chat = None
    if read is not None:
        if text_pair is not None:
            raise TypeError("text_pair needs a string as text, without images")
        encoding = text = read.inputs
    else:
        chat = _chat(tokenizer, text, text_pair)
        text = cast("str | Mapping[str, Any]", text) if chat is None else chat.text
        encoding = _encoding(tokenizer, text, text_pair, special=chat is None)
    tensors = on_device(taken(model, encoding), model)
    _check(model, tensors, text)
    if target is not None:
        repeats = _batch_size(tensors, (0,))
        tensors["decoder_input_ids"] = decoder_inputs(model, tokenizer, target).repeat(repeats, 1)
    structure = structure_of(model, tensors)
    of_items = {} if structure is None else structure.items
    items = next((of_items[name] for name in tensors if name in of_items), (0,))
    size = _batch_size(tensors, items)
    try:
        batch_index = whole_number(batch_index)
    except TypeError:
        raise TypeError(f"batch_index is {batch_index!r}; expected a number") from None
    if not 0 <= batch_index < size:
        raise IndexError(f"batch_index {batch_index}: the batch has {size} items")
    kept: dict[str, Padded] = {}
    tokens: dict[str, Tokens] = {}
    for name in (*_USUAL, *(name for name in of_items if name not in _USUAL)):
        of = of_items.get(name, items)
        padded = _kept(tensors, name, batch_index, of)
        if padded is not None:
            kept[name] = padded
            ids = _ids(tensors[name], batch_index, padded, of)
            tokens |= {} if ids is None else {name: labelled(tokenizer, ids)}
    seen = kept.get("input_ids", kept.get("inputs_embeds"))
    if seen is not None and not len(seen.kept) and not isinstance(text, str):
        raise ValueError("the inputs have no tokens")
    if "input_ids" in tokens:
        positions = kept["input_ids"].kept
        own = _in_words(
            tokens["input_ids"], encoding, batch_index, positions.tolist(), text, text_pair, chat
        )
        tokens["input_ids"] = own
        if read is not None and size == 1 and len(positions) == kept["input_ids"].length:
            ids = tensors["input_ids"][0].tolist()
            tokens["input_ids"] = tokens_in_text(read, own, ids, tokenizer)
        if isinstance(text, str) and len(own.special) == len(own):
            but = " but special ones" if len(own) else ""
            raise ValueError(f"the text {text!r} gives no tokens{but}")
    sound = sound_of(model, tensors, batch_index)
    sequences = Sequences(
        tokens.get("input_ids"),
        tokens.get("decoder_input_ids"),
        image_size(tensors),
        patch_size(model),
        sound_in(model, tensors, tokenizer, batch_index, sound),
        before=before_text(model),
        others=tokens,
    )
    batch = Batch(
        size,
        batch_index,
        seen,
        kept.get("decoder_input_ids"),
        _cached(tensors, seen, batch_index),
        _media_count(model, tensors),
        sound,
        kept,
        items,
    )
    missing = doubt_of(model, tokenizer), cut_off(encoding, batch_index)
    originals = None if read is None else read.originals
    return Inputs(tensors, batch, sequences, tuple(filter(None, missing)), originals=originals)


def tokens_of(tokenizer: Any, text: str | Messages) -> tuple[list[int], Tokens]:
    """The ids and the labelled tokens of a text or a chat, for an engine that reads ids."""
    chat = _chat(tokenizer, text, None)
    string = cast(str, text) if chat is None else chat.text
    encoding = _encoding(tokenizer, string, None, special=chat is None)
    ids = encoding["input_ids"][0].tolist()
    tokens = labelled(tokenizer, ids)
    return ids, _in_words(tokens, encoding, 0, list(range(len(ids))), string, None, chat)


def _kept(
    tensors: Mapping[str, Any], name: str, index: int, items: tuple[int, ...]
) -> Padded | None:
    """The item's tokens in an input; None if it has none."""
    tensor = tensors.get(name)
    if not isinstance(tensor, torch.Tensor) or tensor.ndim > 3:
        return None
    return (
        kept_positions(tensors, name, index, items) if index < len(rows_of(tensor, items)) else None
    )


def _in_words(
    tokens: Tokens,
    encoding: Any,
    index: int,
    positions: list[int],
    text: str | Mapping[str, Any],
    pair: str | None,
    chat: Chat | None,
) -> Tokens:
    """An item's tokens with their segments, words and offsets, and the text that these are in."""
    texts = None
    if isinstance(text, str):
        texts = (text,) if pair is None else (text, pair)
    words, offsets = word_spans(encoding, index, positions, texts)
    segments = segments_of(encoding, index, positions)
    tokens = replace(tokens, segments=segments, words=words, offsets=offsets)
    if not isinstance(text, str) or offsets is None:
        return tokens
    if pair is not None:
        return _of_pair(tokens, text, pair)
    return replace(tokens, text=text, pieces=pieces_of(chat, offsets))


def _of_pair(tokens: Tokens, text: str, pair: str) -> Tokens:
    """Tokens with offsets in one text, in which a blank line is between those of a pair."""
    joined = f"{text}\n\n{pair}"
    before = len(joined) - len(pair)
    if tokens.segments is None:
        return tokens
    places = zip(tokens.offsets or (), tokens.segments, strict=True)
    offsets = tuple(span and (span[0] + of * before, span[1] + of * before) for span, of in places)
    return replace(tokens, text=joined, offsets=offsets)


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


def _chat(tokenizer: Any, text: Any, text_pair: str | None) -> Chat | None:
    """Messages as their template writes them; None if the text is no chat.

    It ends with what the model's answer begins with, unless the last message is an answer.
    """
    if not is_chat(text):
        return None
    if text_pair is not None:
        raise TypeError("text_pair needs a string as text; a chat is a list of messages")
    last = text[-1] if len(text) else None
    answered = isinstance(last, Mapping) and last.get("role") == "assistant"
    return render(tokenizer, text, generation_prompt=not answered)


def _encoding(tokenizer: Any, text: Any, text_pair: str | None, *, special: bool = True) -> Any:
    if isinstance(tokenizer, str):
        raise TypeError("tokenizer is a string: the order is (model, tokenizer, text)")
    if isinstance(text, str):
        if tokenizer is None:
            raise TypeError(
                "text is a string, so a tokenizer is needed: pass the model's tokenizer "
                "(AutoTokenizer.from_pretrained(...)), or pass what it returned instead of a string"
            )
        # A processor's tokenizer is called, because the processor's first argument may be an image.
        owner = text_tokenizer(tokenizer)
        if not callable(owner):
            raise TypeError(
                f"tokenizer is {type(owner).__module__.partition('.')[0]}.{type(owner).__name__}, "
                "which cannot be called on a text; expected one of transformers: wrap it, as "
                "PreTrainedTokenizerFast(tokenizer_object=tokenizer)"
            )
        # A chat template writes special tokens itself.
        options = {} if special else {"add_special_tokens": False}
        return owner(text, text_pair, return_tensors="pt", **options)
    if not isinstance(text, Mapping):
        raise TypeError(
            f"text is {type(text).__name__}; expected a string, an image of Pillow (of an array, "
            "Image.fromarray(array)), a list of messages, or a mapping of the model's inputs "
            'such as a tokenizer or processor returns with return_tensors="pt", e.g. '
            '{"input_ids": ids} (for several texts, capture one after the other)'
        )
    if text_pair is not None:
        raise TypeError("text_pair needs a string as text; these inputs are tokenized already")
    if "role" in text:
        raise TypeError("text is a message; a chat is a list of messages, so pass [message]")
    if not any(isinstance(value, torch.Tensor) for value in text.values()):
        raise ValueError(
            'the inputs have no tensors; use return_tensors="pt" (a mapping within the mapping is '
            "not opened)"
        )
    return text


# What tokenizers return beside the tokens, which some models do not take.
_EXTRA = frozenset(
    {
        *("token_type_ids", "attention_mask", "special_tokens_mask", "length", "offset_mapping"),
        *("overflow_to_sample_mapping", "overflowing_tokens", "num_truncated_tokens"),
    }
)


def taken(model: torch.nn.Module, encoding: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs that the model takes, by their usual names.

    Raises:
        TypeError: it does not take one of them, other than what tokenizers add to the tokens.
    """
    kind = traits(model)
    # A square mask may say which tokens see each other, so it keeps its own name.
    usual = {own: name for name, own in kind.names.items() if not is_square(encoding.get(own))}
    named = {usual.get(name, name): value for name, value in encoding.items()}
    left = {name: value for name, value in named.items() if not kind.takes(name)}
    if left.keys() <= _EXTRA:
        for name in left:
            warnings.warn(
                f"{name} is left out: {type(model).__name__} does not take it", stacklevel=2
            )
        return {name: value for name, value in named.items() if name not in left}
    return named


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
    kind, name = traits(model), type(model).__name__
    known = ", ".join(sorted(kind.parameters))
    unknown = [each for each in tensors if not kind.takes(each)]
    if isinstance(text, str) and "input_ids" in unknown:
        if not kind.parameters:
            raise ValueError(
                f"the forward of {name} takes nothing by name: wrap the model in a module whose "
                "forward takes input_ids"
            )
        if STANDARD.isdisjoint(kind.parameters):
            raise ValueError(
                f"{name} has no argument that is known to take tokens: its forward takes {known}; "
                "pass a mapping of these instead of a string, such as "
                f"{{{kind.parameters[0]!r}: ids}} with "
                'ids = tokenizer(text, return_tensors="pt")["input_ids"]'
            )
        raise ValueError(
            f"{name} takes no text; pass what its processor returns for an image or audio, and a "
            "text as target="
        )
    if unknown:
        raise ValueError(
            f"{name} does not take {' or '.join(map(repr, unknown))}; its forward takes {known}"
        )
    for each, value in tensors.items():
        plain = isinstance(value, (list, tuple)) and not holds_tensors(value) and each not in CACHES
        if plain or isinstance(value, np.ndarray):
            raise ValueError(f'{each} must be a torch tensor; use return_tensors="pt"')
    ids = tensors.get("input_ids")
    if ids is not None and (not isinstance(ids, torch.Tensor) or ids.ndim < 2):
        raise ValueError('input_ids must be a tensor [batch, tokens]; use return_tensors="pt"')
    # Placeholders of images and sounds may have ids beyond the vocabulary.
    if not any(isinstance(t, torch.Tensor) and t.is_floating_point() for t in tensors.values()):
        check_vocabulary(model, ids)


def _batch_size(tensors: Mapping[str, Any], items: tuple[int, ...]) -> int:
    for name in _USUAL:
        if name in tensors:
            return len(rows_of(tensors[name], items))
    if any(name.endswith("grid_thw") for name in tensors):
        return 1  # the patches of all images lie in one dimension
    inputs = (t for t in tensors.values() if isinstance(t, torch.Tensor) and t.ndim > 1)
    return next((len(rows_of(t, items)) for t in inputs), 1)


def _media_count(model: torch.nn.Module, tensors: Mapping[str, Any]) -> int | None:
    """The number of images or sounds, or None; of crops, where items have different numbers."""
    names = (pixels_name(tensors) or "pixel_values", "input_features", "input_values")
    media = next((tensors[name] for name in names if name in tensors), None)
    if isinstance(media, torch.Tensor) and media.ndim == 5 and has_places(model):
        # Crops of zeros fill up a batch; language models leave them out.
        crops = media.flatten(2).any(dim=2).sum(dim=1)
        if crops.min() < crops.max():
            return int(crops.sum())
    return None if media is None else len(media)


def _cached(tensors: Mapping[str, Any], text: Padded | None, batch_index: int) -> Padded | None:
    """The text with the cached tokens before it, if the mask covers these."""
    mask = tensors.get("attention_mask")
    if text is None or not isinstance(mask, torch.Tensor) or mask.ndim != 2:
        return None
    if mask.shape[1] <= text.length:
        return None
    return Padded(mask.shape[1], mask[batch_index].nonzero()[:, 0].cpu())


def _ids(
    ids: torch.Tensor, batch_index: int, padded: Padded, items: tuple[int, ...]
) -> list[int] | None:
    """The item's token ids; None if it has several for each position, or none."""
    rows = rows_of(ids, items)
    if rows.ndim != 2 or rows.is_floating_point():
        return None
    return [int(token) for token in rows[batch_index].cpu()[padded.kept]]


def segments_of(encoding: Any, batch_index: int, positions: list[int]) -> tuple[int, ...] | None:
    """0 or 1 per token, for special tokens that of the text before; None if there is one text."""
    segments: list[int] = []
    fast = encoding_of(encoding, batch_index)
    if fast is None:
        types = encoding.get("token_type_ids")
        rows = np.atleast_2d([] if types is None else np.asarray(types))
        if rows.ndim == 2 and rows.size:
            segments = [int(of) for of in rows[batch_index, positions]]
    else:
        owners = fast.sequence_ids
        for position in positions:
            owner = owners[position]
            segments.append(owner if owner is not None else (segments[-1] if segments else 0))
    return tuple(segments) if set(segments) == {0, 1} else None
