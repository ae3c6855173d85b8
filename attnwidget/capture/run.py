"""One forward pass, observed, with the model put back exactly as it was."""

from __future__ import annotations

import inspect
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import PurePath
from typing import Any

import torch

from attnwidget.record import AttentionRecord, Layer, Stack

from .explain import explain
from .inputs import Inputs, prepare
from .intercept import AttentionCall, attention_calls

# What a capture changes for its length (the interface's lookups, torch's compiler stance) belongs
# to the whole process, and the model may be shared, so captures take turns.
_one_at_a_time = threading.RLock()


def capture_record(
    model: torch.nn.Module,
    tokenizer: Any,
    text: str | Mapping[str, Any],
    text_pair: str | None,
    batch_index: int,
) -> AttentionRecord:
    """See `attnwidget.capture`."""
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"model is {type(model).__name__}; expected a torch.nn.Module")
    # A compiled model records nothing; the module inside it is the same model.
    model = getattr(model, "_orig_mod", model)
    takes = inspect.signature(model.forward).parameters
    if "decoder_input_ids" in takes:
        raise ValueError(
            f"{type(model).__name__} is an encoder-decoder, which cannot be captured yet; "
            "capture its encoder: capture(model.get_encoder(), tokenizer, text)"
        )
    if "input_ids" not in takes and not any(p.kind is p.VAR_KEYWORD for p in takes.values()):
        raise ValueError(
            f"{type(model).__name__} takes no input_ids: only the attention of models over tokens "
            "can be captured so far"
        )
    inputs = prepare(tokenizer, text, text_pair, batch_index, _device(model))
    layers = _forward(model, inputs)
    if not layers:
        raise ValueError(_no_attention(model))
    _warn_of_unseen(model, {layer.fidelity.module for layer in layers})
    stack = Stack(inputs.tokens, inputs.tokens, tuple(layers))
    return AttentionRecord({"self": stack}, model=_name(model))


def _forward(model: torch.nn.Module, inputs: Inputs) -> list[Layer]:
    names = {id(module): name for name, module in model.named_modules()}
    length = inputs.tensors["input_ids"].shape[1]
    layers: list[Layer] = []

    def observe(call: AttentionCall) -> None:
        name = names[id(call.module)]
        if call.query.shape[-2] != length or call.key.shape[-2] != length:
            raise ValueError(
                f"{name} attends from {call.query.shape[-2]} to {call.key.shape[-2]} positions, "
                f"but the text has {length} tokens; attention over anything but the tokens "
                "(images, audio, cross-attention, caches) cannot be captured yet"
            )
        layers.append(explain(call, inputs.batch_index, inputs.positions, name))

    with _one_at_a_time, _undisturbed(model), attention_calls(model, observe):
        try:
            model(**inputs.tensors)
        except (IndexError, RuntimeError) as error:
            limit = getattr(getattr(model, "config", None), "max_position_embeddings", None)
            if limit is not None and length > limit:
                raise ValueError(
                    f"the text has {length} tokens; {type(model).__name__} takes at most {limit}"
                ) from error
            raise
    return layers


@contextmanager
def _undisturbed(model: torch.nn.Module) -> Iterator[None]:
    """No gradients, no dropout, no compilation, and every module's mode put back afterwards."""
    modes = [(module, module.training) for module in model.modules()]
    try:
        for module, _ in modes:
            # The flag alone: train() and eval() are overridden by some adapters to merge weights.
            module.training = False
        with torch.no_grad(), torch.compiler.set_stance("force_eager"):
            yield
    finally:
        for module, training in modes:
            module.training = training


def _device(model: torch.nn.Module) -> torch.device:
    """Where inputs go. Offloaded parameters are on "meta" until their module runs."""
    devices = (p.device for p in model.parameters() if p.device.type != "meta")
    return next(devices, torch.device("cpu"))


def _name(model: torch.nn.Module) -> str:
    """The last part of the path or hub name that the model was loaded from, else its class."""
    path = str(getattr(getattr(model, "config", None), "_name_or_path", "") or "")
    return PurePath(path).name or type(model).__name__


def _warn_of_unseen(model: torch.nn.Module, seen: set[str]) -> None:
    """What bypassed the interface, or this pass, must not be taken for absent."""
    unseen = [
        name
        for name, module in model.named_modules()
        if "Attention" in type(module).__name__ and not any(_related(name, other) for other in seen)
    ]
    if unseen:
        warnings.warn(
            f"{len(unseen)} attention modules are not in this record, because no call of theirs "
            f"went through transformers' attention interface: {', '.join(unseen[:5])}"
            f"{', ...' if len(unseen) > 5 else ''}",
            stacklevel=_callers_level(),
        )


def _callers_level() -> int:
    """The stacklevel of the line outside of this package that asked for the capture."""
    frame, level = sys._getframe(1), 1
    while frame.f_back and str(frame.f_globals.get("__name__")).startswith("attnwidget."):
        frame, level = frame.f_back, level + 1
    return level


def _related(a: str, b: str) -> bool:
    """Whether one module is the other, or contains it."""
    return f"{a}.".startswith(f"{b}.") or f"{b}.".startswith(f"{a}.") or not a


def _no_attention(model: torch.nn.Module) -> str:
    named = sorted({type(m).__name__ for m in model.modules() if "Attention" in type(m).__name__})
    if not named:
        return f"{type(model).__name__} has no attention: none of its modules is an attention layer"
    return (
        f"{type(model).__name__} computes attention in {', '.join(named)}, but not through "
        "transformers' attention interface, which is the only way seen so far; a newer "
        "transformers may route it there"
    )
