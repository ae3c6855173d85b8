"""The streams of layers in a model, and what is at places of them while it runs.

A stream is a list of modules each of which gets what the one before returned. Where a layer adds to
it is found by numbers (`layer_parts.py`).
"""

from __future__ import annotations

import inspect
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import torch

from attnwidget.record import spans
from attnwidget.record.scores import MASKED

from .by_layer import Place
from .edits import Chosen, listed
from .layer_parts import Part, PartCall, find_parts
from .sites import Site
from .skipping import outermost_members
from .streams import first_of, stream_in, with_stream


class Here(NamedTuple):
    """The numbers at a place of a layer.

    Attributes:
        layer: its number.
        own: [items, 1, tokens, width].
        first: the position of the first token, which is not 0 where earlier ones are cached.
        seen: returns True for the tokens that are no padding, bool [items, tokens]; raises a
            ValueError if that is not known.
        scale: the factor by which the layer multiplies it before it is added.
    """

    layer: int
    own: torch.Tensor
    first: int
    seen: Callable[[], torch.Tensor]
    scale: float = 1.0


Visit = Callable[[Here], torch.Tensor]


class Streams:
    """Passes what is at places of layers to functions, and what they return on to the model.

    Args:
        model: the model.
        sites: its attention calls, from a pass or by the names of modules.
    """

    def __init__(self, model: torch.nn.Module, sites: Sequence[Site]) -> None:
        self._model = model
        self._sites = sites
        self._of_list: dict[str, _Stream] = {}

    def visit(self, place: Place, stack: str, layers: Chosen, function: Visit) -> None:
        """Call a function at a place of some layers, in the order of these calls.

        Embeddings are what the first layer gets, whichever layers are named.

        Raises:
            ValueError: the attention of the stack is in no list of modules.
        """
        names = dict(outermost_members(self._model)).values()
        modules = [site.module for site in self._sites if site.stack == stack]
        lists = {
            name.rpartition(".")[0]
            for name in names
            if any(f"{module}.".startswith(f"{name}.") for module in modules)
        }
        if len(lists) != 1:
            raise ValueError(
                f"stack {stack!r} has no {place!r}: its attention is not in one list of layers, "
                f"each of which could get what the one before returned ({sorted(lists) or 'none'})"
            )
        [name] = lists
        named = None if place == "embedding" else layers
        if name not in self._of_list:
            self._of_list[name] = _Stream(self._model, name, self._sites)
        self._of_list[name].visits.append(_Visit(place, stack, named, function))

    @contextmanager
    def following(self) -> Iterator[None]:
        """Call the functions within this context, on this thread."""
        with ExitStack() as undo:
            for stream in self._of_list.values():
                undo.enter_context(stream.following())
            yield

    @property
    def layers(self) -> dict[str, range]:
        """By stack that is visited, the numbers of its layers, which have run."""
        return {
            visit.stack: range(len(stream.parts))
            for stream in self._of_list.values()
            for visit in stream.visits
        }

    def check_called(self) -> None:
        """Raise a ValueError if the layers of a visit did not run."""
        for stream in self._of_list.values():
            if not stream.parts:
                first = stream.visits[0]
                raise ValueError(
                    f"the layers of stack {first.stack!r} did not run: there was no {first.place!r}"
                )


@dataclass
class _Visit:
    place: Place
    stack: str
    layers: Chosen
    function: Visit


