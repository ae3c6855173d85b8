"""An intervention where it applies: the calls, tokens and heads of a model that it changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import cast

import torch

from attnwidget.running.stacks import Kind, kind_of
from attnwidget.tracing import Address, MixingCall, Read

from .change_words import Change
from .chosen import chosen_heads, last_seen, within
from .edits import Ablate, Chosen, Edit, Intervention, KnockOut, Scale, listed, without_heads
from .layer_places import Here, Streams
from .replacements import mean_over, patched
from .sites import Site


class AppliedEdit:
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
    def edit(self) -> Edit:
        """The intervention, which is no KnockOut."""
        assert not isinstance(self.intervention, KnockOut)
        return self.intervention

    @property
    def in_stream(self) -> bool:
        """True if it is in the stream of layers, not in a call of attention."""
        return not isinstance(self.intervention, KnockOut) and without_heads(self.intervention.at)

    @property
    def at_projection(self) -> bool:
        """True if it is in the input of the output projection."""
        return not isinstance(self.intervention, KnockOut) and self.intervention.at == "projection"

    def follow(self, streams: Streams) -> None:
        """Have what is in a stream of layers changed."""
        edit, stack = self.edit, self._sites[0].stack
        streams.visit(edit.at, stack, edit.layers, partial(self._in_stream, stack))

    def _in_stream(self, stack: str, here: Here) -> torch.Tensor:
        own = here.own
        chosen = self.tokens(own.shape[2], here.first, lambda: last_seen(here.seen()))
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
        positions = self.edit.positions
        if positions is None:
            return None
        self._reached["positions"] = max(self._reached["positions"], first + count)
        if positions == "last":
            at = last()
            return torch.arange(count, device=at.device) == at[:, None]
        chosen = listed(cast("Chosen", positions), [])
        return within(chosen, range(first, first + count))[None]

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
        edit = self.edit
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
            raise several_layers(address)
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
            return chosen_heads(heads, count, site.layer)
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
        kind = kind_of(self._model, address.id)
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
            chosen_heads(self.intervention.heads, self._heads, self._sites[0].layer)
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


def several_layers(address: Address) -> ValueError:
    return ValueError(
        f"{address.module} computes attention several times in a pass, which a record has as "
        "several layers: leave layers=None to change all, or use attnwidget.ablate, which tells "
        "them apart by an input"
    )
