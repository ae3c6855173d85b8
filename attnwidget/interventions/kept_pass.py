"""A model's pass over one text, kept so that changes run from their lowest layer on."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch.utils._pytree import tree_leaves

from attnwidget.running.forward import run_model
from attnwidget.running.one_text import OneText
from attnwidget.session import ipython
from attnwidget.tracing import is_changed, undisturbed

from .editor import editing
from .effect import Effect
from .measure import effect_between
from .off import Off
from .sites import Site, sites_of
from .skipping import Block, RepeatedText
from .text_output import labels, read_output

# In bytes. What layers returned is kept up to this; beyond, all of them run again.
_LARGEST = 1 << 28

# The sets of other heads beside those that are off, and the draws in which as many are sought.
_OTHERS = 6
_TRIES = 60


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
        with undisturbed(model):
            self._whole = RepeatedText(model, given.batch, 1)
        self._sites = self._whole.sites.found
        if _size(self._whole.blocks) > _LARGEST:
            self._whole.blocks.clear()
        self._before = read_output(model, self._whole.plain, given.row, given.sequences)

    def is_of(self, model: torch.nn.Module) -> bool:
        """True if the model is as it was in this pass, as far as can be told without another."""
        return self._state == _state(model)

    def check(self, off: Off) -> None:
        """Raise a ValueError if the model reads other tokens than those that are linked."""
        expected = 1, off.num_queries, off.num_keys
        shapes = [self._whole.shapes[site.id] for site in sites_of(self._sites, off.stack)]
        other = [shape for shape in shapes if (shape[0], *shape[2:]) != expected]
        if off.links and other:
            raise ValueError(
                f"Links of stack {off.stack!r} cannot be cut here: the model attends over "
                f"{other[0][2]} x {other[0][3]} tokens, as within windows or with padding, and the "
                f"view shows {off.num_queries} x {off.num_keys}. attnwidget.KnockOut takes the "
                "model's own positions."
            )

    def effect(self, model: torch.nn.Module, tokenizer: Any, off: Off) -> Effect:
        """Run the model once more with changes, from the lowest of their layers on.

        Raises:
            ValueError: see `attnwidget.intervene`.
        """
        self.check(off)
        return self._effect(model, off, labels(model, tokenizer, self._before))

    def others(self, model: torch.nn.Module, off: Off) -> tuple[float, ...]:
        drawn = _drawn(sites_of(self._sites, off.stack), off)
        effects = (self._effect(model, replace(off, heads=heads), str) for heads in drawn)
        changes = (float(effect.change.mean()) for effect in effects)
        return tuple(change for change in changes if math.isfinite(change))

    def _effect(self, model: torch.nn.Module, off: Off, label: Callable[[int], str]) -> Effect:
        edits = off.edits
        changed = [site for edit in edits for site in sites_of(self._sites, off.stack, edit.layers)]
        with (
            undisturbed(model),
            self._whole.above(model, changed),
            editing(model, edits, self._sites, interface_only=self._whole.by_interface),
        ):
            output = run_model(model, self._given.batch, all_logits=True)
        after = read_output(model, output, self._given.row, self._given.sequences)
        return effect_between(self._before, after, label)


def _drawn(sites: Sequence[Site], off: Off) -> list[tuple[tuple[int, int], ...]]:
    """Sets of other heads, as many of each layer as are off."""
    random = np.random.default_rng(0)
    count = Counter(layer for layer, _ in off.heads)
    rest = {
        site.layer: [head for head in range(site.heads) if (site.layer, head) not in off.heads]
        for site in sites
        if site.layer in count
    }
    if off.links or any(len(rest[layer]) < number for layer, number in count.items()):
        return []
    drawn: set[tuple[tuple[int, int], ...]] = set()
    for _ in range(_TRIES):
        if len(drawn) < _OTHERS:
            chosen = {n: random.choice(rest[n], count[n], replace=False).tolist() for n in count}
            drawn.add(tuple((n, head) for n in chosen for head in sorted(chosen[n])))
    return sorted(drawn)


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
