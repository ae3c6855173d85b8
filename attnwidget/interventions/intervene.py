"""Running a model with changed attention: in a context, or on one text with its effect."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from .edits import Ablate, Intervention, Mode, Patch, PlaceInLayer
from .effect import Effect
from .head_outputs import HeadOutputs

if TYPE_CHECKING:
    import torch


def intervene(model: torch.nn.Module, *interventions: Intervention) -> AbstractContextManager[None]:
    """Change the attention of a model within this context, in every call of it.

    Calls on this thread are changed, also those of `model.generate`, and `attnwidget.capture` and
    other interventions within the context see the changed model; a record has the changes in its
    model's name. The model itself, its parameters and hooks stay as they are::

        with aw.intervene(model, aw.Ablate(layers=18, heads=[4, 6])):
            logits = model(**inputs).logits

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
    # Imported here, so that records can be opened and shown without torch.
    import torch

    from .editor import editing

    if not isinstance(model, torch.nn.Module):
        raise TypeError(
            f"model is {type(model).__name__}; expected a torch.nn.Module, which comes first: "
            "intervene(model, Ablate(...))"
        )
    return editing(model, interventions)


def ablate(
    model: torch.nn.Module,
    tokenizer: Any,
    text: str | Mapping[str, Any],
    text_pair: str | None = None,
    *,
    heads: Iterable[tuple[int, int]],
    stack: str | None = None,
    mode: Mode = "zero",
    at: PlaceInLayer = "head",
    source: HeadOutputs | None = None,
    target: str | None = None,
    batch_index: int = 0,
    metric: Callable[[Any], float] | None = None,
    record: bool = True,
) -> Effect:
    """Switch heads off, and measure the difference in the output of one text.

    Args:
        model, tokenizer, text, text_pair, target, batch_index: see `attnwidget.capture`.
        heads: (layer, head) of each head that is off.
        stack, mode, at: see `Ablate`.
        source: the outputs of another run (`head_outputs`) to replace them by, in place of `mode`
            and `at`: the heads are patched, as by `Patch`.
        metric: your own function from the model's output to a number.
        record: True to capture the attention before and after as well: later layers may attend
            elsewhere without these heads.

    Returns:
        The predictions, or the hidden states, before and after.

    Raises:
        TypeError, ValueError, IndexError: see `attnwidget.capture` and `intervene`; or the model
            returns neither logits nor hidden states, and there is no metric.
    """
    # Imported here, so that records can be opened and shown without torch.
    from .measure import effect_of

    return effect_of(
        model,
        tokenizer,
        text,
        text_pair,
        [
            Ablate(layer, head, stack, mode, at)
            if source is None
            else Patch(source, layer, head, stack)
            for layer, head in _pairs(heads)
        ],
        target=target,
        batch_index=batch_index,
        metric=metric,
        record=record,
    )


def _pairs(heads: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    try:
        return [(layer, head) for layer, head in heads]
    except (TypeError, ValueError):
        raise TypeError(
            f"heads is {heads!r:.100}; expected (layer, head) pairs, as [(1, 5)]"
        ) from None


def head_outputs(
    model: torch.nn.Module,
    tokenizer: Any,
    text: str | Mapping[str, Any],
    text_pair: str | None = None,
    *,
    target: str | None = None,
) -> HeadOutputs:
    """Run a model, and keep the outputs of all heads, for `Patch`.

    A text's outputs in another one of as many tokens::

        clean = aw.head_outputs(model, tokenizer, "Mary gave John the book")
        with aw.intervene(model, aw.Patch(clean, layers=18, heads=6)):
            logits = model(**tokenizer("Mary gave Paul the book", return_tensors="pt")).logits

    Args:
        model, tokenizer, text, text_pair, target: see `attnwidget.capture`. All texts of a batch
            are kept.

    Raises:
        TypeError, ValueError: see `attnwidget.capture`.
    """
    # Imported here, so that records can be opened and shown without torch.
    from .read_outputs import read_outputs

    return read_outputs(model, tokenizer, text, text_pair, target)
