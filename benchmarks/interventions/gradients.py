"""Gradients of heads, beside the same by the weights, by the projection and by differences."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch

from attnwidget.interventions.editor import editing
from attnwidget.interventions.edits import Scale
from attnwidget.interventions.gradients import OutputGradient, output_gradients
from attnwidget.interventions.sites import Site
from attnwidget.interventions.weight_gradients import attention_gradients
from attnwidget.running.batches import TextBatch
from attnwidget.running.forward import run_model
from attnwidget.running.one_text import one_text
from attnwidget.tracing import undisturbed
from benchmarks import zoo

Loss = Callable[[Any, Any], torch.Tensor]

# Factors of a head's output differ by so much from 1, each by half of the one before: small steps
# for a loss that curves, larger ones for a loss that hardly changes.
_STEPS = (0.064, 0.032, 0.016, 0.008, 0.004, 0.002, 0.001)


@dataclass(frozen=True)
class GradientErrors:
    """The gradients of one layer.

    Attributes:
        module: its name.
        errors: of "sums", "projection" and "differences", relative to the largest gradient.
        spread: how far differences by several steps are apart, likewise.
    """

    module: str
    errors: Mapping[str, float]
    spread: float


def gradient_errors(
    built: zoo.Built, projections: Mapping[tuple[str, int], torch.nn.Module], loss: Loss
) -> list[GradientErrors]:
    """The errors of the first layer of every stack.

    Args:
        projections: the modules that receive the head outputs of calls.
    """
    model = built.model
    torch.manual_seed(0)  # some models draw random numbers
    gradients = attention_gradients(model, None, built.inputs, loss=loss)
    batch = one_text(model, None, built.inputs, None, None, 0).batch
    torch.manual_seed(0)
    _, found, _ = output_gradients(model, batch, loss)
    sites = [each.site for each in found]
    known = [each for each in found if each.site.layer in gradients.layers.get(each.site.stack, {})]
    first = {each.site.stack: each for each in reversed(known)}
    errors = []
    for each in first.values():
        slopes = (each.output.double() * each.gradient.double()).sum(dim=(0, 2, 3))
        # Before a norm of all heads, gradients by their factors are zero up to rounding.
        largest = float(slopes.abs().max().clamp(min=1e-4))
        products = torch.tensor(gradients.layer(each.site.layer, each.site.stack).products)
        sums = products.double().sum(dim=(1, 2))
        of_layer = {"sums": float((slopes - sums).abs().max()) / largest}
        projection = projections.get((each.site.module, each.site.call))
        if projection is not None:
            by_columns = _by_projection(model, batch, loss, projection, each)
            if by_columns is not None:
                of_layer["projection"] = float((slopes - by_columns).abs().max()) / largest
        head = int(slopes.abs().argmax())
        of_layer["differences"], spread = _by_differences(
            model, batch, loss, sites, each.site, head, float(slopes[head])
        )
        errors.append(GradientErrors(each.site.module, of_layer, spread))
    return errors


def _by_projection(
    model: torch.nn.Module,
    batch: TextBatch,
    loss: Loss,
    projection: torch.nn.Module,
    each: OutputGradient,
) -> torch.Tensor | None:
    """The gradients by factors of each head's columns of the projection, without interventions.

    None where other layers use the same weight.
    """
    weight = projection.weight
    calls: list[None] = []
    hook = projection.register_forward_hook(lambda *_: calls.append(None))
    shared = sum(weight is other for m in model.modules() for other in m.parameters(recurse=False))
    asked = weight.requires_grad
    try:
        weight.requires_grad_(True)
        with undisturbed(model), torch.enable_grad():
            torch.manual_seed(0)
            total = loss(run_model(model, batch, all_logits=True), {})
            (gradient,) = torch.autograd.grad(total, [weight], materialize_grads=True)
    finally:
        hook.remove()
        weight.requires_grad_(asked)
    if len(calls) != 1 or shared != 1:
        return None
    inputs = 0 if isinstance(projection, torch.nn.Linear) else 1  # Conv1D has [in, out]
    columns: torch.Tensor = (weight.detach().double() * gradient.double()).sum(dim=inputs)
    heads = each.output.shape[1]
    return columns.reshape(heads, -1).sum(dim=1) if len(columns) % heads == 0 else None


def _by_differences(
    model: torch.nn.Module,
    batch: TextBatch,
    loss: Loss,
    sites: list[Site],
    site: Site,
    head: int,
    slope: float,
) -> tuple[float, float]:
    """The smallest relative error of the slope of the loss between two factors of a head's output.

    Slopes of two steps give one without the loss's curvature (Richardson's extrapolation).

    Returns:
        (the error, how far the slopes of several steps are apart).
    """
    slopes: list[float] = []
    for step in _STEPS:
        losses = []
        for factor in (1 + step, 1 - step):
            edit = Scale(factor, site.layer, head, site.stack)
            with undisturbed(model), editing(model, [edit], sites):
                torch.manual_seed(0)
                losses.append(float(loss(run_model(model, batch, all_logits=True), {})))
        slopes.append((losses[0] - losses[1]) / (2 * step))
    extrapolated = [(4 * half - whole) / 3 for whole, half in pairwise(slopes)]
    # The loss is near 1 and in float32, which tells no smaller slopes apart.
    found = (*slopes, *extrapolated)
    size = max(abs(slope), 1e-3)
    return min(abs(each - slope) for each in found) / size, (max(found) - min(found)) / size
