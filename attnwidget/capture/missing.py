"""The attention of a model that is not in its record, and why."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

import torch

from .recorder import RecordedCall

# But not the dense layer after it, which some models name so.
_IS_ATTENTION = re.compile(r"(attention|attn)(?!.*output$)", re.I)


def missing_attention(
    model: torch.nn.Module, calls: Sequence[RecordedCall], called: Set[str]
) -> list[str]:
    """ "module: reason" of each module that ran, and whose attention was not captured.

    Args:
        model: the model.
        calls: its calls of attention.
        called: the names of the modules that ran.
    """
    reasons = {call.address.module: call.reason for call in calls if call.reason}
    modules = {call.address.module for call in calls}
    for name, module in model.named_modules():
        if (
            name in called
            and _IS_ATTENTION.search(type(module).__name__)
            and not any(_related(name, other) for other in (*modules, *reasons))
        ):
            reasons[name] = f"{type(module).__name__} has no softmax that could be followed"
    return [f"{module or type(model).__name__}: {reason}" for module, reason in reasons.items()]


def _related(a: str, b: str) -> bool:
    """True if one module is the other, or contains it."""
    return f"{a}.".startswith(f"{b}.") or f"{b}.".startswith(f"{a}.") or not a


def no_attention(model: torch.nn.Module, missing: list[str]) -> str:
    """The error for a model of which nothing was captured."""
    if missing:
        return f"no attention of {type(model).__name__} could be captured: {'; '.join(missing[:5])}"
    return (
        f"{type(model).__name__} has no attention that could be seen: no softmax of torch's ran in "
        "it over products of queries and keys"
    )
