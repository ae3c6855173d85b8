"""Interventions within a context: a handler applies them to the attention calls of a model."""

from __future__ import annotations

from collections import Counter
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
    MixingCall,
    Piece,
    Read,
    ReadMixing,
    Sources,
    goes_on,
    joined_as,
    trace,
)

from .by_layer import HeadOutputs
from .change_words import Change, in_words
from .edits import Ablate, Intervention, KnockOut, Meaning, Patch, Scale, listed
from .gated_projections import GatedProjections
from .left_out import without_links
from .projection_inputs import ProjectionInputs
from .replacements import patched, replacement
from .sites import PIECE, Site, is_step, sites_by_name, sites_of, usual_stacks
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
    whole = any(_at_projection(each.intervention) or each.signed for each in edits)
    interface_only = interface_only and not whole
    with trace(model, editor, None, changes=True, interface_only=interface_only):
        yield
    editor.projections.check()
    editor.gated.check()
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
        usual = usual_stacks(found)
        if len(usual) > 1:
            stacks = list(dict.fromkeys(site.stack for site in found))
            raise ValueError(f"the model has several stacks; give stack=, one of {stacks}")
        stack = usual[0]
    of_stack = sites_of(found, stack)
    if [(site.layer, site.call, site.signed) for site in of_stack] == [(0, None, False)]:
        # Layers that share their weights are one module, which is called once for each.
        numbers = listed(intervention.layers, [])
        return [replace(of_stack[0], layer=number, call=number) for number in numbers] or of_stack
    return sites_of(found, stack, intervention.layers)


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
        # The most heads that are calls of their own.
        self._heads = 0
        unlike = isinstance(intervention, KnockOut) and intervention.meaning == "never written"
        if unlike and not self.signed:
            raise ValueError(
                'a softmax hides keys, and writes nothing: meaning="never written" is of layers '
                "without one, which erase as they write"
            )

    @property
    def signed(self) -> bool:
        """True if it is of layers without a softmax."""
        return any(site.signed for site in self._sites)

    def change(self, *, several: bool) -> Change:
        """The intervention and where it is; `several` is True if the model has several stacks."""
        layers = tuple(site.layer for site in self._sites)
        stack = self._sites[0].stack if several else ""
        return Change(self.intervention, layers, stack, self.signed)

    def site(self, address: Address) -> Site | None:
        """The site of the call at this address; None if it is not to be changed.

        Raises:
            ValueError: several calls are of the same site, so that it is no single layer.
        """
        site = next((each for each in self._sites if each.holds(address)), None)
        if site is None:
            return None
        if self._by_name and site.call is None and address.call > 0:
            raise _several_layers(address)
        self._called.add(site)
        return site

    def mixing_site(self, address: Address) -> Site | None:
        """As `site`, of a call without a softmax."""
        return next((each for each in self._sites if each.holds(address, signed=True)), None)

    def heads_of(
        self, call: MixingCall, address: Address, site: Site, head: int | None
    ) -> torch.Tensor:
        """True for the heads of a site's call without a softmax that are changed, bool [heads].

        Args:
            head: the number of the only head, where each call is one of a layer's.
        """
        self._called.add(site)
        count, heads = call.output.shape[1], self.intervention.heads
        if head is None:
            return _mask(listed(heads, list(range(count))), count, site.layer)
        self._heads = max(self._heads, head + 1)
        return torch.tensor([head in listed(heads, [head])])

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
        if self._heads:
            _mask(listed(self.intervention.heads, []), self._heads, self._sites[0].layer)
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
        self.gated = GatedProjections()
        self._edits = edits
        self._sources = Sources(is_foreign)
        self._last: Piece | None = None
        # The position after the last query of each call.
        self._ends: dict[Address, int] = {}
        # By module and pass, the calls without a softmax so far.
        self._mixed: Counter[tuple[str, int]] = Counter()
        # By module, the tokens of what the latest module in it returned.
        self._tokens: dict[int, int] = {}

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

    def mixing(self, address: Address, read: ReadMixing) -> torch.Tensor | None:
        sites = [(edit, edit.mixing_site(address)) for edit in self._edits]
        if not any(site for _, site in sites):
            return None
        try:
            call = read()
        except ValueError as error:
            hint = "; to generate, give use_cache=False" if address.step > 0 else ""
            raise ValueError(f"{address.module} cannot be changed: {error}{hint}") from None
        if is_step(call):
            return None
        number = self._mixed[address.module, address.step]
        self._mixed[address.module, address.step] += 1
        links: list[tuple[KnockOut, torch.Tensor]] = []
        later: list[tuple[Intervention, Site, torch.Tensor]] = []
        head: int | None = None
        for edit, site in sites:
            if site is None:
                continue
            if call.strengths is None:  # each call mixes some of the channels, and is a head
                head = number if site.call is None else site.ids.index(address.id)
            elif number and site.call is None and edit.intervention.layers is not None:
                raise _several_layers(address)
            heads, intervention = edit.heads_of(call, address, site, head), edit.intervention
            if isinstance(intervention, KnockOut):
                edit.reached(call.output.shape[2], call.output.shape[2])
                links.append((intervention, heads))
            else:
                later.append((intervention, site, heads))
        if links:
            call = replace(call, edited=self._without_links(address, call, links))
        off_later: torch.Tensor | None = None
        for intervention, site, heads in later:
            if _at_projection(intervention):
                off_later = heads if off_later is None else off_later | heads
                continue
            changed = _changed_outputs(intervention, call, site, head)
            of_heads = heads[:, None, None].to(changed.device)
            call = replace(call, edited=torch.where(of_heads, changed, call.passed_on))
        if off_later is not None:
            self.gated.switch_off(address, call, off_later)
        return call.edited

    def _without_links(
        self,
        address: Address,
        call: MixingCall,
        links: Sequence[tuple[KnockOut, torch.Tensor]],
    ) -> torch.Tensor:
        """The outputs without the links that any intervention cuts."""
        tokens = call.output.shape[2]
        if call.local and self._tokens.get(id(call.module), tokens) != tokens:
            raise ValueError(
                f"{address.module} also reads tokens before the text, which are in its cache, so "
                "that positions do not tell which they are: give use_cache=False"
            )
        earlier = address._replace(step=address.step - 1)
        if tokens == 1 and self._ends.get(earlier, 0):
            raise ValueError(
                f"{address.module} reads one token after others, whose state does not say what "
                "each of them wrote: generate with use_cache=False"
            )
        self._ends[address] = tokens
        if any(intervention.of_record for intervention, _ in links):
            # Models set what they read of padding to zero.
            _check_beginnings(address, (call.value[:, :, 0] == 0).flatten(1).all(dim=1))
        none = torch.zeros(1, call.output.shape[1], tokens, tokens, dtype=torch.bool)
        cut: dict[Meaning, torch.Tensor] = {}
        for intervention, heads in links:
            edges = _edges(intervention, heads, range(tokens), range(tokens))
            cut[intervention.meaning] = cut.get(intervention.meaning, none) | edges
        return without_links(call, cut.get("value left out", none), cut.get("never written"))

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
        self.gated.entered(module, args)
        return self.projections.entered(module, args)

    def module_left(
        self, module: torch.nn.Module, output: Any, parent: torch.nn.Module | None
    ) -> Any:
        if parent is not None and isinstance(output, torch.Tensor) and output.ndim == 3:
            self._tokens[id(parent)] = output.shape[1]
        self.projections.left(module, output)
        return self.gated.left(module, output)


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
    if not one_query or (site is not None and site.kind.cross):
        _check_beginnings(address, hidden)


