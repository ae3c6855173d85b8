"""The comparison of one pass over a generated text with its generation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import torch

from attnwidget.record import Replay, Written
from attnwidget.tracing import is_changed

from .inputs import Inputs
from .model import has_soft_prompt

# The largest difference of logits with which an answer is recorded: of one logit; and in half
# precision, which may send a token to other experts, of most tokens.
_ALLOWED, _ALLOWED_IN_HALF = 1e-4, 8e-2
# The largest that counts as rounding alone.
_ROUNDING = 1e-5
_IN_HALF = "it computes in half precision, which rounds each pass in its own way"


class NotReplayed(ValueError):
    """One pass over a generated text has other logits than its generation, or none."""


@dataclass(frozen=True)
class Answer:
    """A text that a model has generated.

    Attributes:
        ways: inputs of one pass over the prompt and the answer, without its last token, which the
            model has not read; the first with which logits are those of the generation counts.
        logits: of the generation, for each token of the answer, [vocabulary].
        written: its tokens; none where they are not known.
    """

    ways: tuple[Callable[[], Inputs], ...]
    logits: Sequence[torch.Tensor]
    written: tuple[Written, ...] = ()

    def replay(self, model: torch.nn.Module, inputs: Inputs, output: Any) -> Replay:
        """The distance of the logits of that one pass from those of the generation.

        Raises:
            NotReplayed: they differ by more than rounding, so that the pass is no record of it.
        """
        found = getattr(output, "logits", None)
        name, batch, count = type(model).__name__, inputs.batch, len(self.logits)
        if not isinstance(found, torch.Tensor) or found.ndim != 3:
            raise NotReplayed(f"{name} returns no logits to compare")
        if found.shape[0] != batch.size or found.shape[1] < count:
            raise NotReplayed(
                f"{name} returns logits of shape {list(found.shape)} for an answer of {count} "
                "tokens"
            )
        difference, typical = _differences(found[batch.index, -count:], self.logits)
        half = in_half_precision(model)
        allowed, compared = (_ALLOWED_IN_HALF, typical) if half else (_ALLOWED, difference)
        recorded = compared <= allowed and isfinite(difference)
        if difference <= _ROUNDING:
            reason = ""
        else:
            reason = _IN_HALF if half and recorded else _reason(model, half)
        if not recorded:
            of = "of the logits of most tokens" if half else "of the largest"
            raise NotReplayed(
                f"the answer of {name} has no single attention: in one pass over all of it, logits "
                f"differ from those of its generation by {compared:.1e} {of}: {reason}"
            )
        return Replay(difference, allowed, reason, typical, self.written)


def _differences(found: torch.Tensor, own: Sequence[torch.Tensor]) -> tuple[float, float]:
    """The largest difference of a logit, and that of most tokens; NaN if a logit is.

    The first is relative to the largest logit, the second is the median over the tokens of
    |found - own| / |own|.
    """
    rows = []
    for again, logits in zip(found, own, strict=True):
        width = min(len(again), len(logits))
        again, logits = again[:width].to(logits.device).float(), logits[:width].float()
        apart = (again - logits).masked_fill(again == logits, 0)  # both may be infinite
        finite = logits.masked_fill(~logits.isfinite(), 0)
        sizes = (apart.abs().max(), finite.abs().max(), apart.norm(), finite.norm())
        rows.append(torch.stack(sizes))
    largest, size, length, whole = torch.stack(rows).clamp(min=1e-30).unbind(1)
    return float(largest.max() / size.max()), float((length / whole).quantile(0.5))


def in_half_precision(model: torch.nn.Module) -> bool:
    """True if a part of a model computes in 16 bits."""
    devices = {parameter.device.type for parameter in model.parameters()}
    return any(torch.is_autocast_enabled(device) for device in devices - {"meta"}) or any(
        parameter.dtype in (torch.float16, torch.bfloat16) for parameter in model.parameters()
    )


def _is_quantised(model: torch.nn.Module) -> bool:
    config = getattr(model, "config", None)
    return getattr(config, "quantization_config", None) is not None or any(
        type(module).__module__.startswith("torch.ao.nn.quantized") for module in model.modules()
    )


def _reason(model: torch.nn.Module, half: bool) -> str:
    """The reason why one pass over all tokens computes other logits than one pass for each."""
    config = getattr(model, "config", None)
    config = getattr(config, "get_text_config", lambda: config)()
    rope = getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None) or {}
    kinds = {
        str(each.get("rope_type", "")) for each in (rope, *rope.values()) if isinstance(each, dict)
    }
    for kind in ("dynamic", "longrope"):
        if kind in kinds:
            return f"its rotary embedding ({kind}) depends on the length of what it reads"
    if any("capacity" in name for name in getattr(config, "__dict__", {})):
        return "its experts have room for a number of tokens that depends on the length"
    if has_soft_prompt(model):
        return "its soft prompt is read again with each token that it generates"
    if is_changed():
        return "it is changed by intervene, which acts on each pass by itself"
    if _is_quantised(model):
        return "it is quantised, which may round each pass by a scale of its own"
    if half:
        return _IN_HALF
    return (
        "for a reason that is not known: what a token sees may depend on how much is read at once, "
        "or each pass reads tokens of its own"
    )
