"""Annotated texts in the batches that a model reads, with the tokens of their words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from attnwidget.record import Floats, Tokens
from attnwidget.running.batches import TextBatch, text_batches

from .annotated import Annotated, annotated
from .cut_words import LeftOut, fitting, with_words
from .word_tokens import tokens_of_words


@dataclass(frozen=True)
class WordBatch:
    """Texts that a model reads at once.

    Attributes:
        read: the batch that the model reads.
        texts: the annotations of each, with the words that have tokens alone; there may be none.
        members: the tokens of each word of each text; see `tokens_of_words`.
    """

    read: TextBatch
    texts: Sequence[Annotated]
    members: Sequence[Floats]


class WordBatches:
    """Reads annotated texts in batches, without the words that a model does not read.

    Attributes:
        left_out: the words that are left out of the texts that were read.
    """

    def __init__(self, tokenizer: Any, batch_size: int, max_tokens: int | None) -> None:
        self.left_out = LeftOut(max_tokens)
        self._tokenizer = tokenizer
        self._batch_size = batch_size

    def of(self, model: torch.nn.Module, texts: Iterable[Any]) -> Iterator[WordBatch]:
        """The batches that a model reads.

        Raises:
            TypeError, ValueError: something is no annotated text, or cannot be tokenized; no word
                of the texts is read.
        """
        # By index, the number of words of a text, and what fits of it.
        waiting: dict[int, tuple[int, Annotated]] = {}

        def sources() -> Iterator[str]:
            for index, given in enumerate(texts):
                text = annotated(given)
                most = self.left_out.max_tokens
                fits = text if most is None else fitting(text, self._tokenizer, most)
                waiting[index] = len(text), fits
                yield fits.text or ""

        remain = False
        for batch in text_batches(model, self._tokenizer, sources(), self._batch_size, None):
            read = [self._read(*waiting.pop(text.index), text.tokens) for text in batch.texts]
            own, members = zip(*read, strict=True)
            remain = remain or any(map(len, own))
            yield WordBatch(batch, own, members)
        # Texts without any token are in no batch.
        for count, text in waiting.values():
            self.left_out.add(count, len(text), 0)
        if self.left_out.words and not remain:
            raise ValueError(f"the texts have no word that is read: {self.left_out.reasons()}")

    def _read(self, count: int, text: Annotated, tokens: Tokens) -> tuple[Annotated, Floats]:
        """The words of a text that have tokens, and these."""
        members = tokens_of_words(self._tokenizer, text, tokens)
        kept = members.sum(axis=1) > 0
        self.left_out.add(count, len(text), int(kept.sum()))
        return with_words(text, kept), members[kept]
