"""Heads as coreference resolvers: how often a mention's largest weight lies on its antecedent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnwidget.record import Floats

from .annotated import Annotated
from .best_heads import DIRECTIONS, BestHead, Contest, Decisions, Direction
from .halves import Halves, Null, Pairs, open_source
from .results import ProbeScores, compared
from .shares import Share

if TYPE_CHECKING:
    import torch

_PRONOUN = "PRON"

# The kinds of decisions.
_ALL, _PRONOUNS = "all", "pronouns"


@dataclass(frozen=True, kw_only=True)
class CoreferenceScores(BestHead, ProbeScores):
    """The scores of the head that finds antecedents best; see `coreference`.

    The decisions are those of mentions with an antecedent: right if the head finds one. `table()`
    has the best head and what it is compared with: chosen by, accuracy, low, high.

    Attributes:
        direction: "attends" if mentions attend to their antecedents, "is attended to" if these
            attend to them.
        pronouns: the accuracy on those whose head word has the tag "PRON"; None if there are none.
        nearest: the accuracy of choosing the nearest candidate.
        same_word: that of choosing the nearest with the same head word, else the nearest.
    """

    direction: Direction
    pronouns: Share | None
    nearest: Share
    same_word: Share

    def _rows(self) -> list[dict[str, Any]]:
        shares = {
            f"head {self.layer}-{self.head}, {self.direction}": self.accuracy,
            f"head {self.layer}-{self.head}, of pronouns": self.pronouns,
            "nearest mention": self.nearest,
            "nearest with the same head word": self.same_word,
            "best head of random weights": self.null_accuracy,
        }
        return compared("chosen by", shares)


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
    source, texts = open_source(
        model, tokenizer, texts, null=null, seed=seed, batch_size=batch_size, max_tokens=max_tokens
    )
    halves = Halves(source, texts, held_out)
    contest = Contest(halves, _decisions, seed)
    contest.run()
    counts = contest.counts
    if not contest.chosen or not counts:
        where = "the" if counts else "the held-out"
        raise ValueError(f"no mention of {where} texts has an earlier one of the same entity")
    at = contest.chosen[_ALL]
    nearest = contest.rule(_ALL, "nearest").accuracy
    scores = contest.scores(
        _ALL,
        "finds antecedents",
        "The share of mentions with an antecedent whose antecedent the head finds",
        ("nearest mention", nearest),
    )
    return CoreferenceScores(
        **vars(contest.best(_ALL)),
        direction=DIRECTIONS[at[0]],
        pronouns=contest.share(_PRONOUNS, at) if counts[_PRONOUNS] else None,
        nearest=nearest,
        same_word=contest.rule(_ALL, "same word").accuracy,
        heads={"antecedents": scores},
        num_texts=halves.num_texts,
        lost=halves.left_out.words,
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


def _decisions(text: Annotated) -> Decisions:
    """The choice of an antecedent for each mention."""
    choices = list(_choices(text))
    tags = text.tags
    pronouns = [tags is not None and tags[choice.word] == _PRONOUN for choice in choices]
    by_rules = [_by_rules(text, choice) for choice in choices]
    nearest, same_word = np.array(by_rules, np.float32).reshape(-1, 2).T
    return Decisions(
        {_ALL: np.ones(len(choices), np.float32), _PRONOUNS: np.array(pronouns, np.float32)},
        lambda weights: _hits(weights, choices),
        {"nearest": nearest[None], "same word": same_word[None]},
    )


def _hits(weights: Floats, choices: list[_Choice]) -> Floats:
    """1 where a head finds an antecedent, float32 [directions, layers, heads, choices]."""
    hits = np.empty((2, *weights.shape[:2], len(choices)), np.float32)
    for number, (word, candidates, right) in enumerate(choices):
        for direction, found in enumerate(
            (weights[:, :, word, candidates], weights[:, :, candidates, word])
        ):
            hits[direction, ..., number] = right[found.argmax(axis=-1)] & (found.max(axis=-1) > 0)
    return hits


def _by_rules(text: Annotated, choice: _Choice) -> tuple[bool, bool]:
    """True if the nearest candidate is right, and the nearest with the same word."""
    forms = [text.words[word].lower() for word in choice.candidates]
    same = [n for n, form in enumerate(forms) if form == text.words[choice.word].lower()]
    nearest = len(forms) - 1
    return bool(choice.right[nearest]), bool(choice.right[same[-1] if same else nearest])
