"""Heads as coreference resolvers: how often a mention's largest weight lies on its antecedent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .annotated import Annotated
from .best_heads import DIRECTIONS, BestHead, Contest, Decisions, Direction, marked
from .halves import Null, Pairs, opened
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
    halves = opened(model, tokenizer, texts, held_out, null, seed, batch_size, max_tokens)
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
        pronouns=contest.scored[_PRONOUNS]["own"].share(*at) if counts[_PRONOUNS] else None,
        nearest=nearest,
        same_word=contest.rule(_ALL, "same word").accuracy,
        heads={"antecedents": scores},
        num_texts=halves.num_texts,
        lost=halves.left_out.words,
    )


def _decisions(text: Annotated) -> Decisions:
    """The choice of an antecedent for each mention that has one, between their head words."""
    entities: dict[int, set[str]] = {}
    for mention in text.mentions:
        entities.setdefault(text.mention_head(mention), set()).add(mention.entity)
    words = sorted(entities)
    found: list[tuple[int, list[int], list[int]]] = []
    for place, word in enumerate(words):
        earlier = words[:place]
        for entity in sorted(entities[word]):
            right = [other for other in earlier if entity in entities[other]]
            if right:
                found.append((word, earlier, right))
    nearest, same_word = (
        np.array([_by_rules(text, *each) for each in found], np.float32).reshape(-1, 2).T
    )
    pronouns = [text.tags is not None and text.tags[word] == _PRONOUN for word, _, _ in found]
    return Decisions(
        np.array([word for word, _, _ in found], np.int64),
        marked([earlier for _, earlier, _ in found], len(text)),
        marked([right for _, _, right in found], len(text)),
        {_ALL: np.ones(len(found), np.float32), _PRONOUNS: np.array(pronouns, np.float32)},
        {"nearest": nearest[None], "same word": same_word[None]},
    )


def _by_rules(
    text: Annotated, word: int, candidates: list[int], right: list[int]
) -> tuple[bool, bool]:
    """True if the nearest candidate is right, and the nearest with the same word."""
    form = text.words[word].lower()
    same = [other for other in candidates if text.words[other].lower() == form]
    return candidates[-1] in right, (same or candidates)[-1] in right
