"""Attention calls of a model, as each of the routes observes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

import torch

from .layout import Layout
from .provenance import Scores

# (query, key, value, additive mask) -> weights [M, heads, Tq, Tk].
Reference: TypeAlias = Callable[
    [torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor
]

# The same arguments, with None for no mask -> the softmaxes within the model's explicit function.
Recompute: TypeAlias = Callable[
    [torch.Tensor, torch.Tensor, torch.Tensor, "torch.Tensor | None"], "list[SoftmaxCall]"
]

# Head outputs [M, heads, Tq, d_v] -> the result of the model's attention function with these.
Rebuild: TypeAlias = Callable[[torch.Tensor], Any]

# The rows and columns of feature maps.
Maps: TypeAlias = "tuple[tuple[int, int], ...]"


# (query, key, value, additive mask [1 or M, 1 or heads, Tq, Tk]) -> (the result of the model's
# attention function with these in place of its own, its head outputs).
Rerun: TypeAlias = Callable[
    [torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor], "tuple[Any, torch.Tensor | None]"
]


class Address(NamedTuple):
    """The place of an attention call within a trace.

    Attributes:
        module: the name of the module that called.
        step: the forward pass of the model, counted from 0 (-1: before the first).
        call: the module's attention calls in this pass are counted from 0.
    """

    module: str
    step: int
    call: int

    @property
    def id(self) -> CallId:
        """The call, whatever the pass."""
        return CallId(self.module, self.call)


class CallId(NamedTuple):
    """An attention call of a model, the same in every pass.

    Attributes:
        module: the name of the module that calls.
        call: the module's attention calls in a pass are counted from 0.
    """

    module: str
    call: int


@dataclass(frozen=True)
class FunctionCall:
    """A call of a function that takes queries, keys, values and a mask.

    M is the leading dimension: the batch, or more where a model attends within windows.

    Attributes:
        module: the attention module that called.
        route: the name of the route that saw the call.
        query, key, value: [M, heads or key heads, tokens, d], as they enter the dot product.
        mask: the attention mask as passed, or None.
        causal: True if the function itself hides later keys, in addition to the mask.
        options: further arguments: scaling, softcap, s_aux, position_bias, ...
        reference: the model's own function that computes weights explicitly, if known; it is
            called with tensors cut down to some of the queries.
        recompute: runs `reference` with all other arguments that the model gave, and returns the
            softmaxes within it.
        output: the head outputs [M, heads, Tq, d_v], or None if the function returned none.
        rebuild: makes the function's result from other head outputs.
        rerun: runs the function that computes weights explicitly, if known, on other tensors.
        edited: the head outputs that the model goes on with, if a handler replaced them.
    """

    module: torch.nn.Module
    route: str
    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    mask: Any
    causal: bool
    options: Mapping[str, Any]
    output: torch.Tensor | None
    rebuild: Rebuild
    reference: Reference | None = None
    recompute: Recompute | None = None
    rerun: Rerun | None = None
    edited: torch.Tensor | None = None

    @property
    def passed_on(self) -> torch.Tensor | None:
        """The head outputs that the model goes on with."""
        return self.output if self.edited is None else self.edited

    @property
    def shape(self) -> torch.Size:
        """Shape of the scores: [M, heads, Tq, Tk]."""
        return torch.Size((*self.query.shape[:3], self.key.shape[2]))


@dataclass(frozen=True)
class SoftmaxCall:
    """A softmax over scores, whose result weighs values.

    Attributes:
        module: the innermost module that was running.
        logits: the softmax's input, [..., Tq, Tk] (or more columns than keys).
        weights: the weights that were multiplied with the values, in the layout of the logits.
        scores: the provenance of the logits, or None if it is not known.
        value: [..., Tk, d_v], or None.
        layout: of the weights, logits, scores and values.
        output: the head outputs [M, heads, Tq, d_v], or None where their layout is not known.
        rebuild: makes the product of weights and values from other head outputs.
        edited: the head outputs that the model goes on with, if a handler replaced them.
        maps: of keys that are the cells of feature maps one after the other, each map's rows and
            columns.
    """

    module: torch.nn.Module
    logits: torch.Tensor
    weights: torch.Tensor
    scores: Scores | None
    value: torch.Tensor | None
    layout: Layout
    output: torch.Tensor | None = None
    rebuild: Rebuild | None = None
    edited: torch.Tensor | None = None
    maps: Maps = ()

    @property
    def passed_on(self) -> torch.Tensor | None:
        """The head outputs that the model goes on with."""
        return self.output if self.edited is None else self.edited

    @property
    def shape(self) -> torch.Size:
        """Shape of the scores: [M, heads, Tq, Tk]."""
        return self.layout.apply(self.weights).shape


@dataclass(frozen=True)
class Strengths:
    """The tensors that a recurrence reads besides its values: see `attnwidget.record.Recurrence`.

    Attributes:
        query, key: [M, heads or fewer, T, d].
        scale: factor on the queries.
        decay: [M, heads, T, 1 or d], logarithms, or None.
        write, erase: [M, heads, T], or None.
        own: [heads], or None.
    """

    query: torch.Tensor
    key: torch.Tensor
    scale: float = 1.0
    decay: torch.Tensor | None = None
    write: torch.Tensor | None = None
    erase: torch.Tensor | None = None
    own: torch.Tensor | None = None


@dataclass(frozen=True)
class MixingCall:
    """A call of a function that mixes tokens without a softmax, and is linear in its values.

    Attributes:
        module: the module that called.
        value: [M, heads, T, d_v]; of a function that mixes each channel by itself, [M, 1, T, d_v].
        output: of the same shape.
        strengths: None if each channel is mixed by itself.
        rerun: runs the function on other values, [M, heads, T, n], with n = d_v
            where there are no strengths; None if that is not possible, or not linear.
        rebuild: makes the function's result from other outputs.
        local: True for a convolution, which other modules may have beside what mixes their tokens.
        edited: the outputs that the model goes on with, if a handler replaced them.
    """

    module: torch.nn.Module
    value: torch.Tensor
    output: torch.Tensor
    strengths: Strengths | None
    rerun: Callable[[torch.Tensor], torch.Tensor] | None
    rebuild: Rebuild
    local: bool = False
    edited: torch.Tensor | None = None

    @property
    def passed_on(self) -> torch.Tensor:
        """The outputs that the model goes on with."""
        return self.output if self.edited is None else self.edited


Call: TypeAlias = FunctionCall | SoftmaxCall

# Returns the tensors of a call; raises ValueError if their layout is not known.
Read: TypeAlias = Callable[[], Call]

# The same of a call without a softmax; raises ValueError if its coefficients are not known.
ReadMixing: TypeAlias = Callable[[], MixingCall]


class Observer(Protocol):
    """A function that a route calls after every attention call."""

    def __call__(self, module: torch.nn.Module, read: Callable[[], Any], result: Any) -> Any:
        """Return the result of the call, or a replacement for the model.

        `read` returns the call, as `Read` or `ReadMixing` does.
        """


class Bias(Protocol):
    """A function that a route calls before every softmax of scores."""

    def __call__(
        self,
        module: torch.nn.Module,
        shape: Callable[[], torch.Size],
        seen: Callable[[], torch.Tensor],
    ) -> torch.Tensor | None:
        """Return numbers to add to scores of this shape [M, heads, Tq, Tk], or None.

        `seen` returns True for the keys that any query sees, bool [M, Tk].
        """


def head_values(call: Call) -> torch.Tensor:
    """The values of each query head of a call, [M, heads, Tk, d_v].

    Raises:
        ValueError: they are not known.
    """
    value = call.value if isinstance(call, FunctionCall) else softmax_values(call)
    return value.repeat_interleave(call.shape[1] // value.shape[1], dim=1)


def softmax_values(call: SoftmaxCall) -> torch.Tensor:
    """The values of a call, [M, heads or key heads, Tk, d_v].

    Batch and heads may be folded into one dimension in the product with the values alone.

    Raises:
        ValueError: they are not known.
    """
    value = call.value
    if value is None:
        raise ValueError("the values of this attention are not known")
    if value.ndim == call.layout.ndim:
        return call.layout.apply(value)
    found = Layout.of(value.shape, call.module, call.shape[0]).apply(value)
    weights = call.layout.apply(call.weights)
    if call.output is None or not torch.allclose(weights @ found, call.output, atol=1e-4):
        raise ValueError("the layout of the values is not known")
    return found
