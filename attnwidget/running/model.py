"""The kind of a model, and what its configuration alone does not tell."""

from __future__ import annotations

import inspect
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any
from weakref import WeakKeyDictionary

import torch


def traceable(model: object) -> torch.nn.Module:
    """The model whose modules run: that inside of a compiled one.

    Raises:
        TypeError: `model` is no torch module, or TorchScript.
    """
    if not isinstance(model, torch.nn.Module):
        raise TypeError(
            f"model is {type(model).__name__}; expected a torch.nn.Module: the order is (model, "
            "tokenizer, text)"
        )
    if isinstance(model, torch.jit.ScriptModule):
        raise TypeError(
            "model is TorchScript, which runs no Python; capture the module it was made from"
        )
    inner: torch.nn.Module = getattr(model, "_orig_mod", model)
    return inner


def name_of(model: torch.nn.Module) -> str:
    """The last part of the path or hub name that the model was loaded from, else its class."""
    path = str(getattr(getattr(model, "config", None), "_name_or_path", "") or "")
    return PurePath(path).name or type(model).__name__


def device_of(model: torch.nn.Module) -> torch.device:
    """The device for inputs. Offloaded parameters are on "meta" until their module runs."""
    devices = (p.device for p in model.parameters() if p.device.type != "meta")
    return next(devices, torch.device("cpu"))


def without_autocast(device: torch.device) -> AbstractContextManager[object]:
    """A context in which torch does not round as it rounds the model under autocast."""
    if not torch.is_autocast_enabled(device.type):
        return nullcontext()  # turning off takes longer than many layers' explanation
    return torch.autocast(device.type, enabled=False)


@dataclass(frozen=True)
class ModelTraits:
    """The kind of a model, which is found once.

    Attributes:
        has_decoder: True if it has a decoder with its own input tokens.
        global_tokens: the number of tokens of its own that an encoder has before the text, as
            Pegasus-X has.
        parameters: the names of the arguments of its forward pass.
        takes_any: True if it takes arguments of other names as well.
        longest: the number of tokens that it takes at most, or None.
    """

    has_decoder: bool
    global_tokens: int
    parameters: frozenset[str]
    takes_any: bool
    longest: int | None


_known: WeakKeyDictionary[torch.nn.Module, ModelTraits] = WeakKeyDictionary()


def traits(model: torch.nn.Module) -> ModelTraits:
    """The traits of a model."""
    if model not in _known:
        _known[model] = _found(model)
    return _known[model]


def _found(model: torch.nn.Module) -> ModelTraits:
    parameters = inspect.signature(model.forward).parameters
    config: Any = getattr(model, "config", None)
    # Some models have this parameter, but use it only with such a language model.
    configs = [c for c in (config, getattr(config, "text_config", None)) if c is not None]
    uses = not configs or any(getattr(c, "is_encoder_decoder", False) for c in configs)
    tables = (getattr(module, "embed_global", None) for module in model.modules())
    longest = getattr(config, "max_position_embeddings", None)
    return ModelTraits(
        "decoder_input_ids" in parameters and uses,
        next((t.num_embeddings for t in tables if isinstance(t, torch.nn.Embedding)), 0),
        frozenset(parameters),
        any(p.kind is p.VAR_KEYWORD for p in parameters.values()),
        longest if isinstance(longest, int) else None,
    )


def check_vocabulary(model: torch.nn.Module, ids: torch.Tensor | None) -> None:
    """Check that the model has an embedding of every token id, which its own errors do not say.

    Models whose embeddings have no plain table, such as hashed ones, take any id.

    Raises:
        ValueError: an id lies outside of the vocabulary.
    """
    try:
        size = getattr(model.get_input_embeddings(), "num_embeddings", None)  # type: ignore[operator]
    except (AttributeError, NotImplementedError):
        return
    if ids is None or type(size) is not int or not ids.numel():
        return
    largest = int(ids.max())
    if largest >= size:
        raise ValueError(
            f"the token ids do not fit the model's vocabulary: there is an id {largest:,}, and "
            f"{type(model).__name__} has {size:,} tokens; the tokenizer is likely another model's, "
            "so load both by the same name"
        )
