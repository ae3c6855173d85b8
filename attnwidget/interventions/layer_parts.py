"""The parts that layers add to their stream, found by numbers.

A pass over the first inputs, on a thread of its own that no trace sees, tells which modules return
what the stream then is the sum of.
"""

from __future__ import annotations

import copy
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Any, NamedTuple

import torch
from torch.utils._pytree import tree_map

from attnwidget.tracing import undisturbed

from .streams import first_of, stream_in

# Sums are recognised by so many items and tokens.
_ITEMS, _TOKENS = 2, 16


class PartCall(NamedTuple):
    """A module within a layer, and the number of its call there."""

    module: torch.nn.Module
    number: int


@dataclass(frozen=True)
class Part:
    """A part that a layer adds to the stream.

    Attributes:
        call: that which returns it.
        scale: the factor by which the layer multiplies it.
        stack: of the attention that it comes from; None for another part.
        after: the call that returns the stream with this part; None if no module does.
        alone: True if the stream with this part alone exists.
    """

    call: PartCall
    scale: float
    stack: str | None
    after: PartCall | None = None
    alone: bool = False


def find_parts(
    runner: torch.nn.Module,
    name: str,
    members: Sequence[torch.nn.Module],
    stacks: Mapping[int, str],
    args: Any,
    kwargs: Any,
) -> list[list[Part]]:
    """The parts that each layer adds to the stream, by a pass with copies of these arguments.

    Args:
        runner: the module that runs the layers.
        name: of their list.
        members: the layers.
        stacks: the stack of each module of attention, by its identity.

    Raises:
        ValueError: a layer gets something else than the one before returned, or none runs.
    """
    copied, named = (tree_map(_copied, each) for each in (args, kwargs))
    finder = _Finder(name, members, stacks)
    with undisturbed(runner), ThreadPoolExecutor(1) as pool:
        pool.submit(finder.run, runner, copied, named).result()
    if not finder.layers:
        raise ValueError(f"{type(runner).__name__} does not call {name}")
    return finder.layers


@dataclass
class _Event:
    """A module that got or returned a tensor of the stream's shape, or an attention that runs.

    Attributes:
        kind: "in", "out" or "call".
        alone: True if it returned no other tensor of this shape, which may follow from this one.
    """

    kind: str
    call: PartCall
    tensor: torch.Tensor = field(default_factory=lambda: torch.zeros(0))
    alone: bool = True


class _Finder:
    """Follows one pass over layers."""

    def __init__(
        self, name: str, members: Sequence[torch.nn.Module], stacks: Mapping[int, str]
    ) -> None:
        self.layers: list[list[Part]] = []
        self._name = name
        self._members = members
        self._stacks = stacks
        self._events: list[_Event] = []
        self._calls: Counter[int] = Counter()
        self._last: torch.Tensor | None = None
        self._depth = 0
        self._begin = torch.zeros(0)
        self._shape: torch.Size | None = None

    def run(self, runner: torch.nn.Module, args: Any, kwargs: Any) -> None:
        self._thread = threading.get_ident()
        with ExitStack() as undo, torch.no_grad(), torch.random.fork_rng(devices=[]):
            for member in self._members:
                for module in member.modules():
                    before = module.register_forward_pre_hook(self._entered, with_kwargs=True)
                    after = module.register_forward_hook(self._left)
                    undo.callback(before.remove)
                    undo.callback(after.remove)
            runner.forward(*args, **kwargs)

    def _entered(self, module: torch.nn.Module, args: Any, kwargs: Any) -> None:
        if threading.get_ident() != self._thread:
            return
        is_layer = any(module is member for member in self._members)
        if not is_layer and self._depth == 0:
            return
        if self._depth == 0:
            _, stream = stream_in(args, kwargs)
            begin = _some(stream)
            if self._last is not None and not (
                begin.shape == self._last.shape and torch.equal(begin, self._last)
            ):
                number = len(self.layers)
                raise ValueError(
                    f"{self._name} is no stream of layers: layer {number} gets something else "
                    f"than layer {number - 1} returned"
                )
            self._begin, self._shape, self._events = begin, stream.shape, []
            self._calls.clear()
        else:
            given = next((each for each in (*args, *kwargs.values()) if self._fits(each)), None)
            if given is not None:
                self._events.append(_Event("in", PartCall(module, 0), self._read(given)))
            if id(module) in self._stacks:
                self._events.append(_Event("call", PartCall(module, 0)))
        self._depth += 1

    def _left(self, module: torch.nn.Module, _args: Any, output: Any) -> None:
        if threading.get_ident() != self._thread or self._depth == 0:
            return
        self._depth -= 1
        found = first_of(output)
        if self._depth:
            call = PartCall(module, self._calls[id(module)])
            self._calls[id(module)] += 1
            if self._fits(found):
                several = output if isinstance(output, (tuple, list)) else (output,)
                alone = sum(map(self._fits, several)) == 1
                self._events.append(_Event("out", call, self._read(found), alone))
            return
        if not isinstance(found, torch.Tensor):
            raise ValueError(f"{self._name} is no stream of layers: a layer returns no tensor")
        self._last = _some(found)
        end = _Event("in", PartCall(module, 0), self._last)
        parts: list[Part] = []
        if self._fits(found):
            eps = torch.finfo(found.dtype).eps
            parts = _Sums(self._begin, [*self._events, end], self._stacks, eps).parts
        self.layers.append(parts)

    def _fits(self, given: Any) -> bool:
        """True for a tensor of the stream's size, whose items and tokens may be one axis."""
        shape = self._shape
        return (
            isinstance(given, torch.Tensor)
            and shape is not None
            and given.numel() == shape.numel()
            and given.shape[-1] == shape[-1]
        )

    def _read(self, given: torch.Tensor) -> torch.Tensor:
        assert self._shape is not None
        return _some(given.reshape(self._shape))


