"""The modules that mix tokens without an attention that is captured, found by changing a token.

Of hybrid models, some layers are no softmax: recurrences, convolutions, Fourier transforms. Names
of classes do not say which. So a few tokens are read again, in the end with another word in
one place, while all attention returns what it did the first time: a module that was given the
others unchanged and changes them has mixed them.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from itertools import pairwise
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import torch
from torch import nn

from attnwidget.tracing import (
    Address,
    Handler,
    PassEnded,
    Read,
    is_changed,
    trace,
    undisturbed,
)

from .model import device_of, is_offloaded, run, state_kept, traits

_Modules: TypeAlias = "tuple[tuple[str, type], ...]"

# The tokens that are read; fewer leave too little to compare.
_MOST, _LEAST = 12, 4
# Relative to the largest number of an output.
_CHANGED = 1e-5

# Of a model: its modules then, and those that mixed tokens.
_known: WeakKeyDictionary[nn.Module, tuple[_Modules, tuple[str, ...]]] = WeakKeyDictionary()


def mixing_modules(model: nn.Module, tensors: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the innermost modules that mix tokens other than by captured attention.

    They are found once for a model, with a few tokens of the first text, and again after modules
    were replaced.

    Args:
        tensors: the model's inputs, of which token ids are read.

    Returns:
        None of a model that does not read token ids alone, or that must not be stopped midway; and
        of a text of fewer than four different tokens.
    """
    modules = tuple((name, type(module)) for name, module in model.named_modules())
    if model not in _known or _known[model][0] != modules:
        ids = _some_ids(tensors.get("input_ids"))
        # Interventions around this are not to see passes of other words.
        if ids is None or is_offloaded(model) or is_changed():
            return ()
        _known[model] = modules, _found(model, ids)
    return _known[model][1]


def _some_ids(ids: Any) -> torch.Tensor | None:
    """Different tokens of a text, [1, tokens]."""
    if not isinstance(ids, torch.Tensor) or ids.ndim != 2 or ids.is_floating_point():
        return None
    row = ids[0].tolist()
    # One after the other, they are padding, or stand for an image.
    repeated = {one for one, other in pairwise(row) if one == other}
    kept = [token for token in dict.fromkeys(row) if token not in repeated][:_MOST]
    return ids.new_tensor([kept]) if len(kept) >= _LEAST else None


def _found(model: nn.Module, ids: torch.Tensor) -> tuple[str, ...]:
    place = ids.shape[1] // 3
    other = ids.clone()
    other[0, place] = ids[0, place + 1]
    device = device_of(model)
    watch = _Watch(ids.shape[1], place)
    try:
        with (
            torch.random.fork_rng([device] if device.type == "cuda" else []),
            undisturbed(model),
            state_kept(model),
            ExitStack() as undo,
        ):
            watch.begin(model, undo)
            # The second pass tells what is never the same.
            for each in (ids, ids, other):
                torch.manual_seed(0)
                watch.again()
                with suppress(PassEnded), trace(model, watch, 1, changes=True):
                    run(model, _inputs(model, each))
    except Exception:  # it takes no ids alone
        return ()
    return tuple(watch.found)


def _inputs(model: nn.Module, ids: torch.Tensor) -> dict[str, Any]:
    inputs: dict[str, Any] = {"input_ids": ids}
    kind = traits(model)
    if kind.has_decoder:
        inputs["decoder_input_ids"] = ids
    if "use_cache" in kind.parameters:
        inputs["use_cache"] = False
    return inputs


class _Watch(Handler):
    """Compares what modules get and return with the first pass, and restores other tokens.

    Every attention returns once more what it did in the first pass.

    Attributes:
        found: the modules that mix tokens.
    """

    def __init__(self, length: int, place: int) -> None:
        self.found: dict[str, None] = {}
        self._length = length
        self._others = [n for n in range(length) if n != place]
        self._attention: dict[Address, torch.Tensor] = {}
        self._first: dict[tuple[str, int], tuple[list[torch.Tensor], torch.Tensor]] = {}
        self._unsteady: set[str] = set()
        self._passes = 0
        self._calls: Counter[str] = Counter()

    def begin(self, model: nn.Module, undo: ExitStack) -> None:
        """Watch all modules within a model until `undo` closes."""
        for name, module in model.named_modules():
            if name:
                hook = functools.partial(self._left, name)
                undo.callback(module.register_forward_hook(hook, with_kwargs=True).remove)

    def again(self) -> None:
        """Begin a pass."""
        self._passes += 1
        self._calls.clear()

    def attention(self, address: Address, read: Read) -> torch.Tensor | None:
        if self._passes > 1:
            return self._attention.get(address)
        with suppress(ValueError):  # its layout is not known
            output = read().passed_on
            if output is not None:
                self._attention[address] = output.clone()
        return None

    def module_left(self, module: nn.Module, output: Any, parent: nn.Module | None) -> None:
        if parent is None:  # nobody else is to see the output
            raise PassEnded

    def _left(
        self, name: str, module: nn.Module, args: Any, named: Mapping[str, Any], output: Any
    ) -> Any:
        call = name, self._calls[name]
        self._calls[name] += 1
        given = self._of_tokens([*args, *named.values()])
        first = output[0] if isinstance(output, tuple) and output else output
        if not self._of_tokens([first]):
            return None
        if self._passes == 1:
            self._first[call] = [each.clone() for each in given], first.clone()
            return None
        before, wanted = self._first.get(call, ([], None))
        # What a module reads of another length has mixed before it.
        if not given or len(given) != len(before) or wanted is None:
            return None
        if any(map(self._differ, given, before)) or not self._differ(first, wanted):
            return None
        # All numbers of a quantized layer share one scale, so that rounding alone mixes them.
        if not type(module).__module__.startswith("torch.ao."):
            if self._passes == 2:
                self._unsteady.add(name)
            elif name not in self._unsteady:
                self.found[name] = None
        restored = first.clone()
        restored[:, self._others] = wanted[:, self._others]
        return (restored, *output[1:]) if isinstance(output, tuple) else restored

    def _of_tokens(self, values: Sequence[Any]) -> list[torch.Tensor]:
        """The tensors of [1, tokens, ...]."""
        return [
            each
            for each in values
            if isinstance(each, torch.Tensor)
            and each.ndim >= 2
            and each.shape[:2] == (1, self._length)
        ]

    def _differ(self, one: torch.Tensor, other: torch.Tensor) -> bool:
        """True if a token other than the changed one differs."""
        if one.shape != other.shape:
            return False
        largest = float(other.abs().max()) if other.is_floating_point() else 0.0
        change = (one[:, self._others].double() - other[:, self._others].double()).abs().max()
        return bool(change > _CHANGED * largest)
