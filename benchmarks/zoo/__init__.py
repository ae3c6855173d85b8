"""A tiny random model of every architecture that transformers can build offline, with inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from zlib import crc32

import torch
import transformers
from transformers import PreTrainedModel

from . import inputs
from .classes import config_class, decoder_class, decoders, model_class, names
from .details import detail
from .shrink import shrink
from .weights import randomize

__all__ = ["Built", "CannotBuild", "build", "build_decoder", "decoders", "names"]


class CannotBuild(Exception):
    """An architecture that cannot be built here; the message says why."""


@dataclass(frozen=True)
class Built:
    """A model in evaluation mode and float32, and inputs on which it runs."""

    model: PreTrainedModel
    inputs: dict[str, Any]


def build(name: str, attention: str | None = None) -> Built:
    """Build a model; the same name always gives the same weights and inputs.

    Args:
        name: one of `names()`.
        attention: the attn_implementation; None leaves the model's own default.

    Raises:
        CannotBuild: the model cannot be built or does not run.
    """
    seed = crc32(name.encode())
    try:
        with torch.random.fork_rng(), torch.no_grad():
            torch.manual_seed(seed)
            model = _model(name, attention)
            randomize(model, seed)
            torch.manual_seed(seed)
            given = detail(name).inputs
            made = inputs.make(model, given(model) if given else {})
            model(**made)
    except Exception as error:
        raise CannotBuild(f"{type(error).__name__}: {error}") from error
    return Built(model, made)


def build_decoder(name: str, *, tokens: int = 9) -> Built:
    """Build a model that predicts next tokens, with so many tokens as its input.

    Args:
        name: one of `decoders()`.

    Raises:
        CannotBuild: the model cannot be built or does not run.
    """
    seed = crc32(name.encode())
    try:
        with torch.random.fork_rng(), torch.no_grad():
            torch.manual_seed(seed)
            config = shrink(config_class(name)())
            part = detail(name).part
            made = decoder_class(name)._from_config(
                getattr(config, part) if part else config, dtype=torch.float32
            )
            model: PreTrainedModel = made.eval()
            randomize(model, seed)
            given = {"input_ids": torch.randint(3, 60, (1, tokens))}
            model(**given)
    except Exception as error:
        raise CannotBuild(f"{type(error).__name__}: {error}") from error
    return Built(model, given)


def _model(name: str, attention: str | None) -> PreTrainedModel:
    special = detail(name)
    config = shrink(config_class(name)())
    if special.part:
        config = getattr(config, special.part)
    made_by = getattr(transformers, special.model) if special.model else model_class(name)
    options = {} if attention is None else {"attn_implementation": attention}
    model: PreTrainedModel = made_by._from_config(config, dtype=torch.float32, **options)
    model.eval()
    return model
