"""The state of a model, to tell if it has changed."""

from __future__ import annotations

from typing import Any

import torch

State = tuple[dict[str, torch.Tensor], dict[str, Any]]


def state_of(model: torch.nn.Module) -> State:
    """Parameters and buffers; and hooks, flags, attributes, and gradients by module."""
    tensors = {
        name: t.detach().clone() for name, t in (*model.named_parameters(), *model.named_buffers())
    }
    return tensors, _rest(model)


def changed_state(model: torch.nn.Module, before: State) -> str:
    """The first thing that is not as before; "" if all is."""
    tensors, rest = before
    now = dict((*model.named_parameters(), *model.named_buffers()))
    if now.keys() != tensors.keys():
        return "parameters or buffers come or go"
    for name, tensor in tensors.items():
        if not torch.equal(torch.nan_to_num(tensor), torch.nan_to_num(now[name].detach())):
            return f"{name} differs"
    return next((name for name, value in _rest(model).items() if rest.get(name) != value), "")


def _rest(model: torch.nn.Module) -> dict[str, Any]:
    return {
        **{
            f"module {name}": (
                module.training,
                sorted(vars(module)),
                [len(v) for k, v in vars(module).items() if "hooks" in k and isinstance(v, dict)],
            )
            for name, module in model.named_modules()
        },
        **{f"gradient {n}": (p.requires_grad, p.grad is None) for n, p in model.named_parameters()},
    }