class _Stream:
    """One list of layers.

    Attributes:
        visits: the functions that are called.
        parts: of each layer, known after its first pass.
    """

    def __init__(self, model: torch.nn.Module, name: str, sites: Sequence[Site]) -> None:
        self.visits: list[_Visit] = []
        self.parts: list[list[Part]] = []
        self._name = name
        self._members = list(model.get_submodule(name).children())
        self._stacks = {id(model.get_submodule(site.module)): site.stack for site in sites}
        around = name
        while around:
            around = around.rpartition(".")[0]
            if type(model.get_submodule(around)).forward is not torch.nn.Module.forward:
                break
        self._runner = model.get_submodule(around)
        self._arguments: Mapping[str, Any] = {}
        self._calls: Counter[int] = Counter()
        self._layer = -1
        self._count = self._first = self._end = 0
        self._stream: torch.Tensor | None = None
        self._shape = torch.Size()

    @contextmanager
    def following(self) -> Iterator[None]:
        with ExitStack() as self._undo:
            self._hook(self._runner.register_forward_pre_hook, self._begin, with_kwargs=True)
            if self.parts:
                self._follow_layers()
            yield

    def _hook(
        self, register: Callable[..., Any], function: Callable[..., Any], **how: bool
    ) -> None:
        """Register a hook for this thread alone, which goes with the context."""
        thread = threading.get_ident()

        def hook(*args: Any) -> Any:
            return function(*args) if threading.get_ident() == thread else None

        self._undo.callback(register(hook, **how).remove)

    def _begin(self, module: torch.nn.Module, args: Any, kwargs: Any) -> None:
        names = list(inspect.signature(module.forward).parameters)
        self._arguments = {**dict(zip(names, args, strict=False)), **kwargs}
        self._count = 0
        if not self.parts:
            self.parts = find_parts(module, self._name, self._members, self._stacks, args, kwargs)
            self._check()
            self._follow_layers()

    def _check(self) -> None:
        """Raise a ValueError if a visit is at a place that the layers do not have."""
        for visit in self.visits:
            numbers = range(len(self.parts))
            absent = sorted(set(listed(visit.layers, [])) - set(numbers))
            if absent:
                there = spans(tuple(numbers))
                raise ValueError(f"no layer {absent[0]} in {self._name}; there are {there}")
            without = [
                number
                for number in listed(visit.layers, list(numbers))
                if visit.place in ("attention", "mlp", "residual mid")
                and self._part(visit, number) is None
            ]
            if without and (visit.layers is not None or len(without) == len(numbers)):
                raise ValueError(
                    f"layer {without[0]} of {self._name} has no {visit.place!r}: "
                    f"{_WHY[visit.place]}"
                )

    def _part(self, visit: _Visit, layer: int) -> Part | None:
        """The part after which, or instead of which, a visit is."""
        parts = self.parts[layer]
        of_attention = [number for number, part in enumerate(parts) if part.stack is not None]
        stacks = [parts[number].stack for number in of_attention]
        if len(set(stacks)) < len(stacks):
            return None  # a stage of several layers
        if visit.place == "mlp":
            rest = parts[of_attention[-1] + 1 :] if of_attention else parts
            return rest[0] if rest else None
        found = next((part for part in parts if part.stack == visit.stack), None)
        if found is None and of_attention:  # among layers that mix tokens otherwise
            found = parts[of_attention[0]]
        if visit.place == "residual mid" and found is not None and not found.alone:
            return None
        return found

    def _follow_layers(self) -> None:
        """Register what calls the visits."""
        places = {visit.place for visit in self.visits}
        for member in self._members:
            self._hook(member.register_forward_pre_hook, self._enter, with_kwargs=True)
            if "residual post" in places:
                self._hook(member.register_forward_hook, self._leave)
        if not places & {"attention", "mlp", "residual mid"}:
            return
        calls = [call for parts in self.parts for part in parts for call in (part.call, part.after)]
        for module in dict.fromkeys(call.module for call in calls if call is not None):
            self._hook(module.register_forward_hook, self._inside)

    def _enter(self, _module: torch.nn.Module, args: Any, kwargs: Any) -> Any:
        self._calls.clear()
        self._layer = self._count
        self._count += 1
        if self._layer >= len(self.parts):
            raise ValueError(
                f"{self._name} ran more layers than in its first pass, so that their numbers are "
                "not known"
            )
        name, own = stream_in(args, kwargs)
        if self._layer == 0:
            self._first = self._first_of(own.shape[-2])
        self._shape = own.shape
        new = self._visited("residual pre", own)
        if self._layer == 0:
            new = self._visited("embedding", new)
        self._stream = new.clone() if any(v.place == "residual mid" for v in self.visits) else None
        if new is own:
            return None
        if isinstance(name, int):
            return (*args[:name], new, *args[name + 1 :]), kwargs
        return args, {**kwargs, name: new}

    def _first_of(self, count: int) -> int:
        """The position of the first of so many tokens, before which others may be cached."""
        cached = _cached(self._arguments)
        if cached is None:
            cached = self._end if count == 1 else 0
        self._end = cached + count
        return cached

    def _leave(self, _module: torch.nn.Module, _args: Any, output: Any) -> Any:
        own = first_of(output)
        self._shape = own.shape
        new = self._visited("residual post", own)
        return None if new is own else with_stream(output, new)

    def _inside(self, module: torch.nn.Module, _args: Any, output: Any) -> Any:
        """Called after a module that returns a part of a layer, or the stream with it."""
        call = PartCall(module, self._calls[id(module)])
        self._calls[id(module)] += 1
        own = first_of(output)
        new = own
        for part in self.parts[self._layer]:
            if part.call == call:
                for place in ("attention", "mlp"):
                    new = self._visited(place, new, part)
                if self._stream is not None:
                    stream = self._stream + part.scale * new.reshape(self._shape)
                    if part.after is None and part.alone:
                        changed = self._visited("residual mid", stream, part)
                        if changed is not stream:
                            # No module returns the stream, but what is added to it can be changed.
                            added = ((changed - self._stream) / part.scale).reshape(new.shape)
                            kept = (changed == stream).reshape(new.shape)
                            # Where it is kept, the difference is 0, and has a gradient.
                            same = new + ((changed - stream) / part.scale).reshape(new.shape)
                            new, stream = torch.where(kept, same, added), changed
                    self._stream = stream
            if part.after == call:
                new = self._visited("residual mid", new, part)
                self._stream = new.reshape(self._shape)
        return None if new is own else with_stream(output, new)

    def _visited(self, place: Place, own: torch.Tensor, part: Part | None = None) -> torch.Tensor:
        """The numbers at a place of the current layer, after all visits."""
        for visit in self.visits:
            if visit.place != place or self._layer not in listed(visit.layers, [self._layer]):
                continue
            if part is not None and self._part(visit, self._layer) is not part:
                continue
            shaped = own.reshape(self._shape)
            given = shaped[None, None] if shaped.ndim == 2 else shaped[:, None]
            seen = partial(_seen, self._arguments, given)
            scale = 1.0 if part is None else part.scale
            here = Here(self._layer, given, self._first, seen, scale)
            new = visit.function(here)
            if new is not given:
                own = new.reshape(own.shape)
        return own


