"""An intervention where it applies: the calls, tokens and heads of a model that it changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import cast

import torch

from attnwidget.running.stacks import Kind, kind_of
from attnwidget.tracing import Address, MixingCall, Read

from .by_layer import Place
from .change_words import Change
from .chosen import chosen_heads, last_seen, within
from .edits import (
    Chosen,
    Edit,
    Intervention,
    KnockOut,
    Mode,
    Patch,
    Scale,
    listed,
    without_heads,
)
from .layer_places import Here, Streams
from .replacements import mean_over, patched
from .sites import Site


class AppliedEdit:
    """An intervention and the attention calls that it changes.

    Attributes:
        intervention: it.
        at: its place; None for a KnockOut.
    """

    def __init__(
        self, model: torch.nn.Module, intervention: Intervention, chosen: Sequence[Site]
    ) -> None:
        self._model = model
        self.intervention = intervention
        self.at: Place | None = None if isinstance(intervention, KnockOut) else intervention.at
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
        return self.at is not None and without_heads(self.at)

    def follow(self, streams: Streams) -> None:
        """Have what is in a stream of layers changed."""
        edit = self.edit
        streams.visit(edit.at, self._sites[0].stack, edit.layers, self._in_stream)

    def _in_stream(self, here: Here) -> torch.Tensor:
        own = here.own
        tokens = self.tokens(own.shape[2], here.first, lambda: last_seen(here.seen()))
        heads = torch.ones(1, dtype=torch.bool)
        return self.replaced(
            own, heads, tokens, here.first, here.layer, lambda _: mean_over(own, here.seen())
        )

    def tokens(self, count: int, first: int, last: Callable[[], torch.Tensor]) -> torch.Tensor:
        """True for the tokens that are changed, bool [1 or M, count].

        Args:
            count: the number of tokens in a call.
            first: the position of the first one.
            last: returns the number of the last token of each text among them, [M].
        """
        positions = self.edit.positions
        self._reached["positions"] = max(self._reached["positions"], first + count)
        if positions == "last":
            at = last()
            return torch.arange(count, device=at.device) == at[:, None]
        present = range(first, first + count)
        return within(listed(cast("Chosen", positions), list(present)), present)[None]

    def replaced(
        self,
        own: torch.Tensor,
        heads: torch.Tensor,
        tokens: torch.Tensor,
        first: int,
        layer: int,
        by: Callable[[Mode], torch.Tensor],
        head: int | None = None,
    ) -> torch.Tensor:
        """The numbers at a place, with those of some heads and tokens replaced.

        Args:
            own: the numbers, [M, heads, T, d].
            heads: True for those that are changed, bool [heads].
            tokens: likewise, bool [1 or M, T].
            first: the position of the first token.
            by: returns what a mode replaces the numbers by.
            head: the number of the only head of `own` in its layer; None for all.
        """
        edit = self.edit
        positions = None
        if edit.positions is not None:
            positions = [first + n for n in tokens.any(dim=0).nonzero()[:, 0].tolist()]
        of_run = partial(
            patched,
            at=edit.at,
            stack=self._sites[0].stack,
            layer=layer,
            own=own,
            head=head,
            positions=positions,
            first=first,
        )
        if isinstance(edit, Scale):
            new = own * edit.factor
        elif isinstance(edit, Patch):
            new = of_run(edit.source)
        elif edit.over is not None:
            new = of_run(edit.over)
        else:
            new = torch.zeros_like(own) if edit.mode == "zero" else by(edit.mode)
        where = heads[:, None].to(own.device) & tokens[:, None].to(own.device)
        return torch.where(where[..., None], new, own)

    def factors(self, heads: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """The factors of heads in what a projection receives, [1 or M, T, heads].

        Args:
            heads, tokens: see `replaced`.
        """
        factor = self.edit.factor if isinstance(self.edit, Scale) else 0.0
        return torch.where(tokens[..., None] & heads.to(tokens.device), factor, 1.0)

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
        return next((each for each in self._sites if each.holds(address, signed=True)), None)

    def heads_of(self, call: MixingCall, site: Site, head: int | None) -> torch.Tensor:
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
        return self.intervention.layers is not None or self.intervention.heads is not None

    @property
    def _by_name(self) -> bool:
        """True if some layers were chosen, and are told by the names of modules."""
        return self.intervention.layers is not None and self._sites[0].call is None

    def check_lengths(self, address: Address, read: Read) -> None:
        """Raise a ValueError if layers of one name attend over sequences of several lengths."""
        if not self._by_name or address.step > 0:
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
