"""Estimates of every edge between heads from one backward pass: edge attribution patching."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, SupportsIndex

import numpy as np
import torch

from attnwidget.analysis import EdgeScores
from attnwidget.analysis.edge_scores import Receiver
from attnwidget.arguments import checked, whole
from attnwidget.progress import progress_bar, step_done
from attnwidget.running.forward import run_model
from attnwidget.running.model import traceable
from attnwidget.tracing import Address, Call, FunctionCall, MixingCall, trace, undisturbed

from .cells import others
from .frozen import exact
from .gradients import check_gradients
from .layer_places import Here, Streams
from .patch_estimate import between, gradients_by
from .sites import SiteFinder
from .substitution import outputs_with
from .two_texts import Measured, Text, TwoTexts, two_texts

INTO = ("queries", "keys", "values")


@checked(steps=whole(0), seed=whole(0))
@progress_bar("Estimating", "layers")
def edge_attribution(
    model: torch.nn.Module,
    tokenizer: Any,
    clean: Text,
    corrupt: Text,
    *,
    metric: Measured = "logit difference",
    token: str | SupportsIndex | None = None,
    against: str | SupportsIndex | None = None,
    position: int = -1,
    stack: str | None = None,
    steps: int = 0,
    null: bool = True,
    seed: int = 0,
) -> EdgeScores:
    """Estimate what every head passes on to the queries, keys and values of every later head.

    The largest, for the texts of `patch_scan`::

        edges = aw.edge_attribution(model, tokenizer, clean, corrupt, token=" Mary")
        edges.top(10)

    Edge attribution patching (Syed, Rager and Conmy 2023). An edge is the direct path from a head
    u, through the residual stream alone, to what a head v of a later layer l reads. With w_u what u
    adds to the stream (its output through the output projection), x_l the stream before layer l,
    and q the queries of v (or a head's keys, or values) as they enter the dot product,

        score(u → v) = Σ_tokens (w_u,clean - w_u,corrupt) · (∂q/∂x_l)ᵀ ∂m/∂q
                       / (m_clean - m_corrupt),

    where m is the metric, and the derivatives are those for the corrupt text: the share of it that
    the path would restore, to first order. ∂q/∂x_l is that of the layer's own norm, with the change
    of its scale (the true norm and not a frozen one), the projection and what rotates it. A norm
    between the output projection and the stream (Gemma 2) counts in w_u by its derivative. MLPs
    between both heads are not on the path. Where heads share keys and values, each that they share
    is one receiver.

    What attribution patching errs in, this does too (see `patch_estimate`); test the edges that
    matter by `path_patch`.

    Args:
        model: a decoder or encoder whose layers add an attention and an MLP to a stream that each
            passes on as it is, and do not write their softmax out.
        tokenizer, clean, corrupt, token, against, position, stack: see `patch_scan`.
        metric: see `patch_estimate`.
        steps: as for `patch_estimate`: integrated gradients (EAP-IG, Hanna, Pezzelle and Belinkov
            2024).
        null: True for the same numbers with what the heads of the clean text write at other
            positions in random order.
        seed: of these.

    Raises:
        TypeError, ValueError, IndexError: see `patch_estimate`; or the model is another one.
    """
    model = traceable(model)
    check_gradients(model)
    with undisturbed(model):
        texts = two_texts(model, tokenizer, clean, corrupt, metric, token, against, position, stack)
        outputs = [
            texts.read("head", each).layers[texts.stack] for each in (texts.clean, texts.corrupt)
        ]
        length = next(iter(outputs[0].values())).shape[2]
        every = list(range(length))
        elsewhere = others(every, length, np.random.default_rng(seed))
        orders = [every, *([elsewhere] if null and length > 1 else [])]
        totals: list[Any] = [0.0] * len(orders)
        for each, count in between(texts, steps):
            pass_ = _Pass(texts)
            with torch.enable_grad(), each(), pass_.following():
                output = run_model(model, texts.corrupt.batch, all_logits=True)
            pass_.check()
            receivers, toward = pass_.receivers(output)
            for number, taken in enumerate(orders):
                change = {
                    layer: torch.tensor(own[:, :, taken] - outputs[1][layer])
                    for layer, own in outputs[0].items()
                }
                senders, written = pass_.written(change)
                totals[number] = totals[number] + (written @ toward.T).numpy() / count
    before = np.array([[u[0] < v.layer for v in receivers] for u in senders])
    values, *nulls = [np.where(before, texts.share(1) * total, np.nan) for total in totals]
    where = f"the mean over {steps} texts between both" if steps else "for the corrupt text"
    return EdgeScores(
        "edge",
        f"The share of {texts.name} that the direct path from a head to what a later one reads "
        f"would restore, estimated from the gradient {where}: {texts.both}",
        senders,
        receivers,
        values,
        nulls[0] if nulls else None,
        "permuted positions" if nulls else None,
        texts.corrupt.described,
        texts.sites.missing,
    )


class _Pass(SiteFinder):
    """A pass in which heads and the stream have zeros added, by which parts are differentiated.

    By the number of a layer: the zeros that were added to the stream before it and to its heads'
    outputs, what its attention adds to the stream, and its queries, keys and values.
    """

    def __init__(self, texts: TwoTexts) -> None:
        super().__init__()
        self._texts = texts
        self._layers = {
            own: site.layer
            for site in texts.sites.found
            if site.stack == texts.stack
            for own in site.ids
        }
        self._begin: dict[int, torch.Tensor] = {}
        self._heads: dict[int, torch.Tensor] = {}
        self._added: dict[int, torch.Tensor] = {}
        self._read: dict[int, tuple[torch.Tensor, ...]] = {}
        # What is left of a layer's output without what it got and its parts, and the output's size.
        self._rest: dict[int, torch.Tensor] = {}
        self._size: dict[int, float] = {}

    @contextmanager
    def following(self) -> Iterator[None]:
        """Keep a pass within this context."""
        streams = Streams(self._texts.model, self._texts.sites.found)
        for place in ("residual pre", "attention", "mlp", "residual post"):
            streams.visit(place, self._texts.stack, None, partial(self._visit, place))
        with trace(self._texts.model, self, 1), streams.following():
            yield

    def _visit(self, place: str, here: Here) -> torch.Tensor:
        layer = here.layer
        if place == "residual pre":
            self._begin[layer] = torch.zeros_like(here.own, requires_grad=True)
            self._rest[layer] = -exact(here.own)
            return here.own + self._begin[layer]
        if place == "residual post":
            self._rest[layer] += exact(here.own)
            self._size[layer] = float(exact(here.own).abs().max())
            return here.own
        if place == "attention":
            self._added[layer] = here.own * here.scale
        self._rest[layer] -= here.scale * exact(here.own)
        return here.own

    def found(self, address: Address, call: Call | MixingCall | None) -> torch.Tensor | None:
        layer = self._layers.get(address.id)
        if layer is None:
            return None
        if not isinstance(call, FunctionCall) or call.passed_on is None:
            raise ValueError(
                f"{address.module} computes scores by code of its own, so that gradients by its "
                "queries, keys and values are not known"
            )
        self._read[layer] = call.query, call.key, call.value
        self._heads[layer] = torch.zeros_like(call.passed_on, requires_grad=True)
        # Computed once more: what a call has may be a view of what the model's function took.
        return outputs_with(call, "queries", call.query)[1] + self._heads[layer]

    def check(self) -> None:
        """Raise a ValueError if a layer does more to the stream than to add two parts."""
        for layer, zeros in self._heads.items():
            if layer not in self._added:
                raise ValueError(f"what the heads of layer {layer} write is not known")
            # Two sums, each of which rounds.
            rounding = 16 * torch.finfo(zeros.dtype).eps * self._size[layer]
            if float(self._rest[layer].abs().max()) > rounding:
                raise ValueError(
                    f"layer {layer} of stack {self._texts.stack!r} returns another sum than that "
                    "of what it got, its attention and its MLP, as with a norm after it: no path "
                    "to later layers is the stream alone"
                )

    def receivers(self, output: Any) -> tuple[tuple[Receiver, ...], torch.Tensor]:
        """The receivers, and the gradient by the stream of each: float64 [receivers, numbers]."""
        read = [tensor for tensors in self._read.values() for tensor in tensors]
        gradients = iter(gradients_by(self._texts, output, read, keep=True))
        found: list[Receiver] = []
        toward: list[torch.Tensor] = []
        for layer, tensors in self._read.items():
            for into, tensor, gradient in zip(INTO, tensors, gradients, strict=False):
                for head in range(tensor.shape[1]):
                    of_head = torch.zeros_like(gradient)
                    of_head[:, head] = gradient[:, head]
                    [by_stream] = torch.autograd.grad(
                        tensor, self._begin[layer], of_head, retain_graph=True
                    )
                    found.append(Receiver(layer, into, head))
                    toward.append(exact(by_stream).flatten())
            step_done()
        return tuple(found), torch.stack(toward)

    def written(
        self, change: dict[int, torch.Tensor]
    ) -> tuple[tuple[tuple[int, int], ...], torch.Tensor]:
        """The heads, and what a change of each one's output writes: float64 [heads, numbers]."""
        heads: list[tuple[int, int]] = []
        written: list[torch.Tensor] = []
        for layer, own in change.items():
            # The derivative along a direction is that of the gradient's product with it.
            added, zeros = self._added[layer], self._heads[layer]
            along = torch.zeros_like(added, requires_grad=True)
            with torch.enable_grad():
                [back] = torch.autograd.grad(added, zeros, along, create_graph=True)
                for head in range(own.shape[1]):
                    number = (back[:, head] * own[:, head].to(back)).sum()
                    [of_head] = torch.autograd.grad(number, along, retain_graph=True)
                    heads.append((layer, head))
                    written.append(exact(of_head).flatten())
        return tuple(heads), torch.stack(written)
