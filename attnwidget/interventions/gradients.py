"""Losses of texts, and their gradients by the head outputs of every attention call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
import torch.nn.functional as F

from attnwidget.running.batches import TextBatch
from attnwidget.running.forward import run_model
from attnwidget.tracing import Address, Call, CallId, MixingCall, can_generate, trace, undisturbed

from .sites import Site, SiteFinder

Loss: TypeAlias = Callable[[Any, Mapping[str, Any]], torch.Tensor]
"""(the model's output, its inputs by name) -> the loss of each text, [texts]."""


@dataclass(frozen=True)
class OutputGradient:
    """The gradient at one attention call.

    Attributes:
        site: the call.
        output: the head outputs, [M, heads, Tq, d_v].
        gradient: of the loss by these; 0 where the loss does not depend on them.
        kept: what the function `keep` has returned for the call; the first one of several.
    """

    site: Site
    output: torch.Tensor
    gradient: torch.Tensor
    kept: object


def output_gradients(
    model: torch.nn.Module,
    batch: TextBatch,
    loss: Loss | None,
    keep: Callable[[CallId, Call | MixingCall], object] = lambda own, call: None,
) -> tuple[float, list[OutputGradient], tuple[str, ...]]:
    """Run a model over a batch, and differentiate the sum of the losses of its texts.

    The `grad` of parameters stays as it is.

    Args:
        keep: is called with each call; its result is kept.

    Returns:
        (the sum of the losses, the gradients in the order of the calls, missing calls as
        "module: reason").

    Raises:
        ValueError: gradients cannot be computed here; or see `text_losses`.
    """
    check_gradients(model)
    reader = _Reader(keep)
    # Layers that run once more in the backward pass do so within the trace.
    with undisturbed(model), torch.enable_grad(), trace(model, reader, len(batch.texts)):
        losses = text_losses(model, run_model(model, batch, all_logits=True), batch, loss)
        sites = reader.sites(model, len(batch.texts))
        if not losses.requires_grad:
            raise ValueError(
                "the loss does not depend on the model's attention: it was computed without "
                "gradients, or of detached tensors"
            )
        probes = reader.probes
        gradients = torch.autograd.grad(
            losses.sum(), [probe.added for probe in probes.values()], allow_unused=True
        )
    if all(gradient is None for gradient in gradients):
        raise ValueError("the loss does not depend on the model's attention")
    by_call = {
        own: torch.zeros_like(probe.output) if gradient is None else gradient
        for (own, probe), gradient in zip(probes.items(), gradients, strict=True)
    }
    found = [
        OutputGradient(
            site,
            torch.cat([probes[own].output for own in site.ids], dim=1),
            torch.cat([by_call[own] for own in site.ids], dim=1),
            probes[site.id].kept,
        )
        for site in sites.found
    ]
    return float(losses.detach().sum()), found, sites.missing


def text_losses(
    model: torch.nn.Module, output: Any, batch: TextBatch, loss: Loss | None
) -> torch.Tensor:
    """The loss of each text, [texts]; by default the mean cross-entropy of the next token.

    Raises:
        TypeError: `loss` returned no tensor.
        ValueError: it has another shape, or the model is no language model and there is no `loss`.
    """
    if loss is None:
        return _next_token_losses(model, output, batch)
    found = loss(output, batch.tensors)
    if not isinstance(found, torch.Tensor):
        raise TypeError(f"loss returned {type(found).__name__}; expected a tensor [texts]")
    count = len(batch.texts)
    if found.ndim == 0 and count == 1:
        return found[None]
    if found.shape != (count,):
        raise ValueError(
            f"loss returned a tensor of shape {list(found.shape)} for a batch of {count} texts; "
            'expected one number per text, as of cross_entropy(..., reduction="none"), or give '
            "batch_size=1"
        )
    return found


def _next_token_losses(model: torch.nn.Module, output: Any, batch: TextBatch) -> torch.Tensor:
    logits = getattr(output, "logits", None)
    if not isinstance(logits, torch.Tensor) or logits.ndim != 3 or not can_generate(model):
        raise ValueError(
            f"{type(model).__name__} predicts no next token, so it has no loss of its own; give "
            "loss=, a function (output, inputs) -> the loss of each text [texts]"
        )
    losses = []
    for text, row in zip(batch.texts, batch.rows, strict=True):
        name, padded = ("input_ids", row.text)
        if row.target is not None:
            name, padded = ("decoder_input_ids", row.target)
        if padded is None or len(padded.kept) < 2:
            raise ValueError(f"text {text.index} has no next token to predict: it has one token")
        kept = padded.kept.to(logits.device)
        ids = batch.tensors[name][row.index, kept]
        losses.append(F.cross_entropy(logits[row.index, kept[:-1]].float(), ids[1:]))
    return torch.stack(losses)


def check_gradients(model: torch.nn.Module) -> None:
    """Raise a ValueError if torch computes no gradients of this model here."""
    if torch.is_inference_mode_enabled():
        raise ValueError(
            "gradients cannot be computed within torch.inference_mode(): leave it, or use "
            "torch.no_grad() there"
        )
    if any(tensor.is_inference() for tensor in (*model.parameters(), *model.buffers())):
        raise ValueError(
            "the model was loaded within torch.inference_mode(), so it has no gradients: load it "
            "outside"
        )


@dataclass(frozen=True)
class _Probe:
    """Zeros that were added to the head outputs of a call, whose gradient is that of these."""

    added: torch.Tensor
    output: torch.Tensor
    kept: object


class _Reader(SiteFinder):
    """Adds zeros to all head outputs."""

    def __init__(self, keep: Callable[[CallId, Call | MixingCall], object]) -> None:
        super().__init__()
        self.probes: dict[CallId, _Probe] = {}
        self._keep = keep

    def found(self, address: Address, call: Call | MixingCall | None) -> torch.Tensor | None:
        output = None if call is None else call.passed_on
        if call is None or output is None:
            return None
        added = torch.zeros_like(output, requires_grad=True)
        kept = self._keep(address.id, call)
        self.probes[address.id] = _Probe(added, output.detach(), kept)
        return output + added
