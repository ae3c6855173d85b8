"""Which part of a call is recorded, by the tower that makes it."""

from __future__ import annotations

import torch

from .inputs import Inputs
from .item import Item, Padded
from .stacks import is_cross, tower
from .target import is_encoder_decoder

_MEDIA = ("vision", "audio", "qformer")


class Items:
    """The items of one batch.

    Args:
        repeats: how often `generate` may repeat what a tower is given, once for each beam.
    """

    def __init__(self, model: torch.nn.Module, inputs: Inputs, repeats: int = 1) -> None:
        self._two = is_encoder_decoder(model)
        self._inputs = inputs
        self._repeats = repeats
        # One object for each kind: masks are read once for all calls with the same item.
        self._known: dict[tuple[str, bool], list[Item]] = {}

    def of(self, name: str) -> list[Item]:
        """The item that is recorded of a module's calls, alone in a list."""
        own, cross = tower(name), is_cross(name)
        if (own, cross) not in self._known:
            self._known[own, cross] = [self._item(own, cross)]
        return self._known[own, cross]

    def _item(self, own: str, cross: bool) -> Item:
        inputs = self._inputs
        batch, index = inputs.batch, inputs.batch_index
        queries: Padded | None = inputs.text
        keys = inputs.cached or inputs.text
        if own in _MEDIA:
            queries, keys = None, None
            # Of other images than one for each item, it is not known which are whose.
            batch, index = (batch, index) if inputs.media in (None, batch) else (1, 0)
        elif self._two and own == "decoder":
            queries, keys = inputs.target, inputs.text if cross else inputs.target
        elif cross:
            keys = None
        return Item(batch, index, queries, keys, self._repeats)
