"""Where a model is."""

from __future__ import annotations

import torch


def device_of(model: torch.nn.Module) -> torch.device:
    """Where inputs go. Offloaded parameters are on "meta" until their module runs."""
    devices = (p.device for p in model.parameters() if p.device.type != "meta")
    return next(devices, torch.device("cpu"))
