"""Metrics of kinds of tokens, for tables of records and for profiles.

[CLS] stands for a special token that opens the text, as BERT's [CLS] or Llama's beginning of a
sequence; [SEP] for every other special token. What is left without them and the first token is the
rest: where a head rests on these when it has nothing to do, the rest says what it looks for.
"""

from __future__ import annotations

import functools
import unicodedata
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from attnwidget.record import Floats, Tokens

from .metrics import (
    METRICS,
    Metric,
    RowFunction,
    RowValues,
    first,
    metric,
    next,
    previous,
    same,
    share,
)
from .row_batches import RowBatch

TOKEN_METRICS: dict[str, Metric] = {}


@metric("share on [CLS]", registry=TOKEN_METRICS)
def cls(batch: RowBatch, keys: Tokens) -> RowValues:
    """Mean share of attention on the special token that opens the text, such as [CLS].

    w[i, 0], from 0 to 1, of texts that open with a special token. Clark et al. 2019, section 3.2.
    """
    opening = [position for position in keys.special if position == 0]
    return share(batch, opening), batch.seen & bool(opening)


@metric("share on [SEP]", registry=TOKEN_METRICS)
def sep(batch: RowBatch, keys: Tokens) -> RowValues:
    """Mean share of attention on special tokens behind the first position, such as [SEP].

    Σj w[i, j] over these keys j, from 0 to 1, of texts that have any. Clark et al. 2019, section
    3.2.
    """
    separators = _separators(keys)
    return share(batch, separators), batch.seen & bool(separators)


@metric("share on [SEP] from [SEP]", self_only=True, registry=TOKEN_METRICS)
def sep_from_sep(batch: RowBatch, keys: Tokens) -> RowValues:
    """Mean share of the attention of [SEP] on [SEP].

    As `sep`, over the rows of these tokens alone. Clark et al. 2019, figure 2.
    """
    values, counted = sep(batch, keys)
    own = np.isin(batch.rows, _separators(keys))
    return np.where(own, values, 0), counted * own


@metric("share on [SEP] from others", self_only=True, registry=TOKEN_METRICS)
def sep_from_others(batch: RowBatch, keys: Tokens) -> RowValues:
    """Mean share of the attention of all other tokens on [SEP].

    As `sep`, over the rows of the other tokens. Clark et al. 2019, figure 2.
    """
    values, counted = sep(batch, keys)
    others = ~np.isin(batch.rows, _separators(keys))
    return np.where(others, values, 0), counted * others


@metric("share on punctuation", registry=TOKEN_METRICS)
def punctuation(batch: RowBatch, keys: Tokens) -> RowValues:
    """Mean share of attention on punctuation.

    Σj w[i, j] over the tokens j of punctuation alone (by Unicode's categories P), from 0 to 1, of
    texts that have any. Clark et al. 2019, section 3.2.
    """
    marks = _marks(keys)
    return share(batch, marks), batch.seen & bool(marks)


@metric("share on its own text", self_only=True, registry=TOKEN_METRICS)
def own_text(batch: RowBatch, keys: Tokens) -> RowValues:
    """Mean share of attention on tokens of the query's own text, of a pair of texts.

    Σj w[i, j] over the keys j of the same segment, from 0 to 1. The blocks of Kovaleva et al. 2019.
    """
    if keys.segments is None:
        return np.zeros_like(batch.totals), np.zeros_like(batch.seen)
    segments = np.array(keys.segments)
    second = share(batch, np.flatnonzero(segments))
    own: Floats = np.where(segments[batch.rows] == 1, second, batch.mass - second)
    return own, batch.seen


@metric("sink rate", above=0.3, registry=TOKEN_METRICS)
def sink(batch: RowBatch, keys: Tokens) -> RowValues:
    """Share of texts in which the head rests on the first token.

    A text counts if its mean of w[i, 0] is above .3; from 0 to 1. The mean over heads is the sink
    rate of Gu et al. 2025, "When Attention Sink Emerges in Language Models", who use texts of 64
    tokens.
    """
    return first(batch, keys)


@metric("induction", self_only=True, repeated=True, registry=TOKEN_METRICS)
def induction(batch: RowBatch, keys: Tokens) -> RowValues:
    """Mean share of attention on the tokens that followed earlier copies of this token.

    Σj w[i, j + 1] over the earlier copies j < i of token i, from 0 to 1, over the queries that
    have such copies. Prefix matching of Olsson et al. 2022, "In-context Learning and Induction
    Heads", on random tokens that are repeated.
    """
    return _on_copies(batch, keys, 1)


