"""The handler that applies interventions to the attention calls of a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch

from attnwidget.tracing import Address, Handler, Read, trace

from .edits import Intervention, KnockOut, Numbers, Scale
from .places import Place, places
from .replacements import replacement


@contextmanager
def editing(model: torch.nn.Module, interventions: Sequence[Intervention]) -> Iterator[None]:
    """See `attnwidget.intervene`."""
    checkpointed = any(
        module.training and getattr(module, "gradient_checkpointing", False)
        for module in model.modules()
    )
    if checkpointed and torch.is_grad_enabled():
        raise ValueError(
            "with gradient checkpointing, layers run once more in the backward pass, where they "
            "would not be changed: turn it off, or use model.eval()"
        )
    edits = [_Edit(intervention, _places(model, intervention)) for intervention in interventions]
    with trace(model, _Editor(edits), None, changes=True):
        yield
    for edit in edits:
        edit.check_called()


def _places(model: torch.nn.Module, intervention: Intervention) -> dict[str, Place]:
    """The modules that an intervention changes, by name."""
    if not isinstance(intervention, Intervention):
        raise TypeError(f"{intervention!r} is no intervention; expected Ablate, Scale or KnockOut")
    found = places(model)
    if not found:
        raise ValueError(f"no module of {type(model).__name__} is of a class for attention")
    stacks = list(dict.fromkeys(place.stack for place in found))
    stack = intervention.stack
    if stack is None:
        if len(stacks) > 1:
            raise ValueError(f"the model has several stacks; give stack=, one of {stacks}")
        stack = stacks[0]
    if stack not in stacks:
        raise ValueError(f"no stack {stack!r}; the model has {', '.join(map(repr, stacks))}")
    of_stack = {place.layer: place for place in found if place.stack == stack}
    numbers = _listed(intervention.layers, list(of_stack))
    absent = sorted(set(numbers) - set(of_stack))
    if absent:
        raise ValueError(f"no layer {absent[0]} in stack {stack!r}; it has {list(of_stack)}")
    return {of_stack[number].module: of_stack[number] for number in numbers}


def _listed(numbers: Numbers, everything: list[int]) -> list[int]:
    if numbers is None:
        return everything
    return [numbers] if isinstance(numbers, int) else list(numbers)


class _Edit:
    """An intervention and its places in a model."""

    def __init__(self, intervention: Intervention, of_module: dict[str, Place]) -> None:
        self.intervention = intervention
        self._of_module = of_module
        self._called: set[str] = set()

    def applies(self, address: Address) -> bool:
        """True if the call at this address is to be changed."""
        name = next(
            (n for n in self._of_module if n == address.module or n.startswith(f"{address.module}.")
             or address.module.startswith(f"{n}.")),
            None,
        )  # fmt: skip
        if name is None:
            return False
        self._called.add(name)
        return True

    def check_called(self) -> None:
        """Raise a ValueError if a place was never called."""
        never = [place for name, place in self._of_module.items() if name not in self._called]
        if never:
            raise ValueError(
                f"layer {never[0].layer} of stack {never[0].stack!r} was not called within the "
                f"intervention: {self.intervention} had no effect there"
            )


class _Editor(Handler):
    def __init__(self, edits: list[_Edit]) -> None:
        self._edits = edits
        # The position after the last query of each call.
        self._ends: dict[Address, int] = {}

    def _first(self, address: Address, num_queries: int) -> int:
        """The position of a call's first query: with a cache, later passes have one query each."""
        before = self._ends.get(address._replace(step=address.step - 1), 0)
        first = before if num_queries == 1 else 0
        self._ends[address] = first + num_queries
        return first

    def bias(self, address: Address, shape: Callable[[], torch.Size]) -> torch.Tensor | None:
        total: torch.Tensor | None = None
        for edit in self._edits:
            if isinstance(edit.intervention, KnockOut) and edit.applies(address):
                hidden = _hidden(edit.intervention, shape(), self._first(address, shape()[2]))
                total = hidden if total is None else total + hidden
        return total

    def attention(self, address: Address, read: Read) -> torch.Tensor | None:
        outputs: torch.Tensor | None = None
        for edit in self._edits:
            intervention = edit.intervention
            if isinstance(intervention, KnockOut) or not edit.applies(address):
                continue
            call = read()
            before = call.passed_on if outputs is None else outputs
            if before is None:
                raise ValueError(f"the head outputs of {address.module} are not known")
            if isinstance(intervention, Scale):
                changed = before * intervention.factor
            else:
                changed = replacement(intervention.mode, call)
            off = _mask(_listed(intervention.heads, list(range(before.shape[1]))), before.shape[1])
            outputs = torch.where(off[:, None, None].to(before.device), changed, before)
        return outputs


def _hidden(intervention: KnockOut, shape: torch.Size, first: int) -> torch.Tensor:
    """-inf where a key is hidden, else 0: [1, heads, Tq, Tk].

    Args:
        first: the position of the first query.
    """
    _, num_heads, num_queries, num_keys = shape
    heads = _mask(_listed(intervention.heads, list(range(num_heads))), num_heads)
    queries = _within(intervention.queries, range(first, first + num_queries))
    edges = heads[:, None, None] & queries[:, None] & _within(intervention.keys, range(num_keys))
    return torch.zeros(edges.shape).masked_fill(edges, -torch.inf)[None]


def _within(positions: Numbers, present: range) -> torch.Tensor:
    """True at the chosen positions among those present in a call."""
    chosen = _listed(positions, list(present))
    return torch.tensor([position in chosen for position in present])


def _mask(numbers: list[int], count: int) -> torch.Tensor:
    """True at the places of these numbers, bool [count]."""
    beyond = [number for number in numbers if not 0 <= number < count]
    if beyond:
        raise ValueError(f"{beyond[0]} does not exist: there are {count}, from 0 to {count - 1}")
    mask = torch.zeros(count, dtype=torch.bool)
    mask[numbers] = True
    return mask
