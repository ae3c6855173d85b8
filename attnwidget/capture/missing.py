"""Attention that is not in a record must not be taken for absent: what it is, and why."""

from __future__ import annotations

import re

import torch

from .run import Observed

# But not the dense layer after it, which some models name so.
_IS_ATTENTION = re.compile(r"(attention|attn)(?!.*output$)", re.I)


def missing_attention(model: torch.nn.Module, observed: Observed) -> list[str]:
    """Of each module that ran, and whose attention was not captured: "module: reason"."""
    reasons: dict[str, str] = {}
    for seen in observed.calls:
        if seen.reason:
            reasons[seen.module] = seen.reason
    seen_modules = {seen.module for seen in observed.calls}
    for name, module in model.named_modules():
        if (
            name in observed.called
            and _IS_ATTENTION.search(type(module).__name__)
            and not any(_related(name, other) for other in (*seen_modules, *reasons))
        ):
            reasons[name] = f"{type(module).__name__} has no softmax that could be followed"
    return [f"{module or type(model).__name__}: {reason}" for module, reason in reasons.items()]


def _related(a: str, b: str) -> bool:
    """Whether one module is the other, or contains it."""
    return f"{a}.".startswith(f"{b}.") or f"{b}.".startswith(f"{a}.") or not a


def no_attention(model: torch.nn.Module, missing: list[str]) -> str:
    """The error for a model of which nothing was captured."""
    if missing:
        return f"no attention of {type(model).__name__} could be captured: {'; '.join(missing[:5])}"
    return (
        f"{type(model).__name__} has no attention that could be seen: no softmax of torch's ran in "
        "it over products of queries and keys"
    )