def _check_beginnings(address: Address, hidden: torch.Tensor) -> None:
    """Raise a ValueError if the first token of any text is hidden, bool [M]."""
    if not bool(hidden.any()):
        return
    raise ValueError(
        f"text {int(hidden.nonzero()[0])} of the batch is padded on the left in {address.module}: "
        "KnockOut(..., record=...) has positions of a text, which begins later there. Pad on the "
        "right, run the text alone, or give positions of the padded batch without record="
    )


def _several_layers(address: Address) -> ValueError:
    return ValueError(
        f"{address.module} computes attention several times in a pass, which a record has as "
        "several layers: leave layers=None to change all, or use attnwidget.ablate, which tells "
        "them apart by an input"
    )


def _changed_outputs(
    intervention: Intervention, call: MixingCall, site: Site, head: int | None
) -> torch.Tensor:
    """The outputs in place of those of a call without a softmax.

    Args:
        head: its number among the layer's, if it is one.
    """
    before = call.passed_on
    if isinstance(intervention, Scale):
        return before * intervention.factor
    if isinstance(intervention, Ablate):
        return replacement(intervention.mode, call, cross=False)
    assert isinstance(intervention, Patch)
    if isinstance(intervention.source, HeadOutputs):
        return patched(intervention.source, site.stack, site.layer, before, head)
    raise ValueError(
        f"layer {site.layer} of stack {site.stack!r} has no softmax: patch its outputs, with "
        "what='output' and the source attnwidget.head_outputs(...)"
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
    edges = _edges(intervention, heads, range(first, first + num_queries), range(num_keys))
    return torch.zeros(edges.shape).masked_fill(edges, -torch.inf)[None]


def _edges(intervention: KnockOut, heads: torch.Tensor, here: range, there: range) -> torch.Tensor:
    """True where a link is cut among these queries and keys: bool [heads, Tq, Tk]."""
    queries, keys = (
        _within(listed(chosen, list(present)), present)
        for chosen, present in zip(intervention.sides, (here, there), strict=True)
    )
    return heads[:, None, None] & queries[:, None] & keys


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
