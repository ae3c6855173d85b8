"""Interventions within a context, in which a model runs changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import get_args

import torch

from attnwidget.arguments import checked, instance
from attnwidget.running.model import traceable
from attnwidget.tracing import trace

from .applied_edit import AppliedEdit
from .call_editor import CallEditor
from .change_words import in_words
from .edits import Intervention, KnockOut, listed, without_heads
from .layer_places import Streams
from .sites import Site, sites_by_name, sites_of, usual_stacks


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
    edits = [AppliedEdit(model, each, _chosen(model, sites, each)) for each in interventions]
    several = len({site.stack for site in sites}) > 1
    change = in_words(edit.change(several=several) for edit in edits)
    editor = CallEditor(edits, change)
    whole = any(each.at == "projection" or each.signed for each in edits)
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
