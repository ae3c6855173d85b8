"""Heads as coreference resolvers: how often a mention's largest weight lies on its antecedent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnwidget.corpus import Estimate
from attnwidget.progress import progress_bar
from attnwidget.record import Floats

from .annotated import Annotated
from .directions import DIRECTIONS, Direction, as_metric, best, of_better_direction
from .shares import Share, Shares, shares_table
from .source import Null, Pairs, divided, opened
from .word_attention import WordAttention

if TYPE_CHECKING:
    import pandas as pd
    import torch

_PRONOUN = "PRON"


@dataclass(frozen=True)
class CoreferenceScores:
    """The scores of the head that finds antecedents best, on held-out texts; see `coreference`.

    Attributes:
        count: the mentions with an antecedent.
        layer: its number in the model.
        head: the head of that layer.
        direction: "attends" if mentions attend to their antecedents, "is attended to" if these
            attend to them.
        accuracy: the share of mentions of which the head finds an antecedent.
        pronouns: the same of those whose head word has the tag "PRON"; None if there are none.
        nearest: the accuracy of choosing the nearest candidate.
        same_word: that of choosing the nearest with the same head word, else the nearest.
        null_accuracy: that of the best head of a network with random weights, or None.
        values: the accuracy of every head in its better direction, arrays [layers, heads], with
            NaN where a layer has fewer heads than another.
        null_values: the same of random weights, or None.
        numbers: the layers' numbers in the model.
        num_texts: the texts that chose the head and its direction, and those that were held out.
        lost: the number of words without tokens, because a tokenizer cut them off or dropped them.
        missing: attention that could not be read, as "module: reason".
    """

    count: int
    layer: int
    head: int
    direction: Direction
    accuracy: Share
    pronouns: Share | None
    nearest: Share
    same_word: Share
    null_accuracy: Share | None
    values: Estimate = field(repr=False)
    null_values: Estimate | None = field(repr=False)
    numbers: tuple[int, ...]
    num_texts: tuple[int, int]
    lost: int
    missing: tuple[str, ...]

    def table(self) -> pd.DataFrame:
        """The best head and what it is compared with, as a table of pandas.

        Columns: chosen by, accuracy, low, high.

        Raises:
            ModuleNotFoundError: pandas is not installed.
        """
        rows = {
            f"head {self.layer}-{self.head}, {self.direction}": self.accuracy,
            f"head {self.layer}-{self.head}, of pronouns": self.pronouns,
            "nearest mention": self.nearest,
            "nearest with the same head word": self.same_word,
            "best head of random weights": self.null_accuracy,
        }
        return shares_table("chosen by", rows)

    def metrics(self) -> dict[str, dict[str, Any]]:
        """The accuracy of every head, as `metrics` of `attnwidget.show`.

        Beside it stands that of random weights, or without these of the nearest mention.
        """
        if self.null_values is not None:
            null, label = self.null_values.mean, "random weights"
        else:
            null = np.where(np.isnan(self.values.mean), np.nan, self.nearest.value)
            label = "nearest mention"
        return {"finds antecedents": as_metric(self.values, null, label)}


def coreference(
    model: torch.nn.Module | Pairs,
    tokenizer: Any = None,
    texts: Iterable[Any] | None = None,
    *,
    held_out: Iterable[Any] | None = None,
    null: Null | None = "random weights",
    batch_size: int = 16,
    max_tokens: int | None = None,
    seed: int = 0,
) -> CoreferenceScores:
    """Find the head that resolves coreference best (Clark et al. 2019, section 4.3).

    For each mention that has an antecedent, which is an earlier mention of the same entity, a
    head's prediction is the earlier mention with the largest weight, between the head words of
    both. All earlier mentions are candidates, those of entities that are mentioned once included.
    The head and its direction are chosen on some texts, and scored on others.

    Args:
        texts: Annotated texts with mentions, such as `read_conllu(path, window=100)` of a treebank
            with `Entity=`; the other arguments are those of `relations`.

    Returns:
        The scores, with 95% intervals by a bootstrap over texts.

    Raises:
        TypeError: an argument is of the wrong kind.
        ValueError: no mention has an antecedent; a text is too long for the model; an array has a
            wrong shape.
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
    chosen, scored = _Tally(None), _Tally(seed)
    with progress_bar("Probing", "texts"):
        for read in source.read(choosing):
            chosen.add(read)
        for read in source.read(scoring):
            scored.add(read)
    if chosen.own is None or scored.own is None or scored.pronouns is None:
        where = "the" if scored.own is not None else "the held-out"
        raise ValueError(f"no mention of {where} texts has an earlier one of the same entity")
    direction, layer, head = best(chosen.own)
    has_pronouns = scored.pronouns.count > 0
    null_accuracy = null_values = None
    if chosen.null is not None and scored.null is not None:
        null_accuracy = scored.null.share(*best(chosen.null))
        null_values = of_better_direction(chosen.null, scored.null, source.heads)
    return CoreferenceScores(
        count=scored.own.count,
        layer=source.heads.numbers[layer],
        head=head,
        direction=DIRECTIONS[direction],
        accuracy=scored.own.share(direction, layer, head),
        pronouns=scored.pronouns.share(direction, layer, head) if has_pronouns else None,
        nearest=scored.baselines.share(0),
        same_word=scored.baselines.share(1),
        null_accuracy=null_accuracy,
        values=of_better_direction(chosen.own, scored.own, source.heads),
        null_values=null_values,
        numbers=source.heads.numbers,
        num_texts=(chosen.num_texts, scored.num_texts),
        lost=source.heads.lost,
        missing=tuple(source.heads.missing),
    )


