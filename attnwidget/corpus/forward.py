"""A forward pass over a batch of texts that passes on the weights of each layer as it runs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeAlias

import torch

from attnwidget.capture.items import Items
from attnwidget.capture.missing import missing_attention
from attnwidget.capture.model import device_of, is_encoder_decoder, without_autocast
from attnwidget.capture.recorder import RecordedCall
from attnwidget.record import Floats
from attnwidget.tracing import Address, Handler, Read, trace, undisturbed

from .batches import TextBatch
from .measurement import Place
from .weights import text_weights

# (place, row of the batch, weights [heads, Tq, Tk]).
Receive: TypeAlias = Callable[[Place, int, Floats], None]


def read_attention(model: torch.nn.Module, batch: TextBatch, receive: Receive) -> list[str]:
    """Run the model over a batch, and pass on the weights of every attention call.

    The model runs as in `attnwidget.capture`, unchanged and without gradients and dropout.

    Returns:
        What could not be read, as "module: reason".

    Raises:
        ValueError: a text is longer than the model takes.
    """
    reader = _Reader(model, batch, receive)
    with undisturbed(model), trace(model, reader, len(batch.texts), once=True) as traced:
        run_model(model, batch)
    return missing_attention(model, reader.calls, traced.called)


def run_model(model: torch.nn.Module, batch: TextBatch, *, all_logits: bool = False) -> Any:
    """Run the model over a batch, without a cache.

    Args:
        all_logits: True for the logits of all tokens; else of the last one where that is quicker.

    Returns:
        The model's output.

    Raises:
        ValueError: a text is longer than the model takes.
    """
    parameters = inspect.signature(model.forward).parameters
    unneeded: dict[str, Any] = {"use_cache": False}
    if not all_logits:
        unneeded["logits_to_keep"] = 1
    options = {name: value for name, value in unneeded.items() if name in parameters}
    try:
        return model(**{**batch.tensors, **options})
    except (IndexError, RuntimeError, ValueError) as error:
        limit = getattr(getattr(model, "config", None), "max_position_embeddings", None)
        longest = max(batch.texts, key=lambda text: len(text.tokens))
        if isinstance(limit, int) and len(longest.tokens) > limit:
            raise ValueError(
                f"text {longest.index} has {len(longest.tokens)} tokens; {type(model).__name__} "
                f"takes at most {limit}: give max_tokens={limit}"
            ) from error
        raise


class _Reader(Handler):
    """Passes on the weights of every call.

    Attributes:
        calls: all calls, without their layers.
    """

    def __init__(self, model: torch.nn.Module, batch: TextBatch, receive: Receive) -> None:
        self.calls: list[RecordedCall] = []
        self._device = device_of(model)
        two = is_encoder_decoder(model)
        self._items = [Items(row, two=two) for row in batch.rows]
        self._receive = receive

    def attention(self, address: Address, read: Read) -> None:
        name = address.module
        try:
            with without_autocast(self._device):
                items = [item for each in self._items for item in each.of(name)]
                found = text_weights(read(), items, name)
        except Exception as error:  # other calls are still read
            reason = str(error) or type(error).__name__
            self.calls.append(RecordedCall(address, (), reason))
            return
        self.calls.append(RecordedCall(address, ()))
        for row, weights in enumerate(found):
            self._receive(Place(name, address.call), row, weights)
