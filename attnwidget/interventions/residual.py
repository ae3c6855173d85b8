"""The parts that a decoder adds to its residual stream, found by following a forward pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from attnwidget.running.batches import TextBatch
from attnwidget.running.projection import linear_matrix
from attnwidget.tracing import Address, Call, MixingCall, Receiver, Receivers

from .sites import Site, Sites, followed
from .skipping import Block, BlockFinder

# By how many units in the last place a sum of three terms may differ, in another order.
_APART = 4


def exact(tensor: torch.Tensor) -> torch.Tensor:
    """The numbers in float64, which not every device has."""
    return tensor.detach().cpu().double()


@dataclass(frozen=True)
class LayerParts:
    """The parts that one layer adds to the residual stream.

    Attributes:
        site: its attention call.
        heads: what each head adds, float64 [heads, Tq, d_model].
        bias: the rest of what the attention adds, float64 [Tq, d_model].
        mlp: what the MLP adds, and the rounding of both sums, float64 [Tq, d_model].
    """

    site: Site
    heads: torch.Tensor
    bias: torch.Tensor
    mlp: torch.Tensor


@dataclass(frozen=True)
class Residual:
    """The residual stream of a decoder, of one text.

    Attributes:
        output: the model's output.
        sites: its attention calls.
        embeddings: the stream before the first layer, [Tq, d_model].
        layers: what each layer adds.
        end: the stream after the last layer, [Tq, d_model].
        norm: the module of the final normalisation.
        normed: what it returned, which the unembedding read, [Tq, d_model].
    """

    output: Any
    sites: Sites
    embeddings: torch.Tensor
    layers: tuple[LayerParts, ...]
    end: torch.Tensor
    norm: torch.nn.Module
    normed: torch.Tensor


def read_residual(
    model: torch.nn.Module, batch: TextBatch, unembedding: torch.nn.Module
) -> Residual:
    """Follow a forward pass over one text.

    Raises:
        ValueError: the model is no decoder whose layers add to one residual stream.
    """
    finder = _Follower(model)
    output, sites, _ = followed(model, batch, finder)
    if len({site.stack for site in sites.found}) != 1 or sites.missing or not finder.blocks:
        raise ValueError("logits are attributed in models with one stack of layers alone")
    normed = finder.inputs.get(id(unembedding), [torch.zeros(0)])[-1]
    ends = [
        (module, received)
        for module, received, returned in finder.made
        if returned.shape == normed.shape
        and torch.equal(returned, normed)
        and any(True for _ in module.parameters())
    ]
    with torch.no_grad():
        layers = [
            _parts(block, sites.found, finder) for block in finder.blocks if _holds(block, sites)
        ]
    first, last = finder.blocks[0], finder.blocks[-1]
    end = _tensor(last.output)
    if not ends or not torch.equal(ends[-1][1], end):
        raise ValueError("no normalisation lies between the last layer and the unembedding")
    begin = finder.inputs[id(first.module)][-1]
    return Residual(output, sites, begin[0], tuple(layers), end[0], ends[-1][0], normed[0])


def _holds(block: Block, sites: Sites) -> bool:
    return any(site.module.startswith(f"{block.name}.") for site in sites.found)


def _parts(block: Block, sites: Sequence[Site], finder: _Follower) -> LayerParts:
    [site] = [site for site in sites if site.module.startswith(f"{block.name}.")]
    stream = finder.inputs[id(block.module)][-1], _tensor(block.output)
    before, after = map(exact, stream)
    for receiver in finder.receivers.by_call[Address(site.module, 0, site.id.call)]:
        matrix = linear_matrix(receiver.module, receiver.input)
        returned = finder.returned.get(id(receiver.module))
        if matrix is None or returned is None or returned.shape != before.shape:
            continue
        attention = exact(returned)
        rest = after - before - attention
        rounding = _APART * max(torch.finfo(each.dtype).eps for each in (*stream, returned))
        limit = rounding * (before.abs() + attention.abs() + after.abs())
        for made in finder.within(block):
            if made.numel() == rest.numel() and bool(
                ((exact(made).reshape(rest.shape) - rest).abs() <= limit).all()
            ):
                heads = _of_heads(receiver, exact(matrix))
                bias = attention[0] - heads.sum(dim=0)
                return LayerParts(site, heads, bias, rest[0])
    raise ValueError(
        f"{block.name} does not add its attention's output to the residual stream as it is, so "
        "that no part of a logit belongs to a head: a norm or a factor lies between"
    )


def _of_heads(receiver: Receiver, matrix: torch.Tensor) -> torch.Tensor:
    """Head outputs through the output projection, [heads, Tq, d_model]."""
    received = exact(receiver.input)
    outputs = received.reshape(-1, receiver.heads, receiver.width).transpose(0, 1)
    return outputs @ matrix.reshape(receiver.heads, receiver.width, -1)


def _tensor(output: Any) -> torch.Tensor:
    found: torch.Tensor = output[0] if isinstance(output, tuple) else output
    return found


class _Follower(BlockFinder):
    """Keeps what modules received and returned.

    Attributes:
        receivers: the modules that received head outputs.
        inputs: by identity of a module, what it received.
        returned: by identity of a module, what it returned last.
        made: (module, received, returned) in order.
    """

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__(model)
        self.receivers = Receivers()
        self.inputs: dict[int, list[torch.Tensor]] = {}
        self.returned: dict[int, torch.Tensor] = {}
        self.made: list[tuple[torch.nn.Module, torch.Tensor, torch.Tensor]] = []

    def within(self, block: Block) -> list[torch.Tensor]:
        """The tensors that the modules within a layer returned."""
        return [
            self.returned[id(module)]
            for module in block.module.modules()
            if module is not block.module and id(module) in self.returned
        ]

    def found(self, address: Address, call: Call | MixingCall | None) -> None:
        self.receivers.expect(address, None if call is None else call.passed_on)

    def module_entered(self, module: torch.nn.Module, args: tuple[Any, ...]) -> None:
        self.receivers.module_entered(module, args)
        if args and isinstance(args[0], torch.Tensor):
            self.inputs.setdefault(id(module), []).append(args[0])

    def module_left(
        self, module: torch.nn.Module, output: Any, parent: torch.nn.Module | None
    ) -> None:
        super().module_left(module, output, parent)
        found = output[0] if isinstance(output, tuple) and output else output
        if isinstance(found, torch.Tensor):
            found = found.clone()  # some models add to it in place
            self.returned[id(module)] = found
            if id(module) in self.inputs:
                self.made.append((module, self.inputs[id(module)][-1], found))