@metric("duplicate token", self_only=True, repeated=True, registry=TOKEN_METRICS)
def duplicate(batch: RowBatch, keys: Tokens) -> RowValues:
    """Mean share of attention on earlier copies of this token.

    Σj w[i, j] over the earlier copies j < i of token i, from 0 to 1, over the queries that have
    such copies; on random tokens that are repeated.
    """
    return _on_copies(batch, keys, 0)


@metric("share of the rest", registry=TOKEN_METRICS)
def rest(batch: RowBatch, keys: Tokens) -> RowValues:
    """Mean share of attention on neither the first token nor special tokens.

    Σj w[i, j] over all other keys j, from 0 to 1.
    """
    return _rest_of(batch, keys).mass, batch.seen


@metric("previous token, of the rest", self_only=True, registry=TOKEN_METRICS)
def rest_previous(batch: RowBatch, keys: Tokens) -> RowValues:
    """Share of the previous token in the attention that neither first nor special tokens get.

    Σi w[i, i - 1] / Σi r[i] over the queries with such a key, from 0 to 1, where r[i] is the row's
    share of the rest: rows count by what they have left.
    """
    return _share_of_rest(batch, keys, previous)


@metric("same token, of the rest", self_only=True, registry=TOKEN_METRICS)
def rest_same(batch: RowBatch, keys: Tokens) -> RowValues:
    """Share of the token itself in the attention that neither first nor special tokens get.

    Σi w[i, i] / Σi r[i], from 0 to 1, where r[i] is the row's share of the rest.
    """
    return _share_of_rest(batch, keys, same)


@metric("next token, of the rest", self_only=True, registry=TOKEN_METRICS)
def rest_next(batch: RowBatch, keys: Tokens) -> RowValues:
    """Share of the next token in the attention that neither first nor special tokens get.

    Σi w[i, i + 1] / Σi r[i] over the queries with such a key, from 0 to 1, where r[i] is the row's
    share of the rest.
    """
    return _share_of_rest(batch, keys, next)


@metric("punctuation, of the rest", registry=TOKEN_METRICS)
def rest_punctuation(batch: RowBatch, keys: Tokens) -> RowValues:
    """Share of punctuation in the attention that neither first nor special tokens get.

    ΣiΣj w[i, j] / Σi r[i] over the tokens j of punctuation, from 0 to 1, of texts that have any,
    where r[i] is the row's share of the rest.
    """
    return _share_of_rest(batch, keys, punctuation)


ALL_METRICS: dict[str, Metric] = {**METRICS, **TOKEN_METRICS}
"""The metrics that tables of records and profiles have, by name."""


def _marks(keys: Tokens) -> list[int]:
    special = set(keys.special)
    return [j for j, label in enumerate(keys.labels) if _is_mark(label) and j not in special]


def _separators(keys: Tokens) -> list[int]:
    return [position for position in keys.special if position > 0]


@functools.lru_cache(maxsize=1 << 16)
def _is_mark(label: str) -> bool:
    """True if a token is punctuation, perhaps as a piece of a word."""
    text = label.removeprefix("##")
    return bool(text) and all(unicodedata.category(character)[0] == "P" for character in text)


@functools.lru_cache(maxsize=8)
def _copies(labels: tuple[str, ...]) -> NDArray[np.bool_]:
    """True where token j < i is a copy of token i, bool [T, T]."""
    _, tokens = np.unique(np.array(labels), return_inverse=True)
    equal: NDArray[np.bool_] = np.tril(tokens[:, None] == tokens[None, :], -1)
    return equal


def _on_copies(batch: RowBatch, keys: Tokens, offset: int) -> RowValues:
    """The weight on the tokens `offset` behind earlier copies of each token."""
    copies = _copies(keys.labels)[batch.rows]
    targets = np.zeros_like(copies)
    targets[:, offset:] = copies[:, : copies.shape[1] - offset]
    targets = targets[:, batch.keys.start : batch.keys.stop]
    values = np.einsum("...ij,ij->...i", batch.exps, targets.astype(np.float32)) / batch.totals
    return values, batch.seen & copies.any(axis=1)


def _rest_of(batch: RowBatch, keys: Tokens) -> RowBatch:
    """The batch without the weights of the first token and of special ones."""
    resting = {0, *keys.special}
    exps = batch.exps.copy()
    exps[..., [at - batch.keys.start for at in resting if at in batch.keys]] = 0
    return replace(batch, exps=exps, sums=exps.sum(axis=-1))


def _share_of_rest(batch: RowBatch, keys: Tokens, function: RowFunction) -> RowValues:
    """A metric of the rest, each row weighted by the share that is left of it."""
    left = _rest_of(batch, keys)
    values, counted = function(left, keys)
    return values, np.where(counted, left.mass, 0)
