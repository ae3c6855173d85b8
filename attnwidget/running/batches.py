"""Padded batches of texts, as a model reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import torch

from attnwidget.arguments import checked, whole
from attnwidget.record import Tokens
from attnwidget.warning import warn

from .chat import Messages, render
from .inputs import decoder_inputs, labelled, on_device, segments_of, taken
from .items import Batch
from .labels import text_tokenizer
from .model import traits
from .padding import Padded, kept_positions
from .structure import structure_of
from .texts import Shard, Texts, read_texts, shards_of
from .vocabulary import check_vocabulary, doubt_of

# The batches that are read ahead, among which texts of like length are put together.
_WINDOW = 16

# The weights of a batch for one head: 16 texts of 512 tokens, one of 2,048 or more.
_CELLS = 1 << 22

_TARGET = "decoder_input_ids"

# The mask of each sequence of tokens.
_MASKS = {"input_ids": "attention_mask", _TARGET: "decoder_attention_mask"}


@dataclass(frozen=True)
class Text:
    """One text of a corpus.

    Attributes:
        index: its number among the texts, counted from 0.
        source: the text, or the pair; None if it came encoded, or as messages.
        tokens: of the text, or of an encoder-decoder's encoder.
        target: the decoder's tokens, or None.
        fields: the model's inputs by name, a number per token.
    """

    index: int
    source: str | tuple[str, str] | None
    tokens: Tokens
    target: Tokens | None
    fields: Mapping[str, list[int]]

    @property
    def length(self) -> int:
        """The number of tokens, the decoder's included."""
        return len(self.tokens) + (0 if self.target is None else len(self.target))


@dataclass(frozen=True)
class TextBatch:
    """Texts that a model reads at once.

    Attributes:
        tensors: the model's inputs by name.
        texts: one per row of the tensors.
        rows: the place of each text in the tensors, without padding.
    """

    tensors: Mapping[str, Any]
    texts: tuple[Text, ...]
    rows: tuple[Batch, ...]


@checked(batch_size=whole(1), max_tokens=whole(1, none=True))
def text_batches(
    model: torch.nn.Module,
    tokenizer: Any,
    texts: Texts,
    batch_size: int,
    max_tokens: int | None,
) -> Iterator[TextBatch]:
    """The batches of all texts, without those that have no tokens but special ones.

    Raises:
        TypeError, ValueError: see `attnwidget.profile`.
    """
    batches = Batches(model, tokenizer, batch_size, max_tokens)
    for shard in shards_of(read_texts(texts), _WINDOW * batch_size):
        yield from batches.of(shard)


