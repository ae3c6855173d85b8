"""The pairs of components that a rotary embedding rotates, as the model's own functions do it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch

from attnwidget.record import Pairs, Rotary
from attnwidget.tracing import Call, is_attention

# The functions of modeling files that give x2 cos + x1 sin its other half: (x1, x2) -> (-x2, x1).
_FUNCTIONS = ("rotate_half", "rotate_every_two", "rotate_pairwise")


class Rotations:
    """Watches these functions while a model runs."""

    def __init__(self, model: torch.nn.Module) -> None:
        self._files = {
            type(module).__module__ for module in model.modules() if is_attention(module)
        }
        self._thread = threading.get_ident()
        # (pairs, dims) of each rotation since the last attention call.
        self._rotated: list[tuple[Pairs | None, int]] = []

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Watch the functions within this context."""
        with ExitStack() as undo:
            for file in (sys.modules[name] for name in self._files):
                for name in _FUNCTIONS:
                    if (function := getattr(file, name, None)) is not None:
                        undo.callback(setattr, file, name, function)
                        setattr(file, name, self._watching(function))
            yield

    def _watching(self, function: Callable[..., Any]) -> Callable[..., Any]:
        pairs = _pairs(function)

        def watching(x: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            if threading.get_ident() == self._thread:
                self._rotated.append((pairs, x.shape[-1]))
            return function(x, *args, **kwargs)

        return watching

    def rotary(self, call: Call, width: int) -> Rotary | None:
        """The pairs of the queries and keys, of this width, that a call has just received."""
        rotated, self._rotated = self._rotated, []
        # Queries and keys; more of them are rotated in parts.
        if not 0 < len(rotated) <= 2 or len(set(rotated)) > 1:
            return None
        pairs, dims = rotated[0]
        if pairs is None or dims > width or dims % 2:
            return None
        # In latent attention, the last components are rotated; else the first.
        last = getattr(call.module, "qk_rope_head_dim", None) == dims
        return Rotary(pairs, dims, width - dims if last else 0)


def _pairs(function: Callable[..., Any]) -> Pairs | None:
    """The pairs of a function that rotates by a right angle."""
    try:
        turned = function(torch.arange(1.0, 9.0)[None, None, None])[0, 0, 0].tolist()
    except Exception:  # it takes something else
        return None
    ways: dict[Pairs, list[float]] = {
        "halves": [-5, -6, -7, -8, 1, 2, 3, 4],
        "neighbours": [-2, 1, -4, 3, -6, 5, -8, 7],
    }
    return next((pairs for pairs, expected in ways.items() if turned == expected), None)
