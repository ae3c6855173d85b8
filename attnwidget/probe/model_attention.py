"""The words of annotated texts as a model reads them, and its attention between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from attnwidget.capture import read_attention
from attnwidget.progress import step_done
from attnwidget.record import Floats, Tokens
from attnwidget.running.batches import TextBatch, text_batches
from attnwidget.running.missing import no_attention
from attnwidget.running.model import traceable, traits
from attnwidget.running.random_weights import with_random_weights
from attnwidget.running.stacks import Group, Kind, kind_of, numbers, titles
from attnwidget.tracing import CallId

from .annotated import Annotated, annotated
from .cut_words import LeftOut, fitting, with_words
from .word_attention import Heads, WordAttention, padded
from .word_tokens import tokens_of_words

_NO_SOFTMAX = "it mixes tokens by no softmax, and probes read weights"


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
