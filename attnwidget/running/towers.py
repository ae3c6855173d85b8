"""The part of a model that a module belongs to, as far as names tell."""

from __future__ import annotations

import functools
import re
from typing import Any

import torch

_CROSS = re.compile(r"cross|encoder_attn|encdec|enc_dec|encoder_decoder|encoder_attention", re.I)

# A module belongs to the first tower that a component of its name matches, from the outside in.
_TOWERS = (
    ("vision", re.compile(r"vision|visual|image|^vit$|pixel|siglip|video", re.I)),
    ("audio", re.compile(r"audio|speech|acoustic|wav", re.I)),
    ("qformer", re.compile(r"q_?former|perceiver|resampler", re.I)),
    ("text", re.compile(r"text|language_model|^llm$|^lm$", re.I)),
    # A block of Zamba, which decodes nothing, is called mamba_decoder.
    ("decoder", re.compile(r"(?<!mamba_)decoder", re.I)),
    ("encoder", re.compile(r"encoder", re.I)),
)


@functools.lru_cache(maxsize=4096)
def tower(module: str) -> str:
    """The tower of a module, by its name; "self" if the name does not tell."""
    for part in module.split("."):
        for name, pattern in _TOWERS:
            if pattern.search(part) and not _CROSS.search(part):
                return name
    return "self"


@functools.lru_cache(maxsize=4096)
def is_cross(module: str) -> bool:
    """True if a module's name says that it attends from one sequence to another."""
    parts = module.split(".")[-3:]
    # torch's own decoder layer has a self_attn and a multihead_attn.
    is_torch = parts[-1] == "multihead_attn" and tower(module) == "decoder"
    return is_torch or any(_CROSS.search(part) for part in parts)


# The towers of inputs that are no text.
_INPUTS = (
    ("vision", re.compile(r"pixel|image|visual|video", re.I)),
    ("audio", re.compile(r"input_features|input_values|audio|speech|wave|sound", re.I)),
)


def media_of(name: str) -> str | None:
    """The tower that reads an input of this name: "vision" or "audio"; None if it may be text."""
    return next((media for media, pattern in _INPUTS if pattern.search(name)), None)


# Inputs that say how others are read.
_NOT_READ = re.compile(
    r"mask|position|type_ids|labels|cache|past|mems|grid|sizes|lengths?$|ids_keep|bbox|boxes"
)


def is_read(name: str, value: Any) -> bool:
    """True if an input has the tokens, the pixels or the sound that a model reads."""
    if not isinstance(value, torch.Tensor) or value.ndim < 2 or value.dtype == torch.bool:
        return False
    return not _NOT_READ.search(name)


def is_target(name: str) -> bool:
    """True for an input with the tokens of a decoder."""
    return name.startswith("decoder_input")


# What the names of many inputs and masks have in common.
_OF_ALL = re.compile(r"inputs?|ids|embeds|tokens|attention|attn|key|padding|pad|mask|_")


def stem(name: str) -> str:
    """The part of an input's name that is also in that of its mask: "src" of "src_mask"."""
    return _OF_ALL.sub("", name.lower())
