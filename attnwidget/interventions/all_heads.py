"""Numbers of all heads of a model: their importance, effects and contributions.

Each function imports torch as it is called, so that records can be opened and shown without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from attnwidget.progress import counted

from .attention_gradients import AttentionGradients
from .head_scores import HeadScores

if TYPE_CHECKING:
    import torch

    from attnwidget.corpus.texts import Texts

    from .importance import Per
    from .losses import Loss


def head_importance(
    model: torch.nn.Module,
    tokenizer: Any,
    texts: Texts,
    *,
    loss: Loss | None = None,
    per: Per = "text",
    normalize: bool = False,
    batch_size: int = 16,
    max_tokens: int | None = None,
) -> HeadScores:
    """Estimate how much a loss depends on each head, for all heads in one backward pass.

    Michel et al. 2019, "Are Sixteen Heads Really Better than One?", section 4: |∂L/∂ξ|, where ξ is
    a factor of the head's output before the output projection, at ξ = 1. To first order, the loss
    of a text changes by -∂L/∂ξ if the head is switched off.

    Args:
        model, tokenizer, texts, batch_size, max_tokens: see `attnwidget.profile`.
        loss: `loss(output, inputs)` gets the model's output and its inputs by name, and returns
            the loss of each text, a tensor [texts]. None for the mean cross-entropy of the next
            token, in nats, which only language models have.
        per: "text" takes the absolute value for each text (the paper's formula), "token" for each
            query position (the paper's code), "batch" of the mean over a batch. The order of heads
            depends on it, because signs of several texts cancel each other.
        normalize: True to divide by the ℓ2 norm over the heads of the same layer, as the paper
            does before it compares layers.

    Returns:
        The importance of every head. The parameters' `grad` stays as it is.

    Raises:
        TypeError: see `attnwidget.profile`, or `loss` returned no tensor.
        ValueError: there are no texts, the model has no loss of its own and `loss` is None, `loss`
            returned another shape, or gradients cannot be computed (torch.inference_mode).
    """
    from .importance import importance_of_heads

    total = len(texts) if isinstance(texts, (list, tuple)) else None
    with counted("Differentiating", "texts", total):
        return importance_of_heads(
            model,
            tokenizer,
            texts,
            loss=loss,
            per=per,
            normalize=normalize,
            batch_size=batch_size,
            max_tokens=max_tokens,
        )


def attention_gradients(
    model: torch.nn.Module,
    tokenizer: Any,
    text: str | Mapping[str, Any],
    text_pair: str | None = None,
    *,
    target: str | None = None,
    batch_index: int = 0,
    loss: Loss | None = None,
) -> AttentionGradients:
    """Differentiate a loss by every attention weight of one text.

    Clark et al. 2019, "What Does BERT Look At?", section 3.2: where ∂L/∂A is small, the model's
    loss hardly depends on the attention, however large it is.

    Args:
        model, tokenizer, text, text_pair, target, batch_index: see `attnwidget.capture`.
        loss: see `head_importance`.

    Returns:
        Weights, gradients and their products, [Tq, Tk] for each head.

    Raises:
        TypeError, ValueError, IndexError: see `attnwidget.capture` and `head_importance`.
    """
    from .weight_gradients import gradients_of_weights

    return gradients_of_weights(
        model,
        tokenizer,
        text,
        text_pair,
        target=target,
        batch_index=batch_index,
        loss=loss,
    )
