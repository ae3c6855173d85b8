"""The vocabulary of a model, beside that of its tokenizer."""

from __future__ import annotations

from inspect import signature
from typing import Any, SupportsIndex

import torch

from attnwidget.arguments import whole_number
from attnwidget.record.record import DOUBT

from .labels import text_tokenizer, token_labels


def vocabulary_size(model: torch.nn.Module) -> int | None:
    """The number of tokens that a model embeds; None if its embeddings are no plain table."""
    try:
        size = getattr(model.get_input_embeddings(), "num_embeddings", None)  # type: ignore[operator]
    except (AttributeError, NotImplementedError):
        return None
    return size if type(size) is int else None


def check_vocabulary(model: torch.nn.Module, ids: torch.Tensor | None) -> None:
    """Check that the model has an embedding of every token id, which its own errors do not say.

    Models whose embeddings have no plain table, such as hashed ones, take any id.

    Raises:
        ValueError: an id lies outside of the vocabulary.
    """
    size = vocabulary_size(model)
    if ids is None or size is None or not ids.numel():
        return
    largest = int(ids.max())
    if largest >= size:
        raise ValueError(
            f"the token ids do not fit the model's vocabulary: there is an id {largest:,}, and "
            f"{type(model).__name__} has {size:,} tokens; {DOUBT}, so "
            "load both by the same name"
        )


def doubt_of(model: torch.nn.Module, tokenizer: Any) -> str | None:
    """The sentence that a tokenizer is likely another model's, and why; None if nothing tells.

    Ids of another vocabulary may all fit, and stand for other words.
    """
    owner = text_tokenizer(tokenizer)
    size = vocabulary_size(model)
    if size is None or not all(hasattr(owner, each) for each in ("__len__", "all_special_ids")):
        return None
    name, own = type(model).__name__, len(owner)
    # A configuration may state wrong ids, as that of CLIP's texts does: as many tokens say more.
    if size == own:
        return None
    sign = ""
    special = {*owner.all_special_ids, *getattr(owner, "added_tokens_decoder", ())}
    # Embeddings are often padded to a round number; few special tokens may be added to a tokenizer.
    padded = size % 8 == 0 and own <= size < 1.1 * own
    if abs(size - own) > max(8, 0.01 * size) and not padded:
        sign = f"it has {own:,} tokens, and {name} {size:,}"
    for key, token in _special_ids(model).items():
        if not sign and token < size and token not in special:
            there = repr(owner.convert_ids_to_tokens([token])[0]) if token < own else "no token"
            sign = f"{key} of {name} is {token:,}, which is {there} there"
    return f"{DOUBT}: {sign}; load both by the same name" if sign else None


def _special_ids(model: torch.nn.Module) -> dict[str, int]:
    """The special ids that a configuration states; those of its class say nothing of a model."""
    config: Any = getattr(model, "config", None)
    try:
        usual = signature(type(config)).parameters
    except ValueError:  # no configuration, or a mapping
        return {}
    stated = {}
    for key in (f"{kind}_token_id" for kind in ("bos", "eos", "pad", "cls", "sep")):
        token = getattr(config, key, None)
        if type(token) is int and token >= 0 and key in usual and token != usual[key].default:
            stated[key] = token
    return stated


def unembedding_of(model: torch.nn.Module) -> torch.nn.Module:
    """The module that makes logits of tokens.

    Raises:
        ValueError: the model has none.
    """
    found = getattr(model, "get_output_embeddings", lambda: None)()
    if found is None:
        raise ValueError(
            f"{type(model).__name__} has no unembedding, so it has no logits of tokens"
        )
    unembedding: torch.nn.Module = found
    return unembedding


def token_id(model: torch.nn.Module, tokenizer: Any, token: str | SupportsIndex) -> int:
    """The id of a token that a model predicts: a string that is one token, or its id.

    Raises:
        TypeError: it is a string, and there is no tokenizer.
        ValueError: it is several tokens, or none of the model's.
    """
    number = whole_number(token) if not isinstance(token, str) else _only_id(tokenizer, token)
    unembedding = getattr(model, "get_output_embeddings", lambda: None)()
    # Some models embed more tokens than they predict.
    size = getattr(unembedding, "out_features", None) or vocabulary_size(model)
    if number < 0 or (size is not None and number >= size):
        known = "ids count from 0" if size is None else f"there are {size:,}, from 0 to {size - 1}"
        raise ValueError(f"{type(model).__name__} has no token {number}: {known}")
    return number


def _only_id(tokenizer: Any, token: str) -> int:
    """The id of a string that is one token; see `token_id`."""
    if tokenizer is None:
        raise TypeError("token is a string, so a tokenizer is needed")
    ids = text_tokenizer(tokenizer)(token, add_special_tokens=False)["input_ids"]
    if len(ids) != 1:
        labels = token_labels(tokenizer, ids)
        raise ValueError(
            f"{token!r} is {len(ids)} tokens ({', '.join(map(repr, labels))}); give one, mostly "
            "with the space before it, as ' Mary'"
        )
    return int(ids[0])


def label_of(tokenizer: Any, token: int) -> str:
    """The label of a token's id: the id itself without a tokenizer."""
    return str(token) if tokenizer is None else token_labels(tokenizer, [token])[0]
