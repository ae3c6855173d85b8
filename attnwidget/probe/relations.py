"""Heads as dependency parsers: how often a head's largest weight lies on a word's head word."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from attnwidget.analysis import data_frame
from attnwidget.corpus import Estimate
from attnwidget.progress import progress_bar
from attnwidget.record import AttentionRecord, Floats

from .annotated import Annotated, dependencies
from .directions import DIRECTIONS, as_metric, best, of_better_direction
from .head_names import head_names
from .relation_rows import ALL, SUBTYPES, rows_of
from .relation_score import RelationScore
from .shares import Shares
from .source import Null, Pairs, divided, opened
from .word_arcs import word_arcs
from .word_attention import Heads, WordAttention

if TYPE_CHECKING:
    import pandas as pd
    import torch

_MOST_MISSES = 20
# Relations in the text that stands for scores.
_PRINTED = 6

OFFSETS = tuple(offset for offset in range(-5, 6) if offset)
"""The fixed offsets, from a word to its head word, that a head is compared with."""


@dataclass(frozen=True)
class Miss:
    """A word whose head word the best head of its relation does not find.

    Attributes:
        text: the sentence.
        word, head: the index of the word, and of its head word.
        found: the index of the word that the head finds in its place; None for none.
    """

    text: Annotated
    word: int
    head: int
    found: int | None

    def __str__(self) -> str:
        words = self.text.words
        other = "nothing" if self.found is None else words[self.found]
        return f"{words[self.word]} → {words[self.head]}, found {other}: {' '.join(words)}"


@dataclass(frozen=True)
class RelationScores:
    """The relations that heads find; see `relations`.

    Attributes:
        scores: by relation, the most frequent first, and "all" last.
        values: by relation, the accuracy of every head in its better direction, arrays
            [layers, heads], with NaN where a layer has fewer heads than another.
        null_values: the same of random weights; None without this null.
        numbers: the layers' numbers in the model.
        num_texts: the number of texts that chose heads, directions and offsets, and of those that
            were held out, on which all is scored.
        lost: the number of words without tokens, because a tokenizer cut them off or dropped them;
            nothing finds them.
        missing: attention that could not be read, as "module: reason".
        misses: by relation, the first 20 held-out words whose head word the best head misses.
    """

    scores: Mapping[str, RelationScore]
    values: Mapping[str, Estimate]
    null_values: Mapping[str, Estimate] | None
    numbers: tuple[int, ...]
    num_texts: tuple[int, int]
    lost: int
    missing: tuple[str, ...]
    misses: Mapping[str, Sequence[Miss]]

    def __repr__(self) -> str:
        heads = [
            f"{score.relation} {score.layer}-{score.head} {score.accuracy.value:.2f}"
            for score in list(self.scores.values())[:_PRINTED]
        ]
        more = ["..."] if len(self.scores) > _PRINTED else []
        return (
            f"<RelationScores of {self.num_texts[1]} held-out texts: {', '.join(heads + more)}; "
            "table() has offsets and random weights beside them>"
        )

    def table(self) -> pd.DataFrame:
        """The scores as a table of pandas, one row per relation.

        Columns: relation, count, layer, head, direction, accuracy, low, high, offset,
        offset_accuracy, and null_accuracy if there is a null.

        Raises:
            ModuleNotFoundError: pandas is not installed.
        """
        scores = list(self.scores.values())
        columns: dict[str, list[Any]] = {
            name: [getattr(score, name) for score in scores]
            for name in ("relation", "count", "layer", "head", "direction")
        }
        columns["accuracy"] = [score.accuracy.value for score in scores]
        columns["low"] = [score.accuracy.low for score in scores]
        columns["high"] = [score.accuracy.high for score in scores]
        columns["offset"] = [score.offset for score in scores]
        columns["offset_accuracy"] = [score.offset_accuracy.value for score in scores]
        if self.null_values is not None:
            columns["null_accuracy"] = [
                np.nan if score.null_accuracy is None else score.null_accuracy.value
                for score in scores
            ]
        return data_frame(columns)

    def metrics(self, relations: Sequence[str] | None = None) -> dict[str, dict[str, Any]]:
        """The accuracy of every head, as `metrics` of `attnwidget.show`.

        Beside it stands that of random weights, or without these of the best fixed offset.

        Args:
            relations: one relation, or several; None for all.

        Raises:
            KeyError: a relation is not among the scores.
        """
        metrics = {}
        if isinstance(relations, str):
            relations = [relations]
        for relation in self.scores if relations is None else relations:
            self._known(relation)
            values = self.values[relation]
            if self.null_values is not None:
                null, label = self.null_values[relation].mean, "random weights"
            else:
                score = self.scores[relation]
                null = np.where(np.isnan(values.mean), np.nan, score.offset_accuracy.value)
                label = f"offset {score.offset:+d}"
            metrics[f"finds {relation}"] = as_metric(values, null, label)
        return metrics

    def head_names(self) -> dict[tuple[int, int], str]:
        """Words for the heads that find relations, as `head_names` of `attnwidget.show`.

        Beside each accuracy stand the best offset and random weights. A head is named if it finds a
        relation best of all heads, and its interval is above both of theirs.
        """
        return head_names(score for name, score in self.scores.items() if name != ALL)

    def on_text(
        self,
        relation: str,
        model: torch.nn.Module,
        tokenizer: Any,
        text: Annotated | None = None,
    ) -> tuple[AttentionRecord, dict[str, Any]]:
        """The attention over a text, and options of `attnwidget.show` for a relation in it.

        The options choose the head that finds the relation, and have the relation's links. A link
        is solid in the view if the head finds it. The view joins the tokens of a word, as the probe
        does, by the tokenizer's own words: where these differ from the annotated ones, a link can
        be found there that the probe counts as missed, and the other way round.

        Args:
            relation: one of `scores`.
            model, tokenizer: those that were probed.
            text: a text with heads and relations; None for the first of `misses`.

        Raises:
            KeyError: the relation is not among the scores.
            TypeError: the text is no Annotated.
            ValueError: the text has no such relation; or no text is given, and none is missed.
        """
        from attnwidget.capture import capture

        score = self._known(relation)
        if text is None:
            if not self.misses[relation]:
                raise ValueError(f"no {relation} was missed: give a text to show")
            text = self.misses[relation][0].text
        if not isinstance(text, Annotated):
            raise TypeError(
                f"text is {type(text).__name__}; expected an Annotated with heads and relations, "
                "as of read_conllu, or None for the first of `misses`"
            )
        record = capture(model, tokenizer, text.text or "")
        tokens = record.stack().queries
        arcs = word_arcs(tokenizer, text, tokens, relation, score.direction)
        if not arcs:
            raise ValueError(f"the text has no {relation}: {' '.join(text.words)!r:.80}")
        place = {"layer": score.layer, "head": score.head, "heads": [score.head]}
        return record, {**place, "words": True, "arcs": arcs, "head_names": self.head_names()}

    def _known(self, relation: str) -> RelationScore:
        if relation not in self.scores:
            raise KeyError(f"no relation {relation!r:.200}; there are {', '.join(self.scores)}")
        return self.scores[relation]


def relations(
    model: torch.nn.Module | Pairs,
    tokenizer: Any = None,
    texts: Iterable[Any] | None = None,
    *,
    held_out: Iterable[Any] | None = None,
    null: Null | None = "random weights",
    min_count: int = 100,
    batch_size: int = 16,
    max_tokens: int | None = None,
    seed: int = 0,
) -> RelationScores:
    """Find the head that does best at each dependency relation (Clark et al. 2019, section 4.2).

    For each word, a head's prediction is the other word to which it has the largest weight, or
    from which it has. The head, its direction, and the offset that it is compared with are chosen
    on some texts, and scored on others. Weights are those between words; see `WordAttention`.
    Relations and subtypes, such as "nmod" and "nmod:poss", have a row each, and ``nmod:*`` has
    both; "punct" and "root" have none, and are not in "all".

    Args:
        model: a model, as for `attnwidget.profile`; or pairs of weights [layers, heads, words,
            words] and an Annotated, without tokenizer and texts.
        tokenizer: its tokenizer.
        texts: Annotated texts with heads and relations, in any iterable.
        held_out: the texts, or pairs, for the scores. None to hold out every second text.
        null: "random weights" reads the texts with a newly initialised model of the same
            architecture as well, and takes twice the time; None does not. Arrays have none.
        min_count: relations that are rarer among the held-out texts are left out.
        batch_size, max_tokens: as for `attnwidget.profile`; words that are cut off are counted.
        seed: of random weights and the bootstrap, from 0.

    Returns:
        The scores, with 95% intervals by a bootstrap over texts.

    Raises:
        TypeError: an argument is of the wrong kind.
        ValueError: a text has no heads or relations, or is too long for the model; no relation is
            frequent enough; an array has a wrong shape.
    """
    source, texts = opened(
        model,
        tokenizer,
        texts,
        null=null,
        seed=seed,
        batch_size=batch_size,
        max_tokens=max_tokens,
    )
    choosing, scoring = divided(source, texts, held_out)
    chosen, scored = _Tallies(None), _Tallies(seed)
    misses: dict[str, list[Miss]] = {}
    with progress_bar("Probing", "texts"):
        for read in source.read(choosing):
            chosen.add(read)
        best_heads = {name: best(tally.own) for name, tally in chosen.by_relation.items()}
        for read in source.read(scoring):
            scored.add(read)
            _add_misses(misses, read, best_heads)
    names = [
        name
        for name, tally in scored.by_relation.items()
        if tally.own.count >= max(min_count, 1)
        and name in chosen.by_relation
        and not _repeats(name, scored.by_relation)
    ]
    if not names:
        most = max((tally.own.count for tally in scored.by_relation.values()), default=0)
        raise ValueError(
            f"no relation is frequent enough: the most frequent has {most} words in the held-out "
            f"texts, and min_count is {min_count}"
        )
    names.sort(key=lambda name: (name == ALL, -scored.by_relation[name].own.count, name))
    scores, values, null_values = {}, {}, {}
    for name in names:
        before, after = chosen.by_relation[name], scored.by_relation[name]
        scores[name] = _score(name, before, after, source.heads)
        values[name] = of_better_direction(before.own, after.own, source.heads)
        if before.null is not None and after.null is not None:
            null_values[name] = of_better_direction(before.null, after.null, source.heads)
    return RelationScores(
        scores,
        values,
        null_values or None,
        source.heads.numbers,
        (chosen.num_texts, scored.num_texts),
        source.heads.lost,
        tuple(source.heads.missing),
        {name: misses.get(name, []) for name in names},
    )


@dataclass
class _Tally:
    """The hits on one relation.

    Attributes:
        own: of the model's heads, [directions, layers, heads].
        null: the same of random weights, or None.
        offsets: of fixed offsets.
    """

    own: Shares
    null: Shares | None
    offsets: Shares


class _Tallies:
    """The hits on all relations.

    Args:
        seed: of the bootstrap, or None.
    """

    def __init__(self, seed: int | None) -> None:
        self.by_relation: dict[str, _Tally] = {}
        self.num_texts = 0
        self._seed = seed

    def add(self, read: WordAttention) -> None:
        """Add the words of a text."""
        self.num_texts += 1
        words, heads, places = _related(read.text)
        if not len(words):
            return
        rows = np.stack(list(places.values()))
        own = _hits(read.weights, words, heads) @ rows.T
        null = None if read.null is None else _hits(read.null, words, heads) @ rows.T
        offsets = np.equal.outer(OFFSETS, heads - words).astype(np.float32) @ rows.T
        for number, (relation, row) in enumerate(places.items()):
            if relation not in self.by_relation:
                self.by_relation[relation] = _Tally(
                    Shares(own.shape[:-1], self._seed),
                    None if null is None else Shares(null.shape[:-1], self._seed),
                    Shares((len(OFFSETS),), self._seed),
                )
            tally, count = self.by_relation[relation], int(row.sum())
            tally.own.add(read.index, own[..., number], count)
            tally.offsets.add(read.index, offsets[:, number], count)
            if tally.null is not None and null is not None:
                tally.null.add(read.index, null[..., number], count)


def _add_misses(
    misses: dict[str, list[Miss]], read: WordAttention, best_heads: Mapping[str, tuple[int, ...]]
) -> None:
    """Add the words of a text whose head word the best head of their relation misses."""
    words, heads, places = _related(read.text)
    for relation, row in places.items():
        listed = misses.setdefault(relation, [])
        if relation not in best_heads or len(listed) >= _MOST_MISSES:
            continue
        direction, layer, head = best_heads[relation]
        weights = read.weights[layer, head].copy()
        np.fill_diagonal(weights, 0)
        weights = weights.T if direction else weights
        for at in np.flatnonzero(row):
            own = weights[words[at]]
            found = int(own.argmax()) if own.max() > 0 else None
            if found != heads[at] and len(listed) < _MOST_MISSES:
                listed.append(Miss(read.text, int(words[at]), int(heads[at]), found))


def _repeats(name: str, tallies: Mapping[str, _Tally]) -> bool:
    """True for the row of a relation with its subtypes, if it has only one of these."""
    base = name.removesuffix(SUBTYPES)
    return base != name and sum(other.split(":")[0] == base for other in tallies) == 2


def _related(
    text: Annotated,
) -> tuple[NDArray[np.int64], NDArray[np.int64], dict[str, Floats]]:
    """The words of a text that have a relation, their head words, and by relation 1 for each."""
    found = [d for d in dependencies(text) if rows_of(d.relation)]
    places: dict[str, Floats] = {}
    for number, (_, _, relation) in enumerate(found):
        for name in rows_of(relation):
            places.setdefault(name, np.zeros(len(found), np.float32))[number] = 1
    words = np.array([dependency.word for dependency in found], np.int64)
    heads = np.array([dependency.head for dependency in found], np.int64)
    return words, heads, places


def _hits(weights: Floats, words: NDArray[np.int64], heads: NDArray[np.int64]) -> Floats:
    """1 where a head finds a word's head word, float32 [directions, layers, heads, words]."""
    others = weights * (1 - np.eye(weights.shape[-1], dtype=np.float32))
    hits = np.empty((2, *weights.shape[:2], len(words)), np.float32)
    for direction, axis in enumerate((3, 2)):
        found = others.argmax(axis=axis)[..., words] == heads
        # If all weights are 0, as for words without tokens, nothing is found.
        hits[direction] = found & (others.max(axis=axis)[..., words] > 0)
    return hits


def _score(name: str, chosen: _Tally, scored: _Tally, heads: Heads) -> RelationScore:
    at = best(chosen.own)
    direction, layer, head = at
    [offset] = best(chosen.offsets)
    null_accuracy = None
    if chosen.null is not None and scored.null is not None:
        null_accuracy = scored.null.share(*best(chosen.null))
    return RelationScore(
        name,
        scored.own.count,
        heads.numbers[layer],
        head,
        DIRECTIONS[direction],
        scored.own.share(*at),
        OFFSETS[offset],
        scored.offsets.share(offset),
        null_accuracy,
    )
