"""The stream in what layers get and return, and the stack that predictions are read from.

The stack is found by following a pass. Layers are a list of modules, each of which receives what
the one before returned. Classes and names are not read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any

import torch
from torch.utils._pytree import tree_flatten

from .skipping import Block, cloned, skipped


@dataclass(frozen=True)
class Stream:
    """A stack of layers over one stream.

    Attributes:
        layers: in order, with what they returned.
        entered: the stream before the first layer.
        others: the layers of other stacks, such as those of an encoder.
    """

    layers: tuple[Block, ...]
    entered: torch.Tensor
    others: tuple[Block, ...]

    @property
    def places(self) -> Iterator[torch.Tensor]:
        """The stream before the first layer, and after each."""
        yield self.entered
        for layer in self.layers:
            yield returned(layer)

    @contextmanager
    def ending_with(self, model: torch.nn.Module, stream: torch.Tensor) -> Iterator[None]:
        """Let the last layer return this, and no layer run, within this context."""
        *first, last = self.layers
        given = Block(last.name, with_stream(last.output, stream))
        with skipped(model, [*self.others, *first, given]):
            yield


def returned(layer: Block) -> torch.Tensor:
    """The stream in what a layer returned: it alone, or the first of several."""
    found: torch.Tensor = first_of(layer.output)
    return found


def first_of(output: Any) -> Any:
    """A module's output, the first one of several."""
    if isinstance(output, (tuple, list)) and output:
        return output[0]
    return output


def stream_in(args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[int | str, torch.Tensor]:
    """The argument of a layer that is the stream: its first tensor of numbers."""
    given: list[tuple[int | str, Any]] = [*enumerate(args), *kwargs.items()]
    for name, value in given:
        if isinstance(value, torch.Tensor) and value.is_floating_point() and value.ndim in (2, 3):
            return name, value
    raise ValueError("a layer gets no tensor [items, tokens, width], so there is no stream")


def with_stream(output: Any, stream: torch.Tensor) -> Any:
    """The output of a layer, with another stream."""
    if isinstance(output, (tuple, list)):
        return type(output)([stream, *output[1:]])
    return stream


def find_stream(model: torch.nn.Module, run: Callable[[], Any]) -> tuple[Any, Stream]:
    """Follow a pass: (its output, the stack of layers that ends last).

    Raises:
        ValueError: no list of modules passes a stream on.
    """
    ran: dict[str, list[_Ran]] = {}
    hooks: list[Any] = []
    clock = count()
    try:
        for name, module in model.named_modules():
            if isinstance(module, (torch.nn.ModuleList, torch.nn.Sequential)):
                ran[name] = []
                for child, member in module.named_children():
                    hooks += _followed(f"{name}.{child}", member, ran[name], clock)
        output = run()
    finally:
        for hook in hooks:
            hook.remove()
    stacks = _outermost({name: members for name, members in ran.items() if _passes_on(members)})
    if not stacks:
        raise ValueError(
            f"{type(model).__name__} has no list of layers each of which receives what the one "
            "before returned, and runs once"
        )
    last = max(stacks, key=lambda name: stacks[name][-1].ended)
    others = [each.block for name in stacks if name != last for each in stacks[name]]
    layers = stacks.pop(last)
    assert layers[0].entered is not None
    return output, Stream(tuple(each.block for each in layers), layers[0].entered, tuple(others))


@dataclass(frozen=True)
class _Ran:
    """A member of a list of modules that has run.

    Attributes:
        block: it, with what it returned.
        entered: what it received that has the shape of what it returned, if anything.
        follows: True if it received what the member before it had returned.
        ended: its place among all.
    """

    block: Block
    entered: torch.Tensor | None
    follows: bool
    ended: int


def _followed(
    name: str, module: torch.nn.Module, ran: list[_Ran], clock: Iterator[int]
) -> Iterator[Any]:
    """Hooks that list the module when it runs."""
    received: list[torch.Tensor] = []

    def enter(_module: torch.nn.Module, args: Any, kwargs: Any) -> None:
        tensors = (each for each in tree_flatten((args, kwargs))[0] if _is_stream(each))
        received[:] = [each.detach().clone() for each in tensors]  # some models add to it in place

    def leave(_module: torch.nn.Module, _args: Any, output: Any) -> None:
        passed, before = _stream(output), _stream(ran[-1].block.output) if ran else None
        shaped = [each for each in received if passed is not None and each.shape == passed.shape]
        follows = before is not None and any(torch.equal(each, before) for each in shaped)
        entered = shaped[0] if shaped else None
        ran.append(_Ran(Block(name, cloned(output)), entered, follows, next(clock)))
        received.clear()

    yield module.register_forward_pre_hook(enter, with_kwargs=True)
    yield module.register_forward_hook(leave)


def _passes_on(members: list[_Ran]) -> bool:
    """True if these members of a list are layers over one stream."""
    once = len({each.block.name for each in members}) == len(members) > 0
    return once and members[0].entered is not None and all(each.follows for each in members[1:])


def _outermost(stacks: Mapping[str, list[_Ran]]) -> dict[str, list[_Ran]]:
    return {
        name: members
        for name, members in stacks.items()
        if not any(name.startswith(f"{other}.") for other in stacks)
    }


def _is_stream(each: Any) -> bool:
    return isinstance(each, torch.Tensor) and each.is_floating_point() and each.ndim >= 2


def _stream(output: Any) -> torch.Tensor | None:
    found = first_of(output)
    return found if _is_stream(found) else None
