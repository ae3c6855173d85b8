"""What the routes of capture see: calls of attention, as the model made them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from .layout import Layout
from .scores import Scores

# (query, key, value, additive mask) -> weights [M, heads, Tq, Tk].
Reference = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]


@dataclass(frozen=True)
class FunctionCall:
    """A call of a function that takes queries, keys, values and a mask.

    M is the leading dimension: the batch, or more where a model attends within windows.

    Attributes:
        module: the attention module that called.
        route: how the call was seen.
        query, key, value: [M, heads or key heads, tokens, d], as they enter the dot product.
        mask: the attention mask as passed, or None.
        causal: whether the function lets no query see later keys, beside the mask.
        options: what else the function was told: scaling, softcap, s_aux, position_bias, ...
        reference: the model's own function that computes weights explicitly, if known; it is
            called with tensors cut down to some of the queries.
        replay: the same function on all that the model passed, given the additive mask.
        output: what the function returned, [M, heads, Tq, d_v], or None if it is not that.
    """

    module: torch.nn.Module
    route: str
    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    mask: Any
    causal: bool
    options: Mapping[str, Any]
    reference: Reference | None
    replay: Callable[[torch.Tensor | None], Any] | None
    output: torch.Tensor | None


@dataclass(frozen=True)
class SoftmaxCall:
    """A softmax over scores, whose result weighs values.

    Attributes:
        module: the innermost module that was running.
        logits: what went into the softmax, [..., Tq, Tk] (or more columns than keys).
        weights: what weighed the values, in the layout of the logits.
        scores: where the logits come from, or None if that was not followed.
        value: [..., Tk, d_v], or None.
        output: what the weights made of the values, [..., Tq, d_v], or None.
        layout: of the weights, and of all the other tensors.
    """

    module: torch.nn.Module
    logits: torch.Tensor
    weights: torch.Tensor
    scores: Scores | None
    value: torch.Tensor | None
    output: torch.Tensor | None
    layout: Layout


Call = FunctionCall | SoftmaxCall
