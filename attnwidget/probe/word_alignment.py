"""Cross-attention heads as aligners: how often a word's largest weight lies on its translation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from attnwidget.analysis import Numbers
from attnwidget.corpus import Estimate
from attnwidget.progress import progress_bar, step_done
from attnwidget.record import Arc, AttentionRecord, Floats, Tokens

from .annotated import Annotated
from .directions import as_metric, best, of_better_direction
from .shares import Share, Shares, shares_table
from .source import Null
from .word_attention import Heads
from .word_tokens import tokens_by_labels, tokens_of_words

if TYPE_CHECKING:
    import pandas as pd
    import torch

Moment: TypeAlias = Literal["writes", "reads"]
"""The row that counts for a target word: that which makes it, or that which reads it."""

_MOMENTS: tuple[Moment, Moment] = ("writes", "reads")
_OFFSETS = tuple(range(-5, 6))


@dataclass(frozen=True)
class Aligned:
    """A sentence, its translation, and which words translate which.

    Attributes:
        source, target: the words of both.
        links: (target word, source word) by their indices. A target word may have several.

    Raises:
        TypeError, ValueError: something is no list of words, or a link names a word that is not
            there.
    """

    source: Sequence[str]
    target: Sequence[str]
    links: Sequence[tuple[int, int]]

    def __post_init__(self) -> None:
        Annotated(self.source), Annotated(self.target)
        for target, source in self.links:
            if not (0 <= target < len(self.target) and 0 <= source < len(self.source)):
                raise ValueError(
                    f"the link {(target, source)} lies outside of the {len(self.target)} target "
                    f"and {len(self.source)} source words; expected (target word, source word)"
                )

    @property
    def sources(self) -> dict[int, set[int]]:
        """The source words of each linked target word."""
        linked: dict[int, set[int]] = {}
        for target, source in self.links:
            linked.setdefault(target, set()).add(source)
        return linked


@dataclass(frozen=True)
class AlignmentScores:
    """The scores of the cross-attention head that aligns words best; see `alignment`.

    Attributes:
        count: the linked target words of the held-out pairs.
        layer: its number in the model.
        head: the head of that layer.
        moment: "writes" if the row that makes a target word finds its source, "reads" if the row
            that reads it does.
        accuracy: the share of linked target words whose largest weight lies on a source word that
            they are linked with.
        diagonal: that of the source word at the same place in its sentence.
        offset: the best fixed offset from a target word to its source word.
        offset_accuracy: the share of words whose source word is there.
        null_accuracy: the accuracy of the best head of random weights, or None.
        values: the accuracy of every head in its better moment, arrays [layers, heads].
        by_moment: the accuracy of every head at either moment, arrays [layers, heads]; of arrays,
            at the moment "writes" alone.
        null_values: the same of random weights, or None.
        numbers: the layers' numbers in the model.
        num_pairs: the pairs that chose head, moment and offset, and those that were held out.
    """

    count: int
    layer: int
    head: int
    moment: Moment
    accuracy: Share
    diagonal: Share
    offset: int
    offset_accuracy: Share
    null_accuracy: Share | None
    values: Estimate = field(repr=False)
    by_moment: Mapping[Moment, Numbers] = field(repr=False)
    null_values: Estimate | None = field(repr=False)
    numbers: tuple[int, ...]
    num_pairs: tuple[int, int]

    def table(self) -> pd.DataFrame:
        """The best head and what it is compared with, as a table of pandas.

        Columns: chosen by, accuracy, low, high.

        Raises:
            ModuleNotFoundError: pandas is not installed.
        """
        rows = {
            f"head {self.layer}-{self.head}, {self.moment}": self.accuracy,
            "same place in the sentence": self.diagonal,
            f"offset {self.offset:+d}": self.offset_accuracy,
            "best head of random weights": self.null_accuracy,
        }
        return shares_table("chosen by", rows)

    def metrics(self) -> dict[str, dict[str, Any]]:
        """The accuracy of every cross-attention head, as `metrics` of `attnwidget.show`.

        Beside it stands that of random weights, or without these of the same place.
        """
        if self.null_values is not None:
            null, label = self.null_values.mean, "random weights"
        else:
            null = np.where(np.isnan(self.values.mean), np.nan, self.diagonal.value)
            label = "same place"
        metric = as_metric(self.values, null, label)
        by_stack = {
            name: value if name == "null_label" else {"cross": value}
            for name, value in metric.items()
        }
        return {"aligns words": by_stack}

    def on_pair(
        self, model: torch.nn.Module, tokenizer: Any, pair: Aligned
    ) -> tuple[AttentionRecord, dict[str, Any]]:
        """The attention over a pair, and options of `attnwidget.show` for the head in it.

        The options have the links of the pair, which the view draws solid where the head finds
        them. It judges each link by the largest weight of a token. The probe adds up the tokens of
        a word, and counts a target word as found by any of its links, so the two can differ.

        Args:
            model, tokenizer: those that were probed.

        Raises:
            TypeError: the pair is no Aligned.
        """
        record = _captured(model, tokenizer, pair)
        source, target = _members(tokenizer, pair, record)
        shift = 1 if self.moment == "writes" else 0
        arcs = [
            Arc(_span(target[written], -shift), _span(source[read]))
            for written, read in pair.links
            if target[written].any() and source[read].any()
        ]
        place = {"layer": self.layer, "head": self.head, "heads": [self.head]}
        return record, {"stack": "cross", **place, "arcs": arcs}


def alignment(
    model: torch.nn.Module | Iterable[tuple[Any, Aligned]],
    tokenizer: Any = None,
    pairs: Iterable[Aligned] | None = None,
    *,
    held_out: Iterable[Any] | None = None,
    null: Null | None = "random weights",
    seed: int = 0,
) -> AlignmentScores:
    """Find the cross-attention head that aligns words best.

    For each linked word of the translation, a head's prediction is the source word with the
    largest weight. The row of a token is that of the step which reads it; the step before makes
    it. Both are tried, and head, moment and offset are chosen on some pairs and scored on others.

    Args:
        model: an encoder-decoder; or (weights [layers, heads, target words, source words],
            Aligned) of rows that make the words, without tokenizer and pairs.
        tokenizer: its tokenizer.
        pairs: `Aligned` sentences. The translation is given to the model.
        held_out: the pairs for the scores. None to hold out every second pair.
        null: "random weights" reads the pairs with a newly initialised model as well; None does
            not. Arrays have none.
        seed: of random weights and the bootstrap, from 0.

    Returns:
        The scores, with 95% intervals by a bootstrap over pairs.

    Raises:
        TypeError: an argument is of the wrong kind.
        ValueError: the model has no cross-attention; there are no links to choose by or to score.
    """
    heads = Heads()
    moments: tuple[Moment, ...]
    if tokenizer is None and pairs is None:
        if not isinstance(model, Iterable):
            raise TypeError(
                "expected a model, its tokenizer and pairs; or pairs of an array [layers, heads, "
                "target words, source words] and an Aligned"
            )
        given: list[Any] = list(model)
        read, moments = _of_arrays, _MOMENTS[:1]
    else:
        if tokenizer is None or pairs is None:
            raise TypeError("alignment needs a model, its tokenizer and pairs of sentences")
        if isinstance(pairs, Aligned) or not isinstance(pairs, Iterable):
            raise TypeError(f"pairs is {type(pairs).__name__}; expected a list of Aligned")
        given = list(pairs)
        read, moments = _reader(model, tokenizer, null, seed, heads), _MOMENTS
    choosing, scoring = (given[::2], given[1::2]) if held_out is None else (given, list(held_out))
    chosen, scored = _Tally(None), _Tally(seed)
    with progress_bar("Probing", "pairs"):
        for tally, part in ((chosen, choosing), (scored, scoring)):
            for index, item in enumerate(part):
                tally.add(index, read(item))
                step_done()
    if not (chosen.count and scored.count):
        raise ValueError(
            f"there are {chosen.count} linked words to choose by and {scored.count} to score; "
            "give more pairs, or held_out"
        )
    own, before = scored.own, chosen.own
    assert own is not None
    assert before is not None
    layers, most = own.values.shape[1:]
    heads.counts = heads.counts or (most,) * layers
    heads.numbers = heads.numbers or tuple(range(layers))
    moment, layer, head = best(before)
    [offset] = best(chosen.offsets)
    null_accuracy, null_values = None, None
    if chosen.null is not None and scored.null is not None:
        null_accuracy = scored.null.share(*best(chosen.null))
        null_values = of_better_direction(chosen.null, scored.null, heads)
    return AlignmentScores(
        scored.count,
        heads.numbers[layer],
        head,
        _MOMENTS[moment],
        own.share(moment, layer, head),
        scored.diagonal.share(0),
        _OFFSETS[offset],
        scored.offsets.share(offset),
        null_accuracy,
        of_better_direction(before, own, heads),
        dict(zip(moments, np.where(heads.exists, own.values, np.nan), strict=False)),
        null_values,
        heads.numbers,
        (len(choosing), len(scoring)),
    )


class _Read(NamedTuple):
    """Weights [moments, layers, heads, target words, source words] of a pair."""

    pair: Aligned
    weights: Floats
    null: Floats | None


class _Tally:
    """The hits of heads, offsets and the diagonal.

    Args:
        seed: of the bootstrap, or None.
    """

    def __init__(self, seed: int | None) -> None:
        self.own: Shares | None = None
        self.null: Shares | None = None
        self.offsets = Shares((len(_OFFSETS),), seed)
        self.diagonal = Shares((1,), seed)
        self.count = 0
        self._seed = seed

    def add(self, index: int, read: _Read) -> None:
        """Add the linked words of a pair."""
        sources = read.pair.sources
        if not sources:
            return
        count = len(sources)
        self.count += count
        hits = _hits(read.weights, sources)
        self.own = self.own or Shares(hits.shape, self._seed)
        self.own.add(index, hits, count)
        if read.null is not None:
            hits = _hits(read.null, sources)
            self.null = self.null or Shares(hits.shape, self._seed)
            self.null.add(index, hits, count)
        places = [sum(t + offset in s for t, s in sources.items()) for offset in _OFFSETS]
        self.offsets.add(index, places, count)
        stretch = len(read.pair.source) / len(read.pair.target)
        self.diagonal.add(
            index, [sum(int((t + 0.5) * stretch) in s for t, s in sources.items())], count
        )


def _hits(weights: Floats, sources: dict[int, set[int]]) -> Floats:
    """The number of linked words that each head finds, [moments, layers, heads]."""
    found = weights.argmax(axis=-1)
    # If all weights are 0, as for words without tokens, nothing is found.
    found[weights.max(axis=-1) <= 0] = -1
    hits = np.zeros(found.shape[:-1], np.float32)
    for target, words in sources.items():
        hits += np.isin(found[..., target], list(words))
    return hits


def _of_arrays(item: Any) -> _Read:
    if not (isinstance(item, (tuple, list)) and len(item) == 2 and isinstance(item[1], Aligned)):
        raise TypeError(f"a pair is {type(item).__name__}; expected (weights, Aligned)")
    weights, pair = np.asarray(item[0], np.float32), item[1]
    if weights.ndim != 4 or weights.shape[2:] != (len(pair.target), len(pair.source)):
        raise ValueError(
            f"weights have the shape {list(weights.shape)}; expected [layers, heads, "
            f"{len(pair.target)} target words, {len(pair.source)} source words]"
        )
    # Only one moment is known.
    return _Read(pair, np.stack([weights, np.zeros_like(weights)]), None)


def _reader(model: Any, tokenizer: Any, null: Null | None, seed: int, heads: Heads) -> Any:
    """A function that reads a pair with the model, and with random weights."""
    if null not in (None, "random weights"):
        raise ValueError(f"null is {null!r}; expected 'random weights' or None")
    fresh = None
    if null is not None:
        from attnwidget.running.random_weights import with_random_weights

        fresh = with_random_weights(model, seed)

    def read(pair: Any) -> _Read:
        own, *others = (
            _captured(each, tokenizer, pair) for each in (model, fresh) if each is not None
        )
        members = _members(tokenizer, pair, own)
        heads.counts = tuple(layer.num_heads for layer in own.stack("cross").layers)
        heads.numbers = tuple(own.stack("cross").numbers)
        weights = [_between_words(record, members) for record in (own, *others)]
        return _Read(pair, weights[0], weights[1] if others else None)

    return read


def _captured(model: Any, tokenizer: Any, pair: Aligned) -> AttentionRecord:
    from attnwidget.capture import capture

    if not isinstance(pair, Aligned):
        raise TypeError(f"a pair is {type(pair).__name__}; expected attnwidget.probe.Aligned")
    record = capture(model, tokenizer, " ".join(pair.source), target=" ".join(pair.target))
    if "cross" not in record.stacks:
        raise ValueError(f"{type(model).__name__} has no cross-attention to align words by")
    return record


def _members(tokenizer: Any, pair: Aligned, record: AttentionRecord) -> tuple[Floats, Floats]:
    """The tokens of each source word and of each target word, as the decoder reads them."""
    stack = record.stack("cross")
    source = tokens_of_words(tokenizer, Annotated(pair.source), stack.keys, None)
    # The first token of a decoder begins the text.
    read = Tokens(stack.queries.labels[1:])
    target = tokens_by_labels(Annotated(pair.target), read, None)
    return source, np.pad(target, ((0, 0), (1, 0)))


def _between_words(record: AttentionRecord, members: tuple[Floats, Floats]) -> Floats:
    """Weights [moments, layers, heads, target words, source words]."""
    source, target = members
    stack = record.stack("cross")
    most = max(layer.num_heads for layer in stack.layers)
    shape = (2, len(stack.layers), most, len(target), len(source))
    weights = np.zeros(shape, np.float32)
    mean = target / target.sum(axis=1, keepdims=True).clip(1)
    # The step before the one that reads a token makes it.
    rows = [np.roll(mean, -1, axis=1), mean]
    for place, layer in enumerate(stack.layers):
        for head in range(layer.num_heads):
            own = layer.head_weights(head) @ source.T
            for moment, row in enumerate(rows):
                weights[moment, place, head] = row @ own
    return weights


def _span(members: Floats, shift: int = 0) -> tuple[int, int]:
    positions = np.flatnonzero(members)
    return int(positions[0]) + shift, int(positions[-1]) + 1 + shift
