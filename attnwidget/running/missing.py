"""Reports of a model's attention that is not in its record."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from types import FunctionType

import torch

from .model import is_foreign

# The names of attention classes, without those of the dense layer after it.
_IS_ATTENTION = re.compile(r"(attention|attn)(?!.*output$)", re.I)


# Why attention of a class has no softmax over keys, or none that belongs to single keys.
_WHY = (
    (r"deformable", "it averages values at points between the keys"),
    (r"linear|delta|lightning", "it is linear attention, whose coefficients are signed"),
    (r"mamba|ssm|rwkv|lru|lstm", "it is a recurrence"),
    (r"conv", "it is a convolution"),
    (r"reformer|lsh", "it sorts keys into chunks by random hashes"),
)


def missing_attention(
    model: torch.nn.Module,
    calls: Mapping[str, str],
    called: Set[str],
    products: Set[str],
    mixing: Sequence[str],
) -> list[str]:
    """List "module: reason" of the modules that mixed tokens without being captured.

    Args:
        model: the model.
        calls: the modules that called attention, with the reason why it was not read, or "".
        called: the names of the modules that ran.
        products: the names of those that multiplied two tensors of the model's own.
        mixing: those of modules that mix tokens without attention, see `mixing_modules`.
    """
    reasons = {module: reason for module, reason in calls.items() if reason}
    for name, module in model.named_modules():
        kind = type(module)
        # In code that was not compared here, a product may be that of queries and keys.
        if name not in called or any(_related(name, other) for other in (*calls, *reasons)):
            continue
        if is_foreign(kind) and (scripted := _scripted(module)):
            reasons[name] = f"{kind.__name__} runs {scripted}, TorchScript that cannot be followed"
        elif _IS_ATTENTION.search(kind.__name__) or (name in products and is_foreign(kind)):
            why = _why(kind.__name__)
            reasons[name] = f"{kind.__name__} has no softmax that could be followed{why}"
    for name in mixing:
        if not any(_related(name, other) for other in (*calls, *reasons)):
            mixer = type(model.get_submodule(name)).__name__
            reasons[name] = f"{mixer} mixes tokens by no softmax{_why(mixer)}"
    return [f"{module or type(model).__name__}: {reason}" for module, reason in reasons.items()]


def _scripted(module: torch.nn.Module) -> str:
    """The TorchScript with a softmax that a module runs, or ""."""
    parts: dict[str, object] = dict(module.named_children())
    for own in vars(type(module)).values():
        if isinstance(own, FunctionType):
            parts |= {name: own.__globals__.get(name) for name in own.__code__.co_names}
    of_script = torch.jit.ScriptModule, torch.jit.ScriptFunction
    return next(
        (
            name
            for name, part in parts.items()
            if isinstance(part, of_script) and "softmax" in str(part.inlined_graph)
        ),
        "",
    )


def _why(name: str) -> str:
    why = next((why for part, why in _WHY if re.search(part, name, re.I)), None)
    return f": {why}" if why else ""


def _related(a: str, b: str) -> bool:
    """True if the modules of these names are the same, or one contains the other."""
    return f"{a}.".startswith(f"{b}.") or f"{b}.".startswith(f"{a}.") or not a


def no_attention(model: torch.nn.Module, missing: Sequence[str]) -> str:
    """The error message for a model without captured attention."""
    if missing:
        return f"no attention of {type(model).__name__} could be captured: {'; '.join(missing[:5])}"
    return (
        f"{type(model).__name__} has no attention that could be seen: no softmax of torch's ran in "
        "it over products of queries and keys"
    )
