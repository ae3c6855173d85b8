"""The attention of a model between the words of annotated texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import torch

from attnwidget.capture import read_attention
from attnwidget.progress import step_done
from attnwidget.record import Floats
from attnwidget.running.missing import no_attention
from attnwidget.running.model import traceable, traits
from attnwidget.running.random_weights import with_random_weights
from attnwidget.running.stacks import Group, Kind, kind_of, numbers, titles
from attnwidget.tracing import CallId

from .annotated import Annotated
from .word_attention import Heads, WordAttention, padded
from .word_batches import WordBatch, WordBatches

_NO_SOFTMAX = "it mixes tokens by no softmax, and probes read weights"


class ModelAttention:
    """Reads annotated texts with a model, and with one of random weights.

    Of an encoder-decoder, the encoder is read.

    Attributes:
        model: the model that is read.
        heads: what is read; complete after the first text.
        words: what divides texts into words.
        left_out: the words that are left out of the texts that were read.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        tokenizer: Any,
        *,
        null: bool,
        seed: int,
        batch_size: int,
        max_tokens: int | None,
    ) -> None:
        model = traceable(model)
        self._is_encoder = traits(model).has_decoder
        if self._is_encoder:
            model = model.get_encoder()  # type: ignore[operator]
        self.model = model
        self.heads = Heads()
        self._null = with_random_weights(model, seed) if null else None
        self.words = WordBatches(tokenizer, batch_size, max_tokens)
        self.left_out = self.words.left_out

    def read(self, texts: Iterable[Any]) -> Iterator[WordAttention[Annotated]]:
        """The attention of each text, batch by batch; those of a batch have like lengths.

        Raises:
            TypeError, ValueError: something is no annotated text, or the model cannot read it.
        """
        for batch in self.words.of(self.model, texts):
            weights = self._word_weights(self.model, batch)
            null = None
            if self._null is not None:
                null = self._word_weights(self._null, batch)
            for row, text in enumerate(batch.texts):
                beside = None if null is None else null[row]
                if len(text):
                    yield WordAttention(batch.read.texts[row].index, text, weights[row], beside)
                step_done()

    def _word_weights(self, model: torch.nn.Module, batch: WordBatch) -> list[Floats]:
        """The weights between the words of each text; see `WordAttention`.

        Raises:
            ValueError: the model has no attention that can be read.
        """
        members = batch.members
        queries = [each / each.sum(axis=1, keepdims=True) for each in members]
        found: dict[CallId, dict[int, Floats]] = {}
        stacks: dict[Kind, None] = {}
        without: dict[str, None] = {}

        def receive(place: CallId, row: int, weights: Floats, mixing: str) -> None:
            if mixing != "softmax":
                without[f"{place.module}: {_NO_SOFTMAX}"] = None
                return
            kind = kind_of(model, place)
            stacks[kind] = None
            length = members[row].shape[1]
            is_own = not kind.cross and kind == kind_of(model, next(iter(found), place))
            if is_own and weights.shape[1:] == (length, length):
                folded = queries[row] @ weights @ members[row].T
                found.setdefault(place, {})[row] = folded

        missing = [*read_attention(model, batch.read, receive), *without]
        if not found:
            raise ValueError(no_attention(model, missing))
        counts = tuple(len(next(iter(rows.values()))) for rows in found.values())
        if not self.heads.counts:
            self.heads.counts = counts
            self.heads.numbers = tuple(numbers([place.module for place in found]))
            own = kind_of(model, next(iter(found)))
            names = dict(zip(stacks, titles([Group(kind) for kind in stacks]), strict=True))
            self.heads.stack = "encoder" if self._is_encoder else names[own]
        if counts != self.heads.counts or any(len(rows) < len(members) for rows in found.values()):
            raise ValueError(
                f"the attention of {type(model).__name__} could not be read in all texts: "
                f"{'; '.join(missing[:5]) or 'its layers differ between texts'}"
            )
        self.heads.missing += [reason for reason in missing if reason not in self.heads.missing]
        return [padded([rows[row] for rows in found.values()]) for row in range(len(members))]
