"""One forward pass, with errors in words that the model's own errors do not have."""

from __future__ import annotations

from typing import Any

import torch

from .batches import TextBatch
from .inputs import Inputs
from .model import run, traits

# The most characters of a model's error in one of ours, which has it as its cause.
_LONGEST = 150


def run_inputs(model: torch.nn.Module, inputs: Inputs) -> Any:
    """The model's output for the inputs of one text.

    Raises:
        ValueError: the text is longer than the model takes, or its decoder has no tokens.
    """
    try:
        return run(model, inputs.tensors)
    except (IndexError, RuntimeError, ValueError, KeyError, TypeError, AttributeError) as error:
        if traits(model).has_decoder and not inputs.has_target:
            raise ValueError(
                f"{type(model).__name__} needs its decoder's tokens: give target=..., or load the "
                "model with its language modelling head, so that it can generate them"
            ) from error
        text = inputs.batch.text
        _check_length(model, "the text", 0 if text is None else text.length, "", error)
        own = traits(model).names.get("input_ids")
        if own is not None:
            raise ValueError(
                f"{type(model).__name__} does not run on token ids as its argument {own!r} "
                f"({_brief(error)}): if that is a mapping of tensors, wrap the model in a module "
                "whose forward takes input_ids and attention_mask, and makes it of them"
            ) from error
        if "unexpected keyword argument" in str(error):
            raise ValueError(
                f"{type(model).__name__} does not take these inputs ({_brief(error)}): pass a "
                "mapping of what its forward takes"
            ) from error
        raise


def _brief(error: Exception) -> str:
    """The first line of an error, which may hold a whole module, cut."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    whole = len(lines) == 1 and len(lines[0]) <= _LONGEST
    return lines[0] if whole else f"{lines[0][:_LONGEST]}…"


def run_model(model: torch.nn.Module, batch: TextBatch, *, all_logits: bool = False) -> Any:
    """The model's output for a batch, without a cache.

    Args:
        all_logits: True for the logits of all tokens; else of the last one where that is quicker.

    Raises:
        ValueError: a text is longer than the model takes.
    """
    unneeded: dict[str, Any] = {"use_cache": False}
    if not all_logits:
        unneeded["logits_to_keep"] = 1
    known = traits(model).parameters
    options = {name: value for name, value in unneeded.items() if name in known}
    try:
        return run(model, {**batch.tensors, **options})
    except (IndexError, RuntimeError, ValueError) as error:
        longest = max(batch.texts, key=lambda text: len(text.tokens))
        advice = f": give max_tokens={traits(model).longest}"
        _check_length(model, f"text {longest.index}", len(longest.tokens), advice, error)
        raise


def _check_length(
    model: torch.nn.Module, text: str, length: int, advice: str, error: Exception
) -> None:
    longest = traits(model).longest
    if longest is not None and length > longest:
        raise ValueError(
            f"{text} has {length} tokens; {type(model).__name__} takes at most {longest}{advice}"
        ) from error
