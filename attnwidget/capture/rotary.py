"""The pairs of components that a rotary embedding rotates, as the model's own functions do it."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, TypeAlias

import torch

from attnwidget.record import Pairs, Rotary
from attnwidget.tracing import Call, is_attention

# Functions of modeling files for x cos + rotated(x) sin; some files rotate in other ways.
_FUNCTIONS = ("rotate_half", "rotate_every_two", "rotate_pairwise")
# 1 to 4, rotated.
_PAIRS: dict[tuple[float, ...], Pairs] = {(-3, -4, 1, 2): "halves", (-2, 1, -4, 3): "neighbours"}


# The pairs that a call has rotated, None if they are not known, and its width.
Rotation: TypeAlias = tuple[Pairs | None, int]


class Rotations:
    """The rotations by these functions since the latest attention call."""

    def __init__(self, model: torch.nn.Module) -> None:
        self._files = {type(each).__module__ for each in model.modules() if is_attention(each)}
        self._rotated: list[Rotation] = []

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Watch the functions within this context."""
        with ExitStack() as undo:
            for file in filter(None, map(sys.modules.get, self._files)):
                for name in _FUNCTIONS:
                    function = getattr(file, name, None)
                    if callable(function) and not isinstance(function, type):
                        undo.callback(setattr, file, name, function)
                        setattr(file, name, self._watching(function))
            yield

    def _watching(self, function: Callable[..., Any]) -> Callable[..., Any]:
        pairs = _pairs(function)

        @functools.wraps(function)
        def watching(*args: Any, **options: Any) -> Any:
            rotated = function(*args, **options)
            given = (*args, *options.values())
            # A further argument may choose other pairs.
            alone = len(given) == 1 and isinstance(given[0], torch.Tensor)
            self._rotated.append((pairs, given[0].shape[-1]) if alone else (None, 0))
            return rotated

        return watching

    def taken(self) -> list[Rotation]:
        """The rotations, which are then forgotten."""
        found, self._rotated = self._rotated, []
        return found


def _pairs(function: Callable[..., Any]) -> Pairs | None:
    try:
        four = function(torch.arange(1.0, 5.0)[None, None, None])
        return _PAIRS.get(tuple(four.flatten().tolist()))
    except Exception:  # the function is the model's own, and may take anything
        return None


def rotary(found: list[Rotation], call: Call, width: int) -> Rotary | None:
    """The pairs of the queries and keys, of this width, that a call has received."""
    # Queries and keys; more of them would be parts.
    if not 0 < len(found) <= 2 or found[0] != found[-1] or found[0][1] > width:
        return None
    pairs, dims = found[0]
    # In latent attention, the last components are rotated; else the first.
    last = getattr(call.module, "qk_rope_head_dim", None) == dims
    return Rotary(pairs, dims, width - dims if last else 0) if pairs else None
