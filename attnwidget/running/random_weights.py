"""A model of the same architecture that has learnt nothing."""

from __future__ import annotations

import copy

import torch
from transformers import PreTrainedModel

from .model import device_of


def with_random_weights(model: torch.nn.Module, seed: int) -> torch.nn.Module:
    """A newly initialised model of the same architecture; `model` is not changed.

    Raises:
        ValueError: a module of the model cannot be initialised.
    """
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        if isinstance(model, PreTrainedModel):
            config = copy.deepcopy(model.config)
            attention = model.config._attn_implementation
            fresh: torch.nn.Module = type(model)._from_config(config, attn_implementation=attention)
        else:
            fresh = copy.deepcopy(model)
            for name, module in fresh.named_modules():
                _initialize(name, module)
    placed = getattr(model, "hf_device_map", {})
    if len(set(placed.values())) < 2:
        return fresh.to(device_of(model), getattr(model, "dtype", None))
    if "disk" in placed.values():
        raise ValueError(
            "a part of the model is on disk, so there is no null with random weights; use other "
            'nulls, such as null="position", or None'
        )
    from accelerate import dispatch_model

    dispatched: torch.nn.Module = dispatch_model(
        fresh.to(dtype=getattr(model, "dtype", None)), dict(placed)
    )
    return dispatched


def _initialize(name: str, module: torch.nn.Module) -> None:
    """Give a module's own parameters new values."""
    if not any(True for _ in module.parameters(recurse=False)):
        return
    for method in ("reset_parameters", "_reset_parameters"):
        if hasattr(module, method):
            getattr(module, method)()
            return
    raise ValueError(
        f"{name or type(module).__name__} has parameters of its own and no reset_parameters, so "
        'there is no null with random weights; use null="shuffled" or null=None'
    )
