"""A model's pass over one text, kept so that passes with changes run only from the change on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from attnwidget.running.forward import run_model
from attnwidget.running.one_text import OneText
from attnwidget.session import ipython
from attnwidget.tracing import is_changed, trace, undisturbed

from .editor import editing
from .edits import Ablate, KnockOut, Numbers, listed
from .effect import Effect, Softmax
from .links import CutLinks
from .measure import effect_between, labels, read_output
from .sites import Site, named_sites
from .skipping import Block, BlockFinder, ExactSkips, blocks_before, skipped

# In bytes. What layers returned is kept up to this; beyond, all of them run again.
_LARGEST = 1 << 28


class KeptPass:
    """A model's pass over one text. It does not refer to the model, which may be deleted.

    Args:
        model: the model, within `attnwidget.running.model.traceable`.
        given: the text.

    Raises:
        ValueError: the model has no attention whose head outputs can be changed, or returns neither
            logits nor hidden states.
    """

    def __init__(self, model: torch.nn.Module, given: OneText) -> None:
        self._given = given
        self._state = _state(model)
        finder = BlockFinder(model)
        with undisturbed(model):
            with trace(model, finder, 1) as traced:
                plain = run_model(model, given.batch, all_logits=True)
            self._interface_only = traced.by_interface
            self._sites = named_sites(model, finder, 1).found
        self._shapes = {(call.module, call.call): call.shape for call in finder.calls}
        blocks = finder.blocks if _size(finder.blocks) <= _LARGEST else []
        self._returned = [(block.name, block.output) for block in blocks]
        self._skips = ExactSkips(given.batch, plain)
        self._before = read_output(model, plain, given.row, given.sequences)
        logits = self._before.logits
        keeps = logits is not None and logits.nbytes <= _LARGEST
        self._softmax = Softmax.of(logits) if logits is not None and keeps else None

    def is_of(self, model: torch.nn.Module) -> bool:
        """True if the model is as it was in this pass, as far as can be told without another."""
        return self._state == _state(model)

    def check(self, stack: str, cut: CutLinks) -> None:
        """Raise a ValueError if the model reads other tokens than those that are linked."""
        expected = 1, cut.num_queries, cut.num_keys
        shapes = [self._shapes[site.module, site.call] for site in self._sites_of(stack)]
        other = [shape for shape in shapes if (shape[0], *shape[2:]) != expected]
        if cut.links and other:
            raise ValueError(
                f"Links of stack {stack!r} cannot be cut here: the model attends over "
                f"{other[0][2]} x {other[0][3]} tokens, as within windows or with padding, and the "
                f"view shows {cut.num_queries} x {cut.num_keys}. attnwidget.KnockOut takes the "
                "model's own positions."
            )

    def effect(
        self, model: torch.nn.Module, tokenizer: Any, edits: Sequence[Ablate | KnockOut]
    ) -> Effect:
        """Run the model once more with changes, from the lowest of their layers on.

        Raises:
            ValueError: see `attnwidget.intervene`.
        """
        changed = [site for edit in edits for site in self._sites_of(edit.stack, edit.layers)]
        blocks = [Block(name, model.get_submodule(name), out) for name, out in self._returned]
        with undisturbed(model):
            first = blocks_before(blocks, changed)
            if not self._skips.allow(model, first):
                first = []
            with (
                editing(model, edits, self._sites, interface_only=self._interface_only),
                skipped(first),
            ):
                output = run_model(model, self._given.batch, all_logits=True)
        after = read_output(model, output, self._given.row, self._given.sequences)
        label = labels(model, tokenizer, self._before)
        return effect_between(self._before, after, label, softmax=self._softmax)

    def _sites_of(self, stack: str | None, layers: Numbers = None) -> list[Site]:
        of_stack = [site for site in self._sites if site.stack == stack]
        chosen = listed(layers, [site.layer for site in of_stack])
        return [site for site in of_stack if site.layer in chosen]


def _size(blocks: Sequence[Block]) -> int:
    leaves = tree_leaves([block.output for block in blocks])
    return sum(leaf.nbytes for leaf in leaves if isinstance(leaf, torch.Tensor))


def _state(model: torch.nn.Module) -> list[object]:
    """A list that differs once a model was changed, or a cell of the notebook has run.

    Torch counts the changes of a tensor, but not those of `tensor.data`, which a cell can make.
    """
    # A pass under an intervention is never used again: this object equals no other.
    changed = object() if is_changed() else None
    return [getattr(ipython(), "execution_count", None), changed, *_parts(model)]


def _parts(model: torch.nn.Module) -> Iterator[object]:
    for module in model.modules():
        yield id(module), len(module._forward_hooks), len(module._forward_pre_hooks)
        for tensor in (*module._parameters.values(), *module._buffers.values()):
            if tensor is not None:
                yield tensor.data_ptr(), 0 if tensor.is_inference() else tensor._version
