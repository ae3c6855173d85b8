"""An edge that is cut by hand: the softmax within a module gets -inf for it."""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from attnwidget.interventions.sites import Site


class Hidden(TorchFunctionMode):
    """Gives the softmax of a module's scores -inf for one edge of a head.

    Attributes:
        found: True if there was such a softmax.
    """

    def __init__(
        self, module: torch.nn.Module, site: Site, edge: tuple[int, int], lengths: tuple[int, int]
    ) -> None:
        super().__init__()
        self.found = False
        self._site, self._edge, self._lengths = site, edge, lengths
        self._running = self._call = 0
        self._module = module

    def __enter__(self) -> Hidden:
        def enter(*_: Any) -> None:
            self._running += 1

        def leave(*_: Any) -> None:
            self._running -= 1

        self._hooks = [
            self._module.register_forward_pre_hook(enter),
            self._module.register_forward_hook(leave),
        ]
        super().__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        for hook in self._hooks:
            hook.remove()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", "")
        # Sinks that scale outputs take the logarithm of the softmax's sum beside it.
        if self._running and name in ("softmax", "logsumexp"):
            logits = args[0] if args else kwargs["input"]
            if self._is_scores(logits):
                if self._call == self._site.call:
                    logits = logits.clone()
                    heads = logits.reshape(-1, self._site.heads, *logits.shape[-2:])
                    heads[:, self._site.heads // 2, self._edge[0], self._edge[1]] = -torch.inf
                    logits = heads.reshape(logits.shape)
                    self.found = True
                self._call += name == "softmax"
                if args:
                    args = (logits, *args[1:])
                else:
                    kwargs = {**kwargs, "input": logits}
        return func(*args, **(kwargs or {}))

    def _is_scores(self, logits: torch.Tensor) -> bool:
        shape, heads = logits.shape, self._site.heads
        if len(shape) not in (3, 4) or shape[-2] != self._lengths[0]:
            return False
        return shape[-1] >= self._lengths[1] and (shape[1] == heads or shape[0] % heads == 0)
