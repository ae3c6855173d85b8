"""Gradients of a pass in which norms keep the scale that they have."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import torch

# By how much a norm's output may miss its linear form, of the largest; in half precision, by so
# many units in the last place.
_APART, _UNITS = 1e-4, 4

Note = Callable[[float], None]
"""Takes what a bias adds."""


class _Mark(torch.autograd.Function):
    """The same numbers, whose origin can be told from the history of what is made of them."""

    @staticmethod
    def forward(_ctx: Any, numbers: torch.Tensor) -> torch.Tensor:
        return numbers.clone()  # which the model may change in place

    @staticmethod
    def backward(_ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        return gradient


class StreamMark(_Mark):
    """Marks the stream."""


class HeadMark(_Mark):
    """Marks the outputs of heads."""


def depends_on(made: Sequence[torch.Tensor]) -> tuple[bool, bool]:
    """True for (the stream, outputs of heads) if tensors were made of it since the latest marks."""
    names = {node.name() for node in _history(made)}
    return "StreamMarkBackward" in names, "HeadMarkBackward" in names


def leaves_of(made: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """The tensors without a history that tensors were made of."""
    return [node.variable for node in _history(made) if hasattr(node, "variable")]


def _history(made: Sequence[torch.Tensor]) -> Iterator[Any]:
    """The functions that tensors were made by, back to the latest marks."""
    waiting: list[Any] = [each.grad_fn for each in made if each.grad_fn is not None]
    seen = set(waiting)
    while waiting:
        node = waiting.pop()
        yield node
        if node.name() not in ("StreamMarkBackward", "HeadMarkBackward"):
            new = {each for each, _ in node.next_functions if each is not None} - seen
            seen |= new
            waiting += new


def freeze(module: torch.nn.Module, read: torch.Tensor, made: Any, note: Note) -> Any:
    """The output of a module without a matrix, as a linear function of what it read.

    It may be a norm with a scale for each position, a factor for each component, and a bias, or
    return what it read. Whether it is one is found only if gradients go through it.
    """
    if not isinstance(made, torch.Tensor) or made.shape != read.shape:
        return made
    return _Frozen.apply(read, made.detach(), module, note)  # type: ignore[no-untyped-call]


def passed(module: torch.nn.Module, read: torch.Tensor, made: Any, note: Note) -> Any:
    """The output of a linear module, whose bias is noted when gradients go through it."""
    if not isinstance(made, torch.Tensor):
        return made
    return _Passed.apply(made, read[..., :1, :].detach(), module, note)  # type: ignore[no-untyped-call]


class _Frozen(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, read: torch.Tensor, made: torch.Tensor, module: torch.nn.Module, note: Note
    ) -> torch.Tensor:
        ctx.read, ctx.made, ctx.module, ctx.note = read.detach(), made, module, note
        return made.clone()

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        if torch.equal(ctx.read, ctx.made):
            return gradient, None, None, None
        read, made = exact(ctx.read), exact(ctx.made)
        factors, bias = _form(ctx.module, ctx.read)
        shifted = made - bias
        # Where means are near 0, a norm that subtracts them and one that does not are alike.
        forms = []
        for centred in (False, True):
            shaped = (read - centred * read.mean(dim=-1, keepdim=True)) * factors
            size = (shaped * shaped).sum(-1, keepdim=True).clamp(min=1e-300)
            scale = (shaped * shifted).sum(-1, keepdim=True) / size
            apart = (scale * shaped - shifted).abs().max() / made.abs().max().clamp(min=1e-300)
            forms.append((float(apart), centred, scale))
        error, centred, scale = min(forms, key=lambda form: form[0])
        if error > max(_APART, _UNITS * torch.finfo(ctx.made.dtype).eps):
            raise ValueError(
                f"{type(ctx.module).__name__}, which parts of the logit go through, is neither a "
                "LayerNorm nor an RMSNorm, so that its output has no parts"
            )
        toward = exact(gradient)
        ctx.note(float((toward * bias).sum()))
        back: torch.Tensor = scale * factors * toward
        if centred:
            back = back - back.mean(dim=-1, keepdim=True)
        return back.to(gradient), None, None, None


class _Passed(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, made: torch.Tensor, row: torch.Tensor, module: torch.nn.Module, note: Note
    ) -> torch.Tensor:
        ctx.row, ctx.module, ctx.note = row, module, note
        return made.view_as(made)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        # A module that takes more than this, as an index of experts, is taken to have no bias: if
        # it has one, the sum of the layer does not hold.
        with suppress(Exception):
            constant = exact(_quiet(ctx.module, torch.zeros_like(ctx.row)))
            if bool(constant.any()):
                ctx.note(float((exact(gradient) * constant).sum()))
        return gradient, None, None, None


def _form(module: torch.nn.Module, read: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(the factors of a norm, its bias), each [d]."""
    # Zeros give the bias, and numbers whose mean is 0 the factors.
    signs = torch.ones_like(read[..., :1, :])
    signs[..., 1::2] = -1
    if signs.shape[-1] % 2:
        signs[..., -2:] = signs.new_tensor([1.0, -2.0])
    bias = exact(_quiet(module, torch.zeros_like(signs)))
    return (exact(_quiet(module, signs)) - bias) / exact(signs), bias


def _quiet(module: torch.nn.Module, given: torch.Tensor) -> torch.Tensor:
    """The output of a module, without the hooks that follow it."""
    with torch.no_grad():
        made: torch.Tensor = module.forward(given)
    return made


def exact(numbers: torch.Tensor) -> torch.Tensor:
    """The numbers in float64, which not every device has."""
    return numbers.detach().cpu().double()