class Batches:
    """Makes batches of texts; those of like length lie in one batch."""

    def __init__(
        self,
        model: torch.nn.Module,
        tokenizer: Any,
        batch_size: int,
        max_tokens: int | None,
    ) -> None:
        self._model = model
        self._tokenizer = tokenizer
        self._size = batch_size
        self._max_tokens = max_tokens
        # Without a mask, a model would read padding as text.
        kind = traits(model)
        self._can_pad = kind.takes("attention_mask")
        if doubt := doubt_of(model, tokenizer):
            warn(doubt)

    def of(self, shard: Shard) -> Iterator[TextBatch]:
        """The batches of a shard, without the texts that have no tokens but special ones."""
        index = shard.start
        waiting: list[Text] = []
        for source in shard.sources:
            if isinstance(source, Mapping):
                batch = self._encoded(source, index)
                index += len(batch.texts)
                yield batch
                continue
            text = self._text(source, index)
            index += 1
            if text is not None:
                waiting.append(text)
            if len(waiting) == _WINDOW * self._size:
                yield from self._bucketed(waiting)
                waiting = []
        yield from self._bucketed(waiting)

    def _bucketed(self, texts: list[Text]) -> Iterator[TextBatch]:
        """Batches of texts of like length; of one length, if the model takes no mask."""
        batch: list[Text] = []
        for text in sorted(texts, key=lambda text: (_shape(text), text.index)):
            if batch and not self._fits(text, batch):
                yield self._padded(batch)
                batch = []
            batch.append(text)
        if batch:
            yield self._padded(batch)

    def _fits(self, text: Text, batch: list[Text]) -> bool:
        """True if a text, no shorter than those of a batch, may be read with these."""
        size = len(batch) + 1
        same = self._can_pad or _shape(text) == _shape(batch[0])
        return same and size <= self._size and size * text.length**2 <= _CELLS

    def _text(self, source: str | tuple[str, str] | Messages, index: int) -> Text | None:
        """A text with its tokens; None if it has none but special ones."""
        if self._tokenizer is None:
            raise TypeError(
                "the texts are strings, so a tokenizer is needed: pass the model's tokenizer, or "
                "texts that are encoded already"
            )
        chat = None
        if not isinstance(source, str) and isinstance(source[0], Mapping):
            chat = render(self._tokenizer, cast(Messages, source), generation_prompt=False)
        if chat is not None:
            first, second = chat.text, None
        elif isinstance(source, str):
            first, second = source, None
        else:
            first, second = cast("tuple[str, str]", source)
        target = None
        fields: dict[str, list[int]] = {}
        if traits(self._model).has_decoder:
            if second is None:
                raise ValueError(
                    f"{type(self._model).__name__} has a decoder, which reads a text as well: give "
                    f"pairs (text, target); text {index} is a single one"
                )
            ids = decoder_inputs(self._model, self._tokenizer, second)[0].tolist()
            fields[_TARGET] = ids[: self._max_tokens]
            target = labelled(self._tokenizer, fields[_TARGET])
            second = None
        cut: dict[str, Any] = {}
        if self._max_tokens:
            cut |= {"truncation": True, "max_length": self._max_tokens}
        if chat is not None:  # its template has written them
            cut["add_special_tokens"] = False
        encoding = text_tokenizer(self._tokenizer)(first, second, **cut)
        fields |= {
            name: list(values)
            for name, values in taken(self._model, encoding).items()
            if name != "attention_mask"
        }
        ids = fields["input_ids"]
        tokens = labelled(self._tokenizer, ids)
        if len(tokens.special) == len(tokens):
            return None
        if second is not None:
            segments = segments_of(encoding, 0, list(range(len(ids))))
            tokens = replace(tokens, segments=segments)
        own = cast("str | tuple[str, str]", source) if chat is None else None
        return Text(index, own, tokens, target, fields)

    def _padded(self, texts: list[Text]) -> TextBatch:
        """The texts as one batch, padded on the right."""
        tensors: dict[str, torch.Tensor] = {}
        for name in texts[0].fields:
            fill = self._padding_id if name in _MASKS else 0
            tensors[name] = _stacked([text.fields[name] for text in texts], fill)
        if self._can_pad:
            for name, mask in _MASKS.items():
                if name in tensors:
                    tensors[mask] = _stacked([[1] * len(text.fields[name]) for text in texts], 0)
        return _batch(self._model, tensors, texts)

    def _encoded(self, encoding: Mapping[str, Any], index: int) -> TextBatch:
        """A batch as a tokenizer returned it, with the padding that it has."""
        ids = encoding["input_ids"]
        if not isinstance(ids, torch.Tensor) or ids.ndim != 2 or not ids.numel():
            raise ValueError(
                f"the input_ids of text {index} must be a tensor [texts, tokens]; use "
                'padding=True and return_tensors="pt"'
            )
        texts = []
        for row in range(len(ids)):
            fields = {
                name: encoding[name][row].cpu()[padded.kept].tolist()
                for name, padded in _places(encoding, row).items()
            }
            if not fields["input_ids"]:
                raise ValueError(f"text {index + row} has no tokens")
            tokens = {name: labelled(self._tokenizer, fields[name]) for name in fields}
            texts.append(Text(index + row, None, tokens["input_ids"], tokens.get(_TARGET), fields))
        return _batch(self._model, encoding, texts)

    @property
    def _padding_id(self) -> int:
        """The id of padding, from which some models count positions."""
        for owner in (text_tokenizer(self._tokenizer), getattr(self._model, "config", None)):
            found = getattr(owner, "pad_token_id", None)
            if type(found) is int and found >= 0:
                return found
        return 0