_WHY: dict[str, str] = {
    "attention": "it is not one attention whose output is added to what the layer got",
    "mlp": "no output of a module is added after attention",
    "residual mid": "nothing is added to the sum of what it got and of its attention",
}


def _cached(arguments: Mapping[str, Any]) -> int | None:
    """The number of tokens that a cache holds; None if it has states alone, which do not tell."""
    for value in arguments.values():
        if callable(getattr(value, "get_seq_length", None)):
            try:
                return int(value.get_seq_length())
            except ValueError:
                return None
    return 0


def _seen(arguments: Mapping[str, Any], own: torch.Tensor) -> torch.Tensor:
    """True for the tokens that are no padding, bool [items, tokens]."""
    items, _, count, _ = own.shape
    masks = [v for name, v in arguments.items() if name in _MASKS and v is not None]
    everything = torch.ones(items, count, dtype=torch.bool, device=own.device)
    if items == 1 or not masks:
        return everything
    mask = masks[0]
    if isinstance(mask, torch.Tensor) and mask.ndim == 2 and mask.shape[1] >= count:
        return mask[:, -count:].bool().to(own.device)
    if isinstance(mask, torch.Tensor) and mask.ndim == 4 and mask.shape[3] == count:
        seen = mask if mask.dtype == torch.bool else mask > MASKED
        return seen.flatten(1, 2).any(1).to(own.device)
    raise ValueError("these layers do not tell which tokens are padding: give positions by number")


_MASKS = ("attention_mask", "padding_mask", "mask")
