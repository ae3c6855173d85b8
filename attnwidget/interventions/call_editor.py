"""The handler that applies interventions to the attention calls of a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Any

import torch

from attnwidget.running.model import is_foreign
from attnwidget.tracing import (
    Address,
    Call,
    Handler,
    MixingCall,
    Piece,
    Read,
    ReadMixing,
    Sources,
    goes_on,
    joined_as,
)
from attnwidget.tracing.masks import seen_keys

from .applied_edit import AppliedEdit, several_layers
from .chosen import chosen_heads, cut_edges, hidden_keys, last_seen, sharing
from .edits import Intervention, KnockOut, Meaning
from .left_out import without_links
from .projections import GatedProjections, ProjectionInputs
from .replacements import replacement
from .sites import PIECE, Site, is_step
from .substitution import read_at, with_at


class CallEditor(Handler):
    """Applies interventions in their order.

    Attributes:
        projections, gated: the output projections in which heads are scaled.
    """

    def __init__(self, edits: list[AppliedEdit], change: str) -> None:
        self.change = change
        self.projections = ProjectionInputs()
        self.gated = GatedProjections()
        self._edits = [edit for edit in edits if not edit.in_stream]
        self._of_record = [edit for edit in edits if edit.intervention.of_record]
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
        for edit in self._of_record:
            _refuse_left_padding(edit.intervention, address, edit.site(address), shape, seen)
        for edit in self._edits:
            intervention, site = edit.intervention, edit.site(address)
            if isinstance(intervention, KnockOut) and site is not None:
                _, _, num_queries, num_keys = shape()
                first = self._first(site, address, num_queries, num_keys)
                edit.reached(first + num_queries, num_keys)
                hidden = hidden_keys(intervention, shape(), first, site.layer)
                total = hidden if total is None else total + hidden
        return total

    def attention(self, address: Address, read: Read) -> Call | None:
        self._refuse_pieces(address, read)
        found: list[tuple[AppliedEdit, Site]] = []
        for edit in self._edits:
            edit.check_lengths(address, read)
            site = None if edit.at is None else edit.site(address)
            if site is not None:
                found.append((edit, site))
        if not found:
            return None
        call = read()
        if call.passed_on is None:
            raise ValueError(f"the head outputs of {address.module} are not known")
        count, factors = call.passed_on.shape[1], list[torch.Tensor]()
        for edit, site in found:
            at = edit.edit.at
            heads = chosen_heads(edit.edit.heads, count, site.layer)
            first, tokens = self._tokens(edit, site, address, call)
            if at == "projection":
                factors.append(edit.factors(heads, tokens))
                continue
            own = read_at(call, at)
            heads = sharing(heads, own.shape[1], site, at)
            by = partial(replacement, call=call, own=own, cross=site.kind.cross)
            call = with_at(call, at, edit.replaced(own, heads, tokens, first, site.layer, by))
        if factors:
            assert call.passed_on is not None
            self.projections.scale(address, reduce(torch.mul, factors), call.passed_on)
        return call

    def _tokens(
        self, edit: AppliedEdit, site: Site, address: Address, call: Call
    ) -> tuple[int, torch.Tensor]:
        """The position of the first token at the place of an edit, and which are changed."""
        _, _, num_queries, num_keys = call.shape
        of_keys = edit.at in ("keys", "values")

        def last() -> torch.Tensor:
            if site.kind.cross and not of_keys and call.shape[0] > 1:
                raise _no_ends(address)
            keys = last_seen(seen_keys(call))
            same = of_keys or (num_queries == num_keys and not site.kind.cross)
            return keys if same else torch.full_like(keys, num_queries - 1)

        first = 0
        if edit.edit.positions is not None:
            first = self._first(site, address, num_queries, num_keys)
        if of_keys:
            return 0, edit.tokens(num_keys, 0, last)
        return first, edit.tokens(num_queries, first, last)

    def mixing(self, address: Address, read: ReadMixing) -> torch.Tensor | None:
        found = [(edit, edit.mixing_site(address)) for edit in self._edits]
        sites = [(edit, site) for edit, site in found if site is not None]
        if not sites:
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
        later: list[tuple[AppliedEdit, Site, torch.Tensor]] = []
        head: int | None = None
        for edit, site in sites:
            if call.strengths is None:  # each call mixes some of the channels, and is a head
                head = number if site.call is None else site.ids.index(address.id)
            elif number and site.call is None and edit.intervention.layers is not None:
                raise several_layers(address)
            heads, intervention = edit.heads_of(call, site, head), edit.intervention
            if isinstance(intervention, KnockOut):
                edit.reached(call.output.shape[2], call.output.shape[2])
                links.append((intervention, heads))
            else:
                later.append((edit, site, heads))
        if links:
            call = replace(call, edited=self._without_links(address, call, links))
        factors: list[torch.Tensor] = []
        for edit, site, heads in later:
            first, tokens = self._mixed_tokens(edit, address, call)
            if edit.at == "projection":
                factors.append(edit.factors(heads, tokens))
                continue
            if edit.at != "head":
                raise ValueError(
                    f"layer {site.layer} of stack {site.stack!r} has no softmax, so that its "
                    f"{edit.at} are not changed: change its outputs, at='head'"
                )
            own = call.passed_on
            by = partial(replacement, call=call, own=own, cross=site.kind.cross)
            new = edit.replaced(own, heads, tokens, first, site.layer, by, head)
            call = replace(call, edited=new)
        if factors:
            self.gated.scale(address, call, reduce(torch.mul, factors))
        return call.edited

    def _mixed_tokens(
        self, edit: AppliedEdit, address: Address, call: MixingCall
    ) -> tuple[int, torch.Tensor]:
        """The tokens of a call without a softmax, which reads a state in generation (`_tokens`)."""
        items, _, count, _ = call.output.shape
        first = 0
        if edit.edit.positions is not None:
            before = self._ends.get(address._replace(step=address.step - 1), 0)
            first = before if count == 1 else 0
            self._ends[address] = first + count

        def last() -> torch.Tensor:
            if items > 1:
                raise _no_ends(address)
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
            edges = cut_edges(intervention, heads, range(tokens), range(tokens))
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


def _no_ends(address: Address) -> ValueError:
    return ValueError(f"{address.module} does not tell where texts end: give positions by number")


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
