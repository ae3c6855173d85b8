"""Interventions within a context: a handler applies them to the attention calls of a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, cast, get_args

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
from attnwidget.tracing.masks import seen_keys

from .change_words import Change, in_words
from .edits import (
    Ablate,
    Chosen,
    Edit,
    Intervention,
    KnockOut,
    Meaning,
    Scale,
    listed,
    without_heads,
)
from .gated_projections import GatedProjections
from .layer_places import Here, Streams
from .left_out import without_links
from .projection_inputs import ProjectionInputs
from .replacements import mean_at, mean_over, patched, replacement
from .sites import PIECE, Site, is_step, sites_by_name, sites_of, usual_stacks
from .substitution import read_at, with_at


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

    For a change in the stream of layers, the first call within the context runs them once more
    before, to find where they add to it.

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
    streams = Streams(model, sites)
    for edit in (edit for edit in edits if edit.in_stream):
        edit.follow(streams)
    with (
        streams.following(),
        trace(model, editor, None, changes=True, interface_only=interface_only),
    ):
        yield
    editor.projections.check()
    editor.gated.check()
    if may_miss:
        return
    streams.check_called()
    for edit in edits:
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
    if not isinstance(intervention, KnockOut) and without_heads(intervention.at):
        return sites_of(found, stack)  # whose layers may be others than those with attention
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
        # The most queries and keys that a call had, or tokens.
        self._reached = {"queries": 0, "keys": 0, "positions": 0}
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
        if self.in_stream:
            layers = tuple(listed(self.intervention.layers, list(layers)))
        stack = self._sites[0].stack if several else ""
        return Change(self.intervention, layers, stack, self.signed)

    @property
    def in_stream(self) -> bool:
        """True if it is in the stream of layers, not in a call of attention."""
        return isinstance(self.intervention, Edit) and without_heads(self.intervention.at)

    def follow(self, streams: Streams) -> None:
        """Have what is in a stream of layers changed."""
        edit, stack = self.intervention, self._sites[0].stack
        assert isinstance(edit, Edit)
        streams.visit(edit.at, stack, edit.layers, partial(self._in_stream, stack))

    def _in_stream(self, stack: str, here: Here) -> torch.Tensor:
        edit, own = self.intervention, here.own
        assert isinstance(edit, Edit)
        chosen = self.tokens(own.shape[2], here.first, lambda: _last(here.seen()))
        new = self.changed(
            own, chosen, here.first, stack, here.layer, lambda: mean_over(own, here.seen())
        )
        if chosen is None:
            return new
        return torch.where(chosen[:, None, :, None].to(own.device), new, own)

    def tokens(
        self, count: int, first: int, last: Callable[[], torch.Tensor]
    ) -> torch.Tensor | None:
        """True for the tokens that are changed, bool [1 or M, count]; None for all.

        Args:
            count: the number of tokens in a call.
            first: the position of the first one.
            last: returns the number of the last token of each text among them, [M].
        """
        assert isinstance(self.intervention, Edit)
        positions = self.intervention.positions
        if positions is None:
            return None
        self._reached["positions"] = max(self._reached["positions"], first + count)
        if positions == "last":
            at = last()
            return torch.arange(count, device=at.device) == at[:, None]
        chosen = listed(cast("Chosen", positions), [])
        return _within(chosen, range(first, first + count))[None]

    def changed(
        self,
        own: torch.Tensor,
        chosen: torch.Tensor | None,
        first: int,
        stack: str,
        layer: int,
        mean: Callable[[], torch.Tensor],
        head: int | None = None,
    ) -> torch.Tensor:
        """The replacement of what is at a place, [M, heads, T, d], at the chosen tokens or all.

        Args:
            mean: returns what mode "mean", or another one, replaces it by.
        """
        edit = self.intervention
        assert isinstance(edit, Edit)
        if isinstance(edit, Scale):
            return own * edit.factor
        source = edit.over if isinstance(edit, Ablate) else edit.source
        if source is not None:
            positions = None
            if chosen is not None:
                positions = [first + n for n in chosen.any(dim=0).nonzero()[:, 0].tolist()]
            return patched(
                source, edit.at, stack, layer, own, head=head, positions=positions, first=first
            )
        assert isinstance(edit, Ablate)
        return torch.zeros_like(own) if edit.mode == "zero" else mean().expand_as(own)

    def site(self, address: Address) -> Site | None:
        """The site of the call at this address; None if it is not to be changed.

        Raises:
            ValueError: several calls are of the same site, so that it is no single layer.
        """
        site = next((each for each in self._sites if each.holds(address)), None)
        if site is None or self.in_stream:
            return None
        if self._by_name and site.call is None and address.call > 0:
            raise _several_layers(address)
        self._called.add(site)
        return site

    def mixing_site(self, address: Address) -> Site | None:
        """The site of a call without a softmax; None if it is not to be changed: see `site`."""
        if self.in_stream:
            return None
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
        if self.in_stream:
            return False
        return self.intervention.layers is not None or self.intervention.heads is not None

    @property
    def _by_name(self) -> bool:
        """True if some layers were chosen, and are told by the names of modules."""
        return self.intervention.layers is not None and self._sites[0].call is None

    def check_lengths(self, address: Address, read: Read) -> None:
        """Raise a ValueError if layers of one name attend over sequences of several lengths."""
        if not self._by_name or address.step > 0 or self.in_stream:
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
        never = [] if self.in_stream else [s for s in self._sites if s not in self._called]
        if never:
            raise ValueError(
                f"layer {never[0].layer} of stack {never[0].stack!r} was not called within the "
                f"intervention: {self.intervention} had no effect there"
            )
        if self._heads:
            _mask(listed(self.intervention.heads, []), self._heads, self._sites[0].layer)
        if isinstance(self.intervention, KnockOut):
            sides = dict(zip(("queries", "keys"), self.intervention.sides, strict=True))
        elif self.intervention.positions == "last":
            return
        else:
            sides = {"positions": cast("Chosen", self.intervention.positions)}
        for side, chosen in sides.items():
            given, count = listed(chosen, []), self._reached[side]
            if given and min(given) >= count:
                what = "tokens" if side == "positions" else side
                raise ValueError(
                    f"{side} begin at position {min(given)}, but no text within the intervention "
                    f"had more than {count} {what}: {self.intervention} had no effect"
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
        self._lengths: dict[int, int] = {}

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
            site = edit.site(address)
            if intervention.of_record:
                _refuse_left_padding(intervention, address, site, shape, seen)
            if isinstance(intervention, KnockOut) and site is not None:
                _, _, num_queries, num_keys = shape()
                first = self._first(site, address, num_queries, num_keys)
                edit.reached(first + num_queries, num_keys)
                hidden = _hidden(intervention, shape(), first, site.layer)
                total = hidden if total is None else total + hidden
        return total

    def attention(self, address: Address, read: Read) -> Call | None:
        call: Call | None = None
        factors: torch.Tensor | None = None
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
            at = intervention.at
            chosen = self._tokens(edit, site, address, call)
            if at == "projection":
                new = _factors(intervention, heads, chosen, before)
                factors = new if factors is None else factors * new
                continue
            own = read_at(call, at)
            heads = sharing(heads, own.shape[1], site, at)
            first, tokens = chosen
            changed = edit.changed(
                own,
                tokens,
                first,
                site.stack,
                site.layer,
                partial(_mean, intervention, call, own, site),
            )
            where = heads[:, None].to(own.device)
            if tokens is not None:
                where = where & tokens[:, None].to(own.device)
            call = with_at(call, at, torch.where(where[..., None], changed, own))
        if call is not None and factors is not None:
            assert call.passed_on is not None
            self.projections.scale(address, factors, call.passed_on)
        return call

    def _tokens(
        self, edit: _Edit, site: Site, address: Address, call: Call
    ) -> tuple[int, torch.Tensor | None]:
        """The position of the first token at the place of an edit, and which are changed."""
        intervention = edit.intervention
        assert isinstance(intervention, Edit)
        if intervention.positions is None:
            return 0, None
        _, _, num_queries, num_keys = call.shape
        first = self._first(site, address, num_queries, num_keys)
        of_keys = intervention.at in ("keys", "values")

        def last() -> torch.Tensor:
            if site.kind.cross and not of_keys and call.shape[0] > 1:
                raise ValueError(
                    f"{address.module} does not tell where texts end: give positions by number"
                )
            keys = _last(seen_keys(call))
            same = of_keys or (num_queries == num_keys and not site.kind.cross)
            return keys if same else torch.full_like(keys, num_queries - 1)

        if of_keys:
            return 0, edit.tokens(num_keys, 0, last)
        return first, edit.tokens(num_queries, first, last)

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
        later: list[tuple[_Edit, Site, torch.Tensor]] = []
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
                later.append((edit, site, heads))
        if links:
            call = replace(call, edited=self._without_links(address, call, links))
        factors: torch.Tensor | None = None
        for edit, site, heads in later:
            intervention, before = edit.intervention, call.passed_on
            assert isinstance(intervention, Edit)
            chosen = self._mixed_tokens(edit, address, call)
            if _at_projection(intervention):
                new = _factors(intervention, heads, chosen, before)
                factors = new if factors is None else factors * new
                continue
            if intervention.at != "head":
                raise ValueError(
                    f"layer {site.layer} of stack {site.stack!r} has no softmax, so that its "
                    f"{intervention.at} are not changed: change its outputs, at='head'"
                )
            first, tokens = chosen
            changed = edit.changed(
                before,
                tokens,
                first,
                site.stack,
                site.layer,
                partial(_mean, intervention, call, before, site),
                head,
            )
            where = heads[:, None].to(before.device)
            if tokens is not None:
                where = where & tokens[:, None].to(before.device)
            call = replace(call, edited=torch.where(where[..., None], changed, before))
        if factors is not None:
            self.gated.scale(address, call, factors)
        return call.edited

    def _mixed_tokens(
        self, edit: _Edit, address: Address, call: MixingCall
    ) -> tuple[int, torch.Tensor | None]:
        """The tokens of a call without a softmax, which reads a state in generation (`_tokens`)."""
        intervention = edit.intervention
        assert isinstance(intervention, Edit)
        if intervention.positions is None:
            return 0, None
        items, _, count, _ = call.output.shape
        before = self._ends.get(address._replace(step=address.step - 1), 0)
        first = before if count == 1 else 0
        self._ends[address] = first + count

        def last() -> torch.Tensor:
            if items > 1:
                raise ValueError(
                    f"{address.module} does not tell where texts end: give positions by number"
                )
            return torch.tensor([count - 1])

        return first, edit.tokens(count, first, last)

    def _without_links(
        self,
        address: Address,
        call: MixingCall,
        links: Sequence[tuple[KnockOut, torch.Tensor]],
    ) -> torch.Tensor:
        """The outputs without the links that any intervention cuts."""
        tokens = call.output.shape[2]
        if call.local and self._lengths.get(id(call.module), tokens) != tokens:
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
        for edit in [each for each, _ in links if each.of_record][:1]:
            # Models set what they read of padding to zero.
            _check_beginnings(edit, address, (call.value[:, :, 0] == 0).flatten(1).all(dim=1))
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
            self._lengths[id(parent)] = output.shape[1]
        self.projections.left(module, output)
        return self.gated.left(module, output)


def _last(seen: torch.Tensor) -> torch.Tensor:
    """The number of the last token that is seen, of bool [M, tokens]: [M]."""
    numbers = torch.arange(seen.shape[1], device=seen.device)
    return (seen * numbers).amax(dim=1)


def _mean(edit: Edit, call: Call | MixingCall, own: torch.Tensor, site: Site) -> torch.Tensor:
    """The replacement, by a mode other than "zero", of what is at the place of an edit."""
    assert isinstance(edit, Ablate)
    if edit.at == "head" or isinstance(call, MixingCall):
        return replacement(edit.mode, call, cross=site.kind.cross)
    return mean_at(call, own, cross=site.kind.cross)


def _factors(
    edit: Edit,
    heads: torch.Tensor,
    chosen: tuple[int, torch.Tensor | None],
    outputs: torch.Tensor,
) -> torch.Tensor:
    """The factors of heads in what a projection receives, [1 or M, T, heads].

    Args:
        heads: True for those that are changed, bool [heads].
        chosen: the first position, and True for the tokens that are, bool [1 or M, T].
        outputs: of the heads, [M, heads, T, d].
    """
    factor = edit.factor if isinstance(edit, Scale) else 0.0
    tokens = chosen[1]
    if tokens is None:
        tokens = torch.ones(1, outputs.shape[2], dtype=torch.bool)
    where = tokens[..., None] & heads.to(tokens.device)
    return torch.where(where, factor, 1.0)


def _refuse_left_padding(
    edit: Intervention,
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
        _check_beginnings(edit, address, hidden)


def _check_beginnings(edit: Intervention, address: Address, hidden: torch.Tensor) -> None:
    """Raise a ValueError if the first token of any text is hidden, bool [M]."""
    if not bool(hidden.any()):
        return
    raise ValueError(
        f"text {int(hidden.nonzero()[0])} of the batch is padded on the left in {address.module}: "
        f"{type(edit).__name__}(..., record=...) has positions of a text, which begins later "
        "there. Pad on the right, run the text alone, or give positions of the padded batch "
        "without record="
    )


def _several_layers(address: Address) -> ValueError:
    return ValueError(
        f"{address.module} computes attention several times in a pass, which a record has as "
        "several layers: leave layers=None to change all, or use attnwidget.ablate, which tells "
        "them apart by an input"
    )


def _at_projection(intervention: Intervention) -> bool:
    return not isinstance(intervention, KnockOut) and intervention.at == "projection"


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


def sharing(heads: torch.Tensor, count: int, site: Site, at: str) -> torch.Tensor:
    """The same heads among so many, each of which several may share: bool [count].

    Raises:
        ValueError: some of those that share one are chosen, and others are not.
    """
    by_key_head = heads.reshape(count, -1)
    chosen = by_key_head.any(dim=1)
    split = (chosen & ~by_key_head.all(dim=1)).nonzero()
    if len(split):
        size = by_key_head.shape[1]
        first = int(split[0]) * size
        raise ValueError(
            f"heads {first} to {first + size - 1} of layer {site.layer} of stack {site.stack!r} "
            f"share their {at}: change all of them"
        )
    return chosen


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
