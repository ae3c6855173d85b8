"""Inputs for any model, from the parameters that its forward method takes."""

from __future__ import annotations

import inspect
from typing import Any

from transformers import PreTrainedModel

from .images import IMAGES
from .sound import SOUND
from .text import TEXT


def make(model: PreTrainedModel, given: dict[str, Any]) -> dict[str, Any]:
    """Inputs of batch 1 without padding, drawn from torch's global generator.

    `given` goes before what would be made; a None in it leaves a parameter out.
    """
    takes = inspect.signature(model.forward).parameters
    inputs = dict(given)
    # Text is last, because its image and audio tokens depend on the other inputs.
    for name, maker in {**IMAGES, **SOUND, **TEXT}.items():
        if name in takes and name not in inputs:
            inputs[name] = maker(model, inputs)
    return {name: value for name, value in inputs.items() if value is not None}
