"""The sentences of a prompt in other orders: what a place gets, whichever sentence stands there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from attnwidget.record import Floats

from .running_text import RunningText, Span


@dataclass(frozen=True)
class SentenceOrder:
    """The sentences of each message in another order, token by token.

    Attributes:
        keys: by position, the one at which its token stood before.
        sentences: by place, the number of the sentence that stands there now.
        spans: by place, its tokens.
    """

    keys: NDArray[np.intp]
    sentences: tuple[int, ...]
    spans: tuple[Span, ...]


def sentence_orders(text: RunningText, count: int, seed: int) -> Iterator[SentenceOrder]:
    """So many random orders. Sentences stay in their message; what is between messages stays."""
    random = np.random.default_rng(seed)
    for _ in range(count):
        keys, spans = np.arange(len(text.keys)), list(text.sentences)
        numbers = list(range(len(spans)))
        for message in text.messages:
            own = [
                at for at, (start, _) in enumerate(spans) if message.start <= start < message.end
            ]
            together = all(spans[a][1] == spans[b][0] for a, b in pairwise(own))
            if len(own) < 2 or not together:
                continue
            begin, placed = text.sentences[own[0]][0], []
            for place, sentence in zip(own, random.permutation(own), strict=True):
                start, end = text.sentences[sentence]
                numbers[place] = int(sentence)
                spans[place] = begin, begin + end - start
                placed.append(np.arange(start, end))
                begin = spans[place][1]
            keys[text.sentences[own[0]][0] : begin] = np.concatenate(placed)
        yield SentenceOrder(keys, tuple(numbers), tuple(spans))


def place_ratios(order: SentenceOrder, counted: NDArray[np.bool_], mean: Floats) -> Floats:
    """The attention of each row on each place of another sentence, as a multiple of an even share.

    Args:
        counted: True for the keys, in their own order, that are the prompt's text and no sinks.
        mean: the rows' weights on the text in the other order, [rows, Tk].

    Returns:
        [rows, sentences]; NaN for a sentence of sinks alone, and for one that stays in its place.
    """
    here = counted[order.keys]
    # The first position is a sink, whichever token stands there.
    here[0] = counted[0]
    everything = mean[:, here].sum(axis=1)
    ratios = np.full((len(mean), len(order.spans)), np.nan, np.float32)
    for place, (start, end) in enumerate(order.spans):
        own = here[start:end]
        if own.any() and order.sentences[place] != place:
            share = mean[:, start:end][:, own].sum(axis=1) / np.maximum(everything, 1e-12)
            ratios[:, place] = share / (own.sum() / here.sum())
    return ratios
