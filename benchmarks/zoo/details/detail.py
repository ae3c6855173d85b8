"""The details of one architecture, beyond the rules for all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from benchmarks.zoo.ids import ids

# model -> some of its inputs.
Make = Callable[[Any], dict[str, Any]]


@dataclass(frozen=True)
class Detail:
    """
    Attributes:
        config: field -> value, as in `shrink`; also used wherever this configuration lies inside
            another one.
        inputs: the model -> inputs that go before the made ones; None leaves one out.
        model: the name of the class to build instead of the base model.
        part: the field of the configuration that `model` takes, where it takes a part.
    """

    config: Mapping[str, Any] = field(default_factory=dict)
    inputs: Make | None = None
    model: str | None = None
    part: str | None = None


def given(**inputs: Any) -> Make:
    """These inputs as they are."""
    return lambda model: dict(inputs)


def normal(**shapes: tuple[int, ...]) -> Make:
    """Normal noise of these shapes."""
    return lambda model: {name: torch.randn(shape) for name, shape in shapes.items()}


def tokens(**lengths: int) -> Make:
    """Token ids [1, length]."""
    return lambda model: {name: ids(length) for name, length in lengths.items()}


def ones(**shapes: tuple[int, ...]) -> Make:
    """Masks that hide nothing."""
    return lambda model: {
        name: torch.ones(shape, dtype=torch.long) for name, shape in shapes.items()
    }


def each(*makes: Make) -> Make:
    """All of these inputs."""
    return lambda model: {name: value for make in makes for name, value in make(model).items()}


def rope(*section: int, **more: Any) -> dict[str, Any]:
    """Rotary positions in three axes, whose sections add up to half a head."""
    parameters = {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [*section], **more}
    return {"rope_parameters": parameters}
