"""Random weights under which attention is far from uniform."""

from __future__ import annotations

import math

import torch
from torch.nn.modules.conv import _ConvNd

# With inputs of size one, queries and keys of this gain give scores with a spread of two.
GAIN = 1.4


def randomize(model: torch.nn.Module, seed: int) -> None:
    """Redraw all matrices, biases and position tables; the usual 0.02 leaves attention flat.

    What scales or shifts alone stays as it is: models keep much in vectors that has to stay in a
    range (decays, time steps, norms).
    """
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for module in model.modules():
            for name, parameter in module.named_parameters(recurse=False):
                std = _spread(module, name, parameter)
                if std is not None:
                    parameter.normal_(0.0, std, generator=generator)


def _spread(module: torch.nn.Module, name: str, parameter: torch.nn.Parameter) -> float | None:
    """The standard deviation to draw with, or None to keep the values."""
    if not parameter.is_floating_point() or not parameter.numel():
        return None
    if parameter.ndim >= 2:
        if (parameter == 1).all():
            return None
        # A stack of matrices, as experts have, is [number, in or out, out or in].
        stacked = parameter.ndim == 3 and not isinstance(module, _ConvNd)
        fan_in = parameter.shape[-1] if stacked else parameter[0].numel()
        return (1.0 if isinstance(module, _ConvNd) else GAIN) / math.sqrt(fan_in)
    if "sink" in name:
        return 1.0
    return 0.1 if name.endswith("bias") else None
