"""Path patching: the effect of a head by way of what some later heads read."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Literal, SupportsIndex

import torch

from attnwidget.analysis import GridScores
from attnwidget.arguments import checked, head_pairs, one_of, whole
from attnwidget.progress import progress_bar, step_done
from attnwidget.running.forward import run_model
from attnwidget.running.model import traceable
from attnwidget.tracing import (
    Address,
    Call,
    CallId,
    Handler,
    MixingCall,
    PassEnded,
    Read,
    ReadMixing,
    trace,
    undisturbed,
)

from .by_layer import HeadOutputs
from .cell_patches import CellPatches
from .cells import Grid
from .sites import Site, is_step
from .skipping import RepeatedText
from .substitution import read_at, with_at
from .two_texts import Measured, Text, TwoTexts, two_texts

Into = Literal["queries", "keys", "values"]

# (layer, head)
Head = tuple[int, int]


@checked(
    receivers=head_pairs(),
    into=one_of(Into),
    senders=head_pairs(none=True),
    batch_size=whole(1),
    seed=whole(0),
)
@progress_bar("Patching", "heads")
def path_patch(
    model: torch.nn.Module,
    tokenizer: Any,
    clean: Text,
    corrupt: Text,
    *,
    receivers: Sequence[Head],
    into: Into = "queries",
    senders: Sequence[Head] | None = None,
    metric: Measured = "logit difference",
    token: str | SupportsIndex | None = None,
    against: str | SupportsIndex | None = None,
    position: int = -1,
    stack: str | None = None,
    null: bool = True,
    batch_size: int = 16,
    seed: int = 0,
) -> GridScores:
    """Patch the path from each head to the queries, keys or values of some later heads.

    From every head to the queries of head 4 of layer 24::

        aw.path_patch(model, tokenizer, clean, corrupt, receivers=[(24, 4)], token=" Mary")

    Path patching (Wang et al. 2023; Goldowsky-Dill et al. 2023), by two
    passes on the corrupt text. In the first, every head of the model is held at its corrupt
    output, but the sender, which has that of the clean text; norms and MLPs are computed again, so
    that the path goes through the residual stream and MLPs, and through no other head. What the
    receivers read there is put into the second, in which all else is computed as usual. A number
    is the share of the metric that this restores, as of `patch_scan`.

    Args:
        model, tokenizer, clean, corrupt, metric, token, against, position: see `patch_scan`.
        receivers: the later heads, as (layer, head), which are patched together. Of keys and values
            that heads share, each that they share has one number: of 9 heads that share 3, 0 to 2.
        into: what they read: "queries", "keys" or "values".
        senders: the heads, as (layer, head), each of which is patched by itself; None for all below
            the last receiver.
        stack: as for `Ablate`, of senders and receivers.
        null: True for a null: the sender's outputs of the clean text at other positions, in random
            order. This takes as long again.
        batch_size: the number of rows of a batch, each with another sender.
        seed: of the permutations.

    Returns:
        A grid of layers by heads, the senders; NaN for other heads.

    Raises:
        TypeError, ValueError, IndexError: see `patch_scan`; there is no such head, or no sender is
            below a receiver.
    """
    model = traceable(model)
    with undisturbed(model):
        texts = two_texts(model, tokenizer, clean, corrupt, metric, token, against, position, stack)
        source = texts.read("head", texts.clean)
        reads = texts.read(into, texts.corrupt).layers[texts.stack]
        wanted: dict[int, list[int]] = {}
        for layer, head in receivers:
            count = reads[layer].shape[1] if layer in reads else 0
            if not 0 <= head < count:
                there = f"there are {count} {into}" if count else f"no {into} are known there"
                raise ValueError(f"receiver {layer, head} does not exist: {there}")
            wanted.setdefault(layer, []).append(head)
        last = max(wanted, default=-1)
        known = source.layers[texts.stack]
        below = [(n, head) for n in known if n < last for head in range(known[n].shape[1])]
        chosen = below if senders is None else senders
        for sender in chosen:
            if sender not in below:
                raise ValueError(f"sender {sender} does not exist below layer {last}, a receiver's")
        if not chosen:
            raise ValueError(f"no head is below receivers {list(receivers)}: there is no path")
        layers = sorted({layer for layer, _ in chosen})
        grid = Grid("head", "head", known, layers, permuted=null)
        cells = [cell for cell in grid.cells(seed) if (cell.layer, cell.heads[0]) in chosen]
        repeated = RepeatedText(model, texts.corrupt.batch, batch_size)
        rows = repeated.rows
        path = _Path(texts, rows, _outputs(texts), wanted, into, source)
        for first in range(0, len(cells), rows):
            path.cells = cells[first : first + rows]
            lowest = min(cell.layer for cell in path.cells)
            for path.is_second, layer in ((False, lowest), (True, min(wanted))):
                with (
                    suppress(PassEnded),
                    repeated.above(model, path.sites_from(layer)),
                    path.following(),
                ):
                    output = run_model(model, repeated.batch, all_logits=True)
            for row, cell in enumerate(path.cells):
                grid.put(cell, texts.restored(output, row, rows))
                if cell.null is None:
                    step_done()
    named = ", ".join(f"{layer}-{head}" for layer, head in receivers)
    return GridScores(
        "restored",
        f"The share of {texts.name} that the path from a head to the {into} of {named} restores, "
        f"with all other heads held at those of the corrupt text: {texts.both}",
        into,
        "head",
        grid.rows,
        grid.columns(()),
        grid.values,
        grid.null,
        None if grid.null is None else "permuted positions",
        texts.corrupt.described,
        missing=source.missing,
    )


def _outputs(texts: TwoTexts) -> dict[CallId, torch.Tensor]:
    """The outputs of every head of the model for the corrupt text."""
    reader = _Reader()
    with trace(texts.model, reader, 1):
        run_model(texts.model, texts.corrupt.batch, all_logits=True)
    return reader.outputs


class _Reader(Handler):
    def __init__(self) -> None:
        self.outputs: dict[CallId, torch.Tensor] = {}

    def attention(self, address: Address, read: Read) -> None:
        self._keep(address, read())

    def mixing(self, address: Address, read: ReadMixing) -> None:
        call = read()
        if not is_step(call):
            self._keep(address, call)

    def _keep(self, address: Address, call: Call | MixingCall) -> None:
        if call.passed_on is None:
            raise ValueError(
                f"the head outputs of {address.module} are not known, so they cannot be held"
            )
        self.outputs[address.id] = call.passed_on.clone()


class _Path(CellPatches):
    """Both passes of a path, with another sender in each row.

    Attributes:
        is_second: True for the pass in which receivers read what they read in the first, which
            ends when all have.
    """

    def __init__(
        self,
        texts: TwoTexts,
        rows: int,
        held: dict[CallId, torch.Tensor],
        receivers: dict[int, list[int]],
        into: Into,
        source: HeadOutputs,
    ) -> None:
        super().__init__(texts, "head", rows, [source])
        self.is_second = False
        self._held = held
        self._receivers = receivers
        self._into = into
        self._reads: dict[int, torch.Tensor] = {}

    def attention(self, address: Address, read: Read) -> Call | None:
        site, head = self._of_call.get(address.id, (None, None))
        heads = [] if site is None else self._receivers.get(site.layer, [])
        call = read()
        if not self.is_second:
            if heads and site is not None:
                self._reads[site.layer] = read_at(call, self._into)[:, heads]
                if site.layer == max(self._receivers):
                    raise PassEnded
            return with_at(call, "head", self._from_sender(address, site, head))
        if not heads or site is None:
            return None
        new = read_at(call, self._into).clone()
        new[:, heads] = self._reads[site.layer]
        return with_at(call, self._into, new)

    def mixing(self, address: Address, read: ReadMixing) -> torch.Tensor | None:
        if self.is_second or address.id not in self._held:
            return None
        return self._from_sender(address, *self._of_call.get(address.id, (None, None)))

    def _from_sender(self, address: Address, site: Site | None, head: int | None) -> torch.Tensor:
        own = self._held[address.id].repeat(self.rows, 1, 1, 1)
        return own if site is None else self.changed(site.layer, own, head)
