"""Numbers of all heads of a model: their importance, effects and contributions.

Each function imports torch as it is called, so that records can be opened and shown without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, SupportsIndex

from attnwidget.analysis import HeadScores
from attnwidget.progress import progress_bar

from .attention_gradients import AttentionGradients
from .edits import Ablate, Mode, Numbers, Patch, whole_numbers
from .head_outputs import HeadOutputs
from .logit_attribution import LogitAttribution
from .prune_curve import PruneCurve

if TYPE_CHECKING:
    import torch

    from attnwidget.running.texts import Texts

    from .importance import Per
    from .losses import Loss
    from .scan import By, OnScore


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
    with progress_bar("Differentiating", "texts", total):
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


def ablation_scan(
    model: torch.nn.Module,
    tokenizer: Any,
    text: str | Mapping[str, Any],
    text_pair: str | None = None,
    *,
    target: str | None = None,
    batch_index: int = 0,
    stack: str | None = None,
    layers: Numbers = None,
    by: By = "head",
    mode: Mode = "zero",
    source: HeadOutputs | None = None,
    metric: Callable[[Any], float] | None = None,
    null: bool = True,
    batch_size: int = 16,
    seed: int = 0,
    on_score: OnScore | None = None,
) -> HeadScores:
    """Switch every head off, one after the other, and measure the difference in the output.

    A batch has the same text in every row, and in each row another head is off. Layers below the
    first of these are not computed again where the model's output follows exactly from what they
    returned. The numbers are those of `ablate`, one head at a time, up to rounding.

    Args:
        model, tokenizer, text, text_pair, target, batch_index: see `attnwidget.capture`.
        stack: the stack whose heads are switched off; None for all.
        layers: the number of a layer, or of several; None for all.
        by: what is off at a time: a "head"; a "group" of heads that share keys and values; or a
            "layer", all of its heads. Each head then has the number of its group or layer. Where a
            model writes its softmax out, which heads share keys is not known, and each is a group.
        mode: what replaces a head's output, see `Ablate`.
        source: the outputs of another run (`head_outputs`) to replace them by, in place of `mode`:
            each head is patched, as by `Patch`.
        metric: your own function from the model's output for one text to a number, of which the
            change is measured. None for the KL divergence of the predictions, or the turn of the
            hidden states (see `Effect`), the mean over positions.
        null: True to measure, for each head, random directions of its layer as well: as many
            directions in the outputs of all heads of the layer as a head or group has dimensions
            are replaced in the same way; for a layer, as many random heads of its stack. This
            takes as long again.
        batch_size: the number of rows of a batch: of heads, groups or layers, each off in its own.
        seed: of the random directions.
        on_score: called with (stack, layer, head, number) as soon as a head's number is known.

    Returns:
        The difference that each head makes, and the same of the null.

    Raises:
        TypeError, ValueError, IndexError: see `attnwidget.capture`; there is no such stack or
            layer, or the model returns neither logits nor hidden states, and there is no metric.
    """
    from .scan import scan_heads

    # Both check what they are given.
    Ablate(mode=mode)
    if source is not None:
        Patch(source)
    layers = whole_numbers(layers, "layers")
    with progress_bar("Switching off", "heads"):
        return scan_heads(
            model,
            tokenizer,
            text,
            text_pair,
            target=target,
            batch_index=batch_index,
            stack=stack,
            layers=layers,
            by=by,
            replaced_by=mode if source is None else source,
            metric=metric,
            null=null,
            batch_size=batch_size,
            seed=seed,
            on_score=on_score,
        )


def prune_curve(
    model: torch.nn.Module,
    tokenizer: Any,
    texts: Texts,
    order: HeadScores | Iterable[tuple[Any, ...]],
    *,
    loss: Loss | None = None,
    mode: Mode = "zero",
    points: int = 11,
    random_orders: int = 3,
    batch_size: int = 16,
    max_tokens: int | None = None,
    seed: int = 0,
) -> PruneCurve:
    """Switch off more and more heads, and measure the loss, beside heads in random order.

    Michel et al. 2019, figure 3.

    Args:
        model, tokenizer, texts, batch_size, max_tokens: see `attnwidget.profile`.
        order: numbers of all heads (`head_importance`, `ablation_scan`), the smallest absolute one
            goes first; or the heads in order, each (layer, head), or (stack, layer, head).
        loss: see `head_importance`.
        mode: what replaces a head's output, see `Ablate`.
        points: the number of points, evenly spread from no head to all that are in the order.
        random_orders: the number of random orders of the same heads; 0 for none.
        seed: of the random orders.

    Raises:
        TypeError, ValueError: see `head_importance`; or the model lacks a head of the order, or
            the order has one twice.
    """
    from .pruning import curve

    for name, given, least in (
        ("points", points, 2),
        ("random_orders", random_orders, 0),
        ("seed", seed, 0),
    ):
        if type(given) is not int or given < least:
            raise ValueError(f"{name} is {given!r}; expected a number from {least}")
    with progress_bar("Pruning", "points", 1 + (points - 1) * (1 + random_orders)):
        return curve(
            model,
            tokenizer,
            texts,
            order,
            loss=loss,
            mode=mode,
            points=points,
            random_orders=random_orders,
            batch_size=batch_size,
            max_tokens=max_tokens,
            seed=seed,
        )


def logit_attribution(
    model: torch.nn.Module,
    tokenizer: Any,
    text: str | Mapping[str, Any],
    *,
    token: str | SupportsIndex,
    against: str | SupportsIndex | None = None,
    position: int = -1,
    total: bool = True,
    batch_size: int = 16,
) -> LogitAttribution:
    """Split a logit into what each head and layer of a decoder writes to it.

    A head's direct effect is its output through the output projection, the final normalisation
    with the scale that it has for this text, and the unembedding. Its total effect is the logit
    less that without the head, which is switched off as by `Ablate`: later layers may make up for
    a part of it.

    Args:
        model: a decoder whose layers add to one residual stream (GPT-2, Llama, ...).
        tokenizer, text: see `attnwidget.capture`; the first text of a batch.
        token: the token whose logit is split: a string that is one token, or its id.
        against: another token, whose logit is subtracted: the difference is what decides between
            both; None for none.
        position: the position that predicts the token, among those of the text.
        total: True to measure the total effects as well, which takes about as long as an
            `ablation_scan` without a null.
        batch_size: see `ablation_scan`.

    Returns:
        The parts, whose sum is the logit, with the signs that they have.

    Raises:
        TypeError, ValueError: see `attnwidget.capture`; the string is several tokens, or the model
            is none whose logits have such parts (layers that normalise what they add, logits that
            are changed after the unembedding).
        IndexError: there is no such position.
    """
    from .attribution import attribute

    with progress_bar("Attributing", "heads"):
        return attribute(
            model,
            tokenizer,
            text,
            token=token,
            against=against,
            position=position,
            total=total,
            batch_size=batch_size,
        )
