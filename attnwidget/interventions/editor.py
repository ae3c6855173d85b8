"""Interventions within a context: a handler applies them to the attention calls of a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, get_args

import torch

from attnwidget.arguments import checked, instance
from attnwidget.running.model import is_foreign, traceable
from attnwidget.running.stacks import Kind, kind_of
from attnwidget.tracing import (
    Address,
    Call,
    CallId,
    Handler,
    Piece,
    Read,
    Sources,
    goes_on,
    joined_as,
    trace,
)

from .by_layer import HeadOutputs
from .change_words import Change, in_words
from .edits import Ablate, Intervention, KnockOut, Scale, listed
from .projection_inputs import ProjectionInputs
from .replacements import patched, replacement
from .sites import PIECE, Site, sites_by_name, sites_of
from .substitution import substituted


@checked(
    model=instance(
        torch.nn.Module, "a torch.nn.Module, which comes first: intervene(model, Ablate(...))"
    )
)
@contextmanager
def intervene(model: torch.nn.Module, *interventions: Intervention) -> Iterator[None]:
    """Change the attention of a model within this context, in every call of it.

    Calls on this thread are changed, also those of `model.generate`, and `attnwidget.capture` and
    other interventions within the context see the changed model; a record has the changes in its
    model's name. The model itself, its parameters and hooks stay as they are::

        with aw.intervene(model, aw.Ablate(layers=18, heads=[4, 6])):
            logits = model(**inputs).logits

    Args:
        model: the model.
        interventions: applied in this order.

    Raises:
        TypeError: one of them is none, or `model` is no torch module.
        ValueError: a layer, head or stack that the model does not have, or attention that cannot
            be changed; layers that the names of modules do not tell apart (a record has several
            stacks of one tower, or several layers of one module: `ablate` finds them by a text);
            a model in training with gradient checkpointing; or, at the end of the context, a layer
            that was never called.
    """
    model = traceable(model)
    with (
        torch.compiler.set_stance("force_eager"),
        editing(model, interventions, sites_by_name(model)),
    ):
        yield


@contextmanager
def editing(
    model: torch.nn.Module,
    interventions: Sequence[Intervention],
    sites: Sequence[Site],
    *,
    interface_only: bool = False,
    may_miss: bool = False,
) -> Iterator[None]:
    """Change the attention of a model within this context: see `intervene`.

    Args:
        model: the model, within `attnwidget.running.model.traceable`.
        sites: its attention calls, from a pass or by the names of modules.
        interface_only: see `attnwidget.tracing.trace`.
        may_miss: True for changes of tokens that the model may not come to.
    """
    checkpointed = any(
        module.training and getattr(module, "gradient_checkpointing", False)
        for module in model.modules()
    )
    if checkpointed and torch.is_grad_enabled():
        raise ValueError(
            "with gradient checkpointing, layers run once more in the backward pass, where they "
            "would not be changed: turn it off, or use model.eval()"
        )
    edits = [_Edit(model, each, _chosen(model, sites, each)) for each in interventions]
    several = len({site.stack for site in sites}) > 1
    change = in_words(edit.change(several=several) for edit in edits)
    editor = _Editor(edits, change)
    interface_only = interface_only and not any(_at_projection(each) for each in interventions)
    with trace(model, editor, None, changes=True, interface_only=interface_only):
        yield
    editor.projections.check()
    for edit in [] if may_miss else edits:
        edit.check_effect()


def _chosen(
    model: torch.nn.Module, found: Sequence[Site], intervention: Intervention
) -> list[Site]:
    """The attention calls that an intervention changes."""
    if not isinstance(intervention, Intervention):
        expected = ", ".join(each.__name__ for each in get_args(Intervention))
        raise TypeError(f"{intervention!r} is no intervention; expected one of {expected}")
    if not found:
        raise ValueError(f"no module of {type(model).__name__} is of a class for attention")
    stack = intervention.stack
    if stack is None:
        stacks = list(dict.fromkeys(site.stack for site in found))
        if len(stacks) > 1:
            raise ValueError(f"the model has several stacks; give stack=, one of {stacks}")
        stack = stacks[0]
    of_stack = sites_of(found, stack)
    if [(site.layer, site.call) for site in of_stack] == [(0, None)]:
        # Layers that share their weights are one module, which is called once for each.
        numbers = listed(intervention.layers, [])
        return [replace(of_stack[0], layer=number, call=number) for number in numbers] or of_stack
    return sites_of(of_stack, stack, intervention.layers)


class _Edit:
    """An intervention and the attention calls that it changes."""

    def __init__(
        self, model: torch.nn.Module, intervention: Intervention, chosen: Sequence[Site]
    ) -> None:
        self._model = model
        self.intervention = intervention
        self._sites = chosen
        self._called: set[Site] = set()
        # The shapes of the calls of each kind of attention in the first pass.
        self._shapes: dict[Kind, tuple[int, int]] = {}
        # The most queries and keys that a call had.
        self._reached = {"queries": 0, "keys": 0}

    def change(self, *, several: bool) -> Change:
        """The intervention and where it is; `several` is True if the model has several stacks."""
        layers = tuple(site.layer for site in self._sites)
        return Change(self.intervention, layers, self._sites[0].stack if several else "")

    def site(self, address: Address) -> Site | None:
        """The site of the call at this address; None if it is not to be changed.

        Raises:
            ValueError: several calls are of the same site, so that it is no single layer.
        """
        site = next((each for each in self._sites if each.holds(address)), None)
        if site is None:
            return None
        if self._by_name and site.call is None and address.call > 0:
            raise ValueError(
                f"{address.module} computes attention several times in a pass, which a record has "
                "as several layers: leave layers=None to change all, or use attnwidget.ablate, "
                "which tells them apart by an input"
            )
        self._called.add(site)
        return site

    @property
    def chooses(self) -> bool:
        """True if it is not of all heads of all layers."""
        return self.intervention.layers is not None or self.intervention.heads is not None

    @property
    def _by_name(self) -> bool:
        """True if some layers were chosen, and are told by the names of modules."""
        return self.intervention.layers is not None and self._sites[0].call is None

    def check_lengths(self, address: Address, read: Read) -> None:
        """Raise a ValueError if layers of one name attend over sequences of several lengths."""
        if not self._by_name or address.step > 0:
            return
        kind = kind_of(self._model, CallId(address.module, address.call))
        if kind not in {site.kind for site in self._sites}:
            return
        try:
            leading, _, num_queries, _ = read().shape
        except ValueError:  # an unknown layout
            return
        if self._shapes.setdefault(kind, (leading, num_queries)) != (leading, num_queries):
            raise ValueError(
                f"{address.module} attends over another number of tokens than layers before it, "
                "and a record has these as several stacks: use attnwidget.ablate, which tells them "
                "apart by an input"
            )

    def reached(self, num_queries: int, num_keys: int) -> None:
        """Note that a call had these numbers of queries, from the first one on, and keys."""
        for side, count in (("queries", num_queries), ("keys", num_keys)):
            self._reached[side] = max(self._reached[side], count)

    def check_effect(self) -> None:
        """Raise a ValueError if a call was never made, or had none of the tokens."""
        never = [site for site in self._sites if site not in self._called]
        if never:
            raise ValueError(
                f"layer {never[0].layer} of stack {never[0].stack!r} was not called within the "
                f"intervention: {self.intervention} had no effect there"
            )
        if not isinstance(self.intervention, KnockOut):
            return
        for chosen, (side, count) in zip(
            self.intervention.sides, self._reached.items(), strict=True
        ):
            given = listed(chosen, [])
            if given and min(given) >= count:
                raise ValueError(
                    f"{side} begin at position {min(given)}, but no text within the intervention "
                    f"had more than {count} {side}: {self.intervention} had no effect"
                )


class _Editor(Handler):
    def __init__(self, edits: list[_Edit], change: str) -> None:
        self.change = change
        self.projections = ProjectionInputs()
        self._edits = edits
        self._sources = Sources(is_foreign)
        self._last: Piece | None = None
        # The position after the last query of each call.
        self._ends: dict[Address, int] = {}

    def _first(self, site: Site, address: Address, num_queries: int, num_keys: int) -> int:
        """The position of a call's first query, which is not 0 where earlier ones are cached.

        Raises:
            ValueError: it is not known which keys the cache still holds.
        """
        before = self._ends.get(address._replace(step=address.step - 1), 0)
        cached = num_keys != num_queries and (num_queries == 1 or num_keys == before + num_queries)
        first = before if cached else 0
        if cached and num_keys < first + num_queries and not site.kind.cross:
            raise ValueError(
                f"the cache of {address.module} no longer has all keys, so that positions do not "
                "tell which they are: generate with use_cache=False, or less than the window"
            )
        self._ends[address] = first + num_queries
        return first

    def bias(
        self,
        address: Address,
        shape: Callable[[], torch.Size],
        seen: Callable[[], torch.Tensor],
    ) -> torch.Tensor | None:
        total: torch.Tensor | None = None
        for edit in self._edits:
            intervention = edit.intervention
            if not isinstance(intervention, KnockOut):
                continue
            site = edit.site(address)
            if intervention.of_record:
                _refuse_left_padding(address, site, shape, seen)
            if site is not None:
                _, _, num_queries, num_keys = shape()
                first = self._first(site, address, num_queries, num_keys)
                edit.reached(first + num_queries, num_keys)
                hidden = _hidden(intervention, shape(), first, site.layer)
                total = hidden if total is None else total + hidden
        return total

    def attention(self, address: Address, read: Read) -> Call | None:
        call: Call | None = None
        off_later: torch.Tensor | None = None
        self._refuse_pieces(address, read)
        for edit in self._edits:
            edit.check_lengths(address, read)
            intervention = edit.intervention
            if isinstance(intervention, KnockOut):
                continue
            site = edit.site(address)
            if site is None:
                continue
            call = call or read()
            before = call.passed_on
            if before is None:
                raise ValueError(f"the head outputs of {address.module} are not known")
            count = before.shape[1]
            heads = _mask(listed(intervention.heads, list(range(count))), count, site.layer)
            if _at_projection(intervention):
                off_later = heads if off_later is None else off_later | heads
                continue
            if isinstance(intervention, Scale):
                changed = before * intervention.factor
            elif isinstance(intervention, Ablate):
                changed = replacement(intervention.mode, call, cross=site.kind.cross)
            elif isinstance(intervention.source, HeadOutputs):
                changed = patched(intervention.source, site.stack, site.layer, before)
            else:
                call = substituted(call, intervention, site.stack, site.layer, heads)
                assert call.output is not None
                changed = call.output
            edited = torch.where(heads[:, None, None].to(before.device), changed, before)
            call = replace(call, edited=edited)
        if call is not None and off_later is not None:
            assert call.passed_on is not None
            self.projections.switch_off(address, off_later, call.passed_on)
        return call

    def _refuse_pieces(self, address: Address, read: Read) -> None:
        """Raise a ValueError if layers or heads were chosen, and a layer is several calls."""
        if not any(edit.chooses for edit in self._edits):
            return
        try:
            call = read()
        except ValueError:  # of a layout that is not known
            self._last = None
            return
        last, self._last = self._last, self._sources.piece(address, call.module, call)
        if last and goes_on(last, self._last) and joined_as([last, self._last]):
            raise ValueError(PIECE.format(address.module))

    def module_entered(
        self, module: torch.nn.Module, args: tuple[Any, ...]
    ) -> tuple[Any, ...] | None:
        self._sources.entered(module, args)
        return self.projections.entered(module, args)

    def module_left(
        self, module: torch.nn.Module, output: Any, parent: torch.nn.Module | None
    ) -> None:
        self.projections.left(module, output)


def _refuse_left_padding(
    address: Address,
    site: Site | None,
    shape: Callable[[], torch.Size],
    seen: Callable[[], torch.Tensor],
) -> None:
    """Raise a ValueError if texts begin after padding, so that a record's positions are others.

    Calls that are not changed tell it as well: the mask of cross-attention is of its keys alone.
    """
    try:
        one_query = shape()[2] == 1
        hidden = ~seen()[:, 0]
    except ValueError:  # of a layout that is not known, which is refused where it is to be changed
        return
    # A later token alone may be beyond the first one's window.
    if (one_query and not (site is not None and site.kind.cross)) or not bool(hidden.any()):
        return
    raise ValueError(
        f"text {int(hidden.nonzero()[0])} of the batch is padded on the left in {address.module}: "
        "KnockOut(..., record=...) has positions of a text, which begins later there. Pad on the "
        "right, run the text alone, or give positions of the padded batch without record="
    )


def _at_projection(intervention: Intervention) -> bool:
    return isinstance(intervention, Ablate) and intervention.at == "projection"


def _hidden(intervention: KnockOut, shape: torch.Size, first: int, layer: int) -> torch.Tensor:
    """-inf where a key is hidden, else 0: [1, heads, Tq, Tk].

    Args:
        first: the position of the first query.
    """
    _, num_heads, num_queries, num_keys = shape
    heads = _mask(listed(intervention.heads, list(range(num_heads))), num_heads, layer)
    present = range(first, first + num_queries), range(num_keys)
    queries, keys = (
        _within(listed(chosen, list(here)), here)
        for chosen, here in zip(intervention.sides, present, strict=True)
    )
    edges = heads[:, None, None] & queries[:, None] & keys
    return torch.zeros(edges.shape).masked_fill(edges, -torch.inf)[None]


def _within(chosen: Sequence[int], present: range) -> torch.Tensor:
    """True at the chosen positions among those present in a call."""
    wanted = set(chosen)
    return torch.tensor([position in wanted for position in present])


def _mask(numbers: list[int], count: int, layer: int) -> torch.Tensor:
    """True at the places of these heads of a layer, bool [count]."""
    beyond = [number for number in numbers if not 0 <= number < count]
    if beyond:
        raise ValueError(
            f"head {beyond[0]} of layer {layer} does not exist: there are {count}, from 0 to "
            f"{count - 1}"
        )
    mask = torch.zeros(count, dtype=torch.bool)
    mask[numbers] = True
    return mask