class _Choice(NamedTuple):
    """A mention and its candidates.

    Attributes:
        word: its head word.
        candidates: the head words of the earlier mentions, in order.
        right: True for those of the same entity.
    """

    word: int
    candidates: NDArray[np.int64]
    right: NDArray[np.bool_]


def _choices(text: Annotated) -> Iterator[_Choice]:
    """The mentions of a text with an antecedent."""
    entities: dict[int, set[str]] = {}
    for mention in text.mentions:
        entities.setdefault(text.mention_head(mention), set()).add(mention.entity)
    words = sorted(entities)
    for place, word in enumerate(words):
        for entity in sorted(entities[word]):
            right = np.array([entity in entities[other] for other in words[:place]], bool)
            if right.any():
                yield _Choice(word, np.array(words[:place]), right)


class _Tally:
    """The hits of heads and of baselines.

    Attributes:
        own, null, pronouns: [directions, layers, heads]; None before the first.
        baselines: of the nearest, and of the same word.
        num_texts: the number of texts.
    """

    def __init__(self, seed: int | None) -> None:
        self.own: Shares | None = None
        self.null: Shares | None = None
        self.pronouns: Shares | None = None
        self.baselines = Shares((2,), seed)
        self.num_texts = 0
        self._seed = seed

    def add(self, read: WordAttention) -> None:
        """Add the mentions of a text."""
        self.num_texts += 1
        choices = list(_choices(read.text))
        if not choices:
            return
        own = _hits(read.weights, choices)
        if self.own is None or self.pronouns is None:
            self.own, self.pronouns = (Shares(own.shape[:-1], self._seed) for _ in range(2))
            self.null = None if read.null is None else Shares(own.shape[:-1], self._seed)
        self.own.add(read.index, own.sum(axis=-1), len(choices))
        if self.null is not None and read.null is not None:
            hits = _hits(read.null, choices).sum(axis=-1)
            self.null.add(read.index, hits, len(choices))
        tags = read.text.tags
        pronouns = [tags is not None and tags[choice.word] == _PRONOUN for choice in choices]
        self.pronouns.add(read.index, own[..., pronouns].sum(axis=-1), sum(pronouns))
        hits = np.array([_baselines(read.text, choice) for choice in choices]).sum(axis=0)
        self.baselines.add(read.index, hits, len(choices))


def _hits(weights: Floats, choices: list[_Choice]) -> Floats:
    """1 where a head finds an antecedent, float32 [directions, layers, heads, choices]."""
    hits = np.empty((2, *weights.shape[:2], len(choices)), np.float32)
    for number, (word, candidates, right) in enumerate(choices):
        for direction, found in enumerate(
            (weights[:, :, word, candidates], weights[:, :, candidates, word])
        ):
            hits[direction, ..., number] = right[found.argmax(axis=-1)] & (found.max(axis=-1) > 0)
    return hits


def _baselines(text: Annotated, choice: _Choice) -> tuple[bool, bool]:
    """True if the nearest candidate is right, and the nearest with the same word."""
    forms = [text.words[word].lower() for word in choice.candidates]
    same = [n for n, form in enumerate(forms) if form == text.words[choice.word].lower()]
    nearest = len(forms) - 1
    return bool(choice.right[nearest]), bool(choice.right[same[-1] if same else nearest])