def _batch(model: torch.nn.Module, tensors: Mapping[str, Any], texts: Sequence[Text]) -> TextBatch:
    check_vocabulary(model, tensors["input_ids"])
    structure_of(model, tensors)
    rows = []
    for row in range(len(texts)):
        places = _places(tensors, row)
        ids, target = places["input_ids"], places.get(_TARGET)
        rows.append(Batch(len(texts), row, ids, target, None, None))
    return TextBatch(on_device(tensors, model), tuple(texts), tuple(rows))


def token_batch(model: torch.nn.Module, ids: torch.Tensor, special: tuple[int, ...]) -> TextBatch:
    """Token ids [texts, tokens] as a batch, labelled by the ids; a decoder reads the same.

    Args:
        special: the positions of special tokens.
    """
    tensors = {"input_ids": ids}
    if traits(model).has_decoder:
        tensors[_TARGET] = ids
    texts = []
    for index, row in enumerate(ids.tolist()):
        tokens = Tokens(tuple(map(str, row)), special=special)
        target = tokens if _TARGET in tensors else None
        texts.append(Text(index, None, tokens, target, {"input_ids": row}))
    return _batch(model, tensors, texts)


def first_text(batch: TextBatch) -> TextBatch:
    """The first text of a batch as a batch of its own."""
    row = replace(batch.rows[0], size=1)
    tensors = {name: tensor[:1] for name, tensor in batch.tensors.items()}
    return TextBatch(tensors, batch.texts[:1], (row,))


def shuffled(batch: TextBatch, seed: int) -> TextBatch:
    """The batch with the tokens of each text in another order; special tokens stay in place.

    The order depends on the seed and the index of the text alone.
    """
    tensors = dict(batch.tensors)
    for name in _MASKS:
        if name in tensors:
            tensors[name] = tensors[name].clone()
    texts = []
    for text, row in zip(batch.texts, batch.rows, strict=True):
        random = np.random.default_rng([seed, text.index])
        tokens, target = text.tokens, text.target
        if row.text is not None:
            tokens = _shuffle(tensors["input_ids"][row.index], row.text, tokens, random)
        if row.target is not None and target is not None:
            target = _shuffle(tensors[_TARGET][row.index], row.target, target, random)
        texts.append(replace(text, tokens=tokens, target=target))
    return replace(batch, tensors=tensors, texts=tuple(texts))


def _shuffle(
    ids: torch.Tensor, padded: Padded, tokens: Tokens, random: np.random.Generator
) -> Tokens:
    """Reorder the ids of a text in place, and return its tokens in that order."""
    places = np.setdiff1d(np.arange(len(tokens)), tokens.special)
    order = np.arange(len(tokens))
    order[places] = random.permutation(places)
    kept = padded.kept.to(ids.device)
    ids[kept] = ids[kept[torch.from_numpy(order).to(ids.device)]]
    labels = tuple(tokens.labels[place] for place in order)
    # Segments are those of positions; words are no longer whole.
    return replace(tokens, labels=labels, words=None, offsets=None)


def _places(tensors: Mapping[str, Any], row: int) -> dict[str, Padded]:
    """The positions of one text, and of its target, that are not padding."""
    found = {name: kept_positions(tensors, name, row) for name in _MASKS}
    return {name: padded for name, padded in found.items() if padded is not None}


def _shape(text: Text) -> tuple[int, int]:
    return text.length, len(text.tokens)


def _stacked(rows: list[list[int]], fill: int) -> torch.Tensor:
    stacked = torch.full((len(rows), max(map(len, rows))), fill, dtype=torch.long)
    for row, values in zip(stacked, rows, strict=True):
        row[: len(values)] = torch.tensor(values, dtype=torch.long)
    return stacked