class _Sums:
    """Finds where a layer adds to the stream, from what its modules got and returned."""

    def __init__(
        self,
        begin: torch.Tensor,
        events: Sequence[_Event],
        stacks: Mapping[int, str],
        eps: float,
    ) -> None:
        self.parts: list[Part] = []
        self._eps = eps
        # What the stream may be now, and the module that returned it.
        streams: list[tuple[torch.Tensor, PartCall | None]] = [(begin, None)]
        made: list[_Event] = []
        stack: str | None = None
        got: dict[int, torch.Tensor] = {}
        for number, event in enumerate(events):
            is_end = number == len(events) - 1
            if event.kind == "call":
                stack = stack or stacks[id(event.call.module)]
                continue
            tensor = event.tensor
            same = [n for n, (each, _) in enumerate(streams) if torch.equal(each, tensor)]
            if event.kind == "in":
                got[id(event.call.module)] = tensor
            if same:
                own = got.get(id(event.call.module))
                passes_on = own is not None and torch.equal(own, tensor)
                if event.kind == "out" and event.alone and self.parts and not passes_on:
                    streams[same[0]] = tensor, event.call
                continue
            if any(torch.equal(each.tensor, tensor) for each in made):
                if event.kind == "out":
                    made.append(event)  # the outermost of several
                continue
            found = self._sum(tensor, streams, made)
            if found is not None:
                (_, before), part, scale = found
                self._close(before)
                self.parts.append(Part(part, scale, stack))
                returned = event.kind == "out" and event.alone
                streams = [(tensor, event.call if returned else None)]
                made, stack = [], None
                continue
            if is_end:
                self._close_parallel(tensor, streams, made, stacks)
                return
            if event.kind == "out":
                own = got.get(id(event.call.module))
                if self.parts and own is not None and torch.equal(own, streams[0][0]):
                    streams.append((tensor, event.call))  # a norm of the sum
                made.append(event)

    def _close(self, before: PartCall | None) -> None:
        """Note which module returned the stream to which the next part is added."""
        if self.parts:
            last = self.parts[-1]
            self.parts[-1] = Part(last.call, last.scale, last.stack, before, alone=True)

    def _close_parallel(
        self,
        end: torch.Tensor,
        streams: Sequence[tuple[torch.Tensor, PartCall | None]],
        made: Sequence[_Event],
        stacks: Mapping[int, str],
    ) -> None:
        """Find two parts that are added at once: attention and another one, or none."""

        def stack_in(event: _Event) -> str | None:
            inside = (stacks.get(id(module)) for module in event.call.module.modules())
            return next(filter(None, inside), None)

        own = [(event, stack_in(event)) for event in reversed(made)]
        pairs: list[tuple[_Event, str | None, _Event]]
        of_attention = [(event, stack) for event, stack in own if stack]
        others = [event for event, stack in own if not stack]
        pairs = [(*first, other) for first, other in product(of_attention, others)]
        pairs += [(first, None, other) for first, other in combinations(others, 2)]
        for (stream, before), (first, stack, other) in product(streams, pairs):
            scales = self._scales(end, stream, [first.tensor, other.tensor])
            if scales is not None:
                self._close(before)
                if stack is None:
                    return  # as of experts and one that is shared: neither is all of it
                self.parts.append(Part(first.call, scales[0], stack))
                self.parts.append(Part(other.call, scales[1], None))
                return

    def _sum(
        self,
        tensor: torch.Tensor,
        streams: Sequence[tuple[torch.Tensor, PartCall | None]],
        made: Sequence[_Event],
    ) -> tuple[tuple[torch.Tensor, PartCall | None], PartCall, float] | None:
        """The stream and the part, with its factor, of which a tensor is the sum."""
        for stream, event in product(streams, reversed(made)):
            scales = self._scales(tensor, stream[0], [event.tensor])
            if scales is not None:
                return stream, event.call, scales[0]
        return None

    def _scales(
        self, end: torch.Tensor, begin: torch.Tensor, parts: Sequence[torch.Tensor]
    ) -> list[float] | None:
        """The factors by which parts add up to what came to the stream, or None."""
        rest = (end - begin).flatten()
        columns = torch.stack([part.flatten() for part in parts], dim=1)
        if not bool(torch.isfinite(columns).all() and torch.isfinite(rest).all()):
            return None
        found = torch.linalg.lstsq(columns, rest[:, None]).solution[:, 0]
        error = (columns @ found - rest).abs().max()
        size = (columns * found).abs().amax(dim=0).min()
        rounding = 8 * self._eps * max(begin.abs().max(), end.abs().max())
        # A part that is next to nothing would fit anything.
        if bool(error > max(rounding, 1e-5 * size)) or bool(error > 0.05 * size):
            return None
        near = max(1e-3, 4 * self._eps)
        return [1.0 if abs(each - 1) < near else each for each in found.tolist()]


def _some(tensor: torch.Tensor) -> torch.Tensor:
    """Numbers of a few tokens, as they are now: some models add to a tensor in place."""
    few = tensor[:_ITEMS, :_TOKENS] if tensor.ndim > 2 else tensor[:_TOKENS]
    return few.detach().cpu().double().clone()


def _copied(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    return copy.deepcopy(value)
