"""Texts from any source, one at a time: a source is never held as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any, TypeAlias

from attnwidget.arguments import entries

from .chat import Messages

Source: TypeAlias = "str | tuple[str, str] | Messages | Mapping[str, Any]"
"""A text, a pair of texts, a chat, or what a tokenizer returned for a batch of texts."""

Texts: TypeAlias = "Iterable[Any] | PathLike[str]"
"""Sources, or the path of a file with one text per line."""


@dataclass(frozen=True)
class Shard:
    """Consecutive texts of a corpus, which are measured together.

    Attributes:
        number: its number among the shards, counted from 0.
        start: the index of its first text.
        count: the number of its texts.
        sources: its texts, and batches of texts.
    """

    number: int
    start: int
    count: int
    sources: tuple[Source, ...]


def shards_of(sources: Iterable[Source], size: int) -> Iterator[Shard]:
    """Texts in shards of `size` each, the last one with what is left; a batch stays whole."""
    number = start = count = 0
    waiting: list[Source] = []
    for source in sources:
        waiting.append(source)
        count += _num_texts(source)
        if count >= size:
            yield Shard(number, start, count, tuple(waiting))
            number, start, count, waiting = number + 1, start + count, 0, []
    if waiting:
        yield Shard(number, start, count, tuple(waiting))


def _num_texts(source: Source) -> int:
    if not isinstance(source, Mapping):
        return 1
    ids = source["input_ids"]
    # Other shapes have an error when the batch is read.
    return len(ids) if getattr(ids, "ndim", 0) == 2 else 1


def read_texts(texts: Texts) -> Iterator[Source]:
    """The texts of a source, in order; empty lines of a file are left out.

    Raises:
        TypeError: `texts` is no such source, or one of its entries is no text.
    """
    if isinstance(texts, str):
        raise TypeError(
            "texts is a string; give a list of texts, or pathlib.Path(...) of a file with one text "
            "per line"
        )
    if isinstance(texts, Mapping):  # one batch of encoded texts
        texts = [texts]
    if _is_messages(texts):
        raise TypeError("texts is one chat; give a list of texts or of chats, as [messages]")
    if isinstance(texts, PathLike):
        yield from _lines(texts)
        return
    if "input_ids" not in (getattr(texts, "column_names", None) or ()):  # rows of encoded texts
        texts = entries("texts", texts, "texts, pairs of texts, or what a tokenizer returned")
    for number, entry in enumerate(texts):
        yield _checked(entry, number)


def _lines(path: PathLike[str]) -> Iterator[str]:
    with open(path, encoding="utf-8") as file:
        for line in file:
            text = line.rstrip("\r\n")
            if text.strip():
                yield text


def _checked(entry: Any, number: int) -> Source:
    if isinstance(entry, str):
        return entry
    if isinstance(entry, Mapping):
        if "input_ids" in entry:
            return entry
        raise TypeError(
            f"text {number} is a mapping without input_ids; of a data set, give one column, such "
            'as dataset["text"]'
        )
    if _is_messages(entry):
        chat: Messages = entry
        return chat
    if isinstance(entry, (tuple, list)):
        if len(entry) == 2 and all(isinstance(text, str) for text in entry):
            return entry[0], entry[1]
        raise TypeError(f"text {number} is a {type(entry).__name__}, but no pair of strings")
    raise TypeError(
        f"text {number} is {type(entry).__name__}; expected a string, a pair of strings, a chat, "
        "or what a tokenizer returned"
    )


def _is_messages(entry: Any) -> bool:
    several = isinstance(entry, (list, tuple)) and bool(entry)
    return several and all(isinstance(each, Mapping) and "role" in each for each in entry)
