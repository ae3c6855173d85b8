"""One text, or one item of a batch, as a batch of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch

from attnwidget.record import Tokens

from .batches import Text, TextBatch
from .inputs import Inputs, prepare
from .items import Batch
from .sequences import Sequences


@dataclass(frozen=True)
class OneText:
    """A batch of one text, with the labels of all that the model reads."""

    batch: TextBatch
    sequences: Sequences

    @property
    def row(self) -> Batch:
        """The place of the text in the batch."""
        return self.batch.rows[0]

    @property
    def described(self) -> str:
        """The text as "a text of 12 tokens"; an image or sound has no tokens that it is read as."""
        count = len(self.batch.texts[0].tokens)
        return f"a text of {count} tokens" if count else "one input"


def one_text(
    model: torch.nn.Module,
    tokenizer: Any,
    text: str | Mapping[str, Any],
    text_pair: str | None = None,
    target: str | None = None,
    batch_index: int = 0,
) -> OneText:
    """Tokenize if needed; of a batch, keep one item.

    Raises:
        TypeError, ValueError, IndexError: as `attnwidget.capture` says.
    """
    inputs = prepare(model, tokenizer, text, text_pair, target, batch_index)
    return one_item(inputs, text if isinstance(text, str) else None)


def one_item(inputs: Inputs, source: str | None = None) -> OneText:
    """The recorded item of prepared inputs, as a batch of its own; `source` is its text."""
    size, index, tensors = inputs.batch.size, inputs.batch.index, inputs.tensors
    if size > 1:
        tensors = {name: _of_item(name, value, index, size) for name, value in tensors.items()}
    media = None if inputs.batch.media is None else inputs.batch.media // size
    row = replace(inputs.batch, size=1, index=0, media=media)
    shown = inputs.sequences
    tokens = Tokens(()) if shown.text is None else shown.text
    only = Text(0, source, tokens, shown.target, {})
    return OneText(TextBatch(tensors, (only,), (row,)), shown)


def _of_item(name: str, value: Any, index: int, size: int) -> Any:
    if not isinstance(value, torch.Tensor) or not value.ndim:
        return value
    # Positions may have an axis for time, height and width before that of items.
    if name == "position_ids" and value.ndim == 3:
        return value[:, index : index + 1]
    return value[index : index + 1] if len(value) == size else value
