"""The model's own attention, with a check that it can serve as a reference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from benchmarks import bands, zoo

# A row of a softmax sums to one up to rounding.
SUM = 1e-4

_POINTS = "weights of sampling points (deformable attention), not of positions"

_BEFORE_SINK = "from before the sink takes its part of each row"

# Outputs that transformers returns as attention although the model does not multiply its values
# with them. Part of a field's name -> why.
_NOT_THE_ATTENTION: dict[str, dict[str, str]] = {
    "cpmant": {"attentions": "the positions of the prompt are cut off"},
    "d_fine": {"cross": _POINTS},
    "deformable_detr": {"encoder": _POINTS, "cross": _POINTS},
    "deimv2": {"cross": _POINTS},
    "granite_swa": {"attentions": _BEFORE_SINK},
    "granitemoe_swa": {"attentions": _BEFORE_SINK},
    "lw_detr": {"cross": _POINTS},
    "pp_doclayout_v2": {"cross": _POINTS},
    "pp_doclayout_v3": {"cross": _POINTS},
    "pp_doclayout_v4": {"cross": _POINTS},
    "prophetnet": {"attentions": "scores from before the softmax"},
    "rf_detr": {"cross": _POINTS},
    "rt_detr": {"cross": _POINTS},
    "rt_detr_v2": {"cross": _POINTS},
    "sam": {"mask_decoder": "not probabilities"},
    "squeezebert": {"attentions": "scores from before the softmax"},
    "t5gemma2": {"decoder": "one softmax over self- and cross-attention, split in two"},
    "wavlm": {"attentions": "every head holds the average of all heads"},
}


@dataclass(frozen=True)
class Reference:
    """One layer's attention as transformers returns it.

    Attributes:
        field: where in the output it stands, e.g. "encoder_attentions".
        index: its place in that field.
        layouts: float32 [blocks, heads, Tq, Tk]; a block is a batch row, a window or a chunk. Two
            of them where the model does not say which axis is which.
        wrong: why it is not the attention, or "" if it can be trusted.
        rounding: its distance from float64, if that was asked for.
    """

    field: str
    index: int
    layouts: tuple[np.ndarray, ...]
    wrong: str
    rounding: float = 0.0

    def __str__(self) -> str:
        return f"{self.field}[{self.index}] {list(self.layouts[0].shape)}"


def references(name: str, built: zoo.Built) -> list[Reference]:
    """The attentions of a model built with eager attention, in the order of its output."""
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(0)
        try:
            output = built.model(**built.inputs, output_attentions=True)
        except TypeError:
            built.model.config.output_attentions = True
            output = built.model(**built.inputs)
    output = bands.whole(name, built.inputs, output)
    seen: set[int] = set()
    found: list[Reference] = []
    for field, tensor in _attentions(output):
        if tensor.data_ptr() in seen or tensor.ndim < 4:
            continue
        seen.add(tensor.data_ptr())
        layouts = _layouts(tensor.detach().float().numpy())
        index = sum(other.field == field for other in found)
        wrong = _known(name, field) or not_a_softmax(layouts[0], has_sinks(built.model))
        found.append(Reference(field, index, layouts, wrong))
    return found


def _layouts(tensor: np.ndarray) -> tuple[np.ndarray, ...]:
    weights = tensor.reshape(-1, *tensor.shape[-3:])
    if tensor.ndim == 4:
        return (weights,)
    # [1, blocks, heads, ...] or [1, heads, blocks, ...]
    return weights, weights.transpose(1, 0, 2, 3)


def _attentions(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, torch.Tensor]]:
    """Every tensor in the attention fields of an output."""
    if isinstance(value, torch.Tensor):
        if any("attention" in part or "attn" in part for part in path):
            yield ".".join(path), value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _attentions(inner, (*path, str(name)))
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _attentions(inner, path)


def _known(name: str, field: str) -> str:
    return next(
        (why for part, why in _NOT_THE_ATTENTION.get(name, {}).items() if part in field), ""
    )


def has_sinks(model: torch.nn.Module) -> bool:
    """True if a part of each row may go to no token."""
    return any("sink" in name for name, _ in model.named_parameters())


def not_a_softmax(weights: np.ndarray, sinks: bool) -> str:
    """The reason why rows are no probabilities, or ""."""
    if not np.isfinite(weights).all():
        return "not finite"
    if weights.min() < -SUM or weights.max() > 1 + SUM:
        return "not probabilities"
    sums = weights.sum(-1)
    # A row that sees no token is left at zero.
    one = np.abs(sums - 1) < SUM
    if not (one | (sums < SUM) | sinks).all():
        return f"rows sum to {sums[~one].min():.2g} to {sums.max():.2g}"
    return ""
