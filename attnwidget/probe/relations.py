"""Heads as dependency parsers: how often a head's largest weight lies on a word's head word."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from attnwidget.record import Arc, AttentionRecord, Floats, Tokens

from .annotated import Annotated, dependencies
from .best_heads import DIRECTIONS, Contest, Decisions, Direction, both_ways
from .halves import Null, Pairs, opened
from .relation_score import ALL, SUBTYPES, RelationScore, head_names, rows_of
from .results import ProbeScores
from .word_attention import WordAttention
from .word_tokens import span_of, tokens_of_words

if TYPE_CHECKING:
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
        text: the sentence, without words that were left out.
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


@dataclass(frozen=True, kw_only=True)
class RelationScores(ProbeScores):
    """The relations that heads find; see `relations`.

    `table()` has a row per relation: relation, count, layer, head, direction, accuracy, low, high,
    offset, offset_accuracy, and null_accuracy if there is a null.

    Attributes:
        scores: by relation, the most frequent first, and "all" last. `heads` has the accuracy of
            every head by the same names.
        misses: by relation, the first 20 held-out words whose head word the best head misses.
    """

    scores: Mapping[str, RelationScore]
    misses: Mapping[str, Sequence[Miss]] = field(repr=False)

    def __repr__(self) -> str:
        heads = [
            f"{score.relation} {score.layer}-{score.head} {score.accuracy.value:.2f}"
            for score in list(self.scores.values())[:_PRINTED]
        ]
        more = ["..."] if len(self.scores) > _PRINTED else []
        return self._in_short(heads + more, "offsets and random weights")

    def _rows(self) -> list[dict[str, Any]]:
        columns = (
            *("relation", "count", "layer", "head", "direction", "accuracy"),
            *("offset", "offset_accuracy", "null_accuracy"),
        )
        scores = self.scores.values()
        return [{name: getattr(score, name) for name in columns} for score in scores]

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

        self._heads_of(relation)
        score = self.scores[relation]
        if text is None:
            if not self.misses[relation]:
                raise ValueError(f"no {relation} was missed: give text=, an Annotated, to show")
            text = self.misses[relation][0].text
        if not isinstance(text, Annotated):
            raise TypeError(
                f"text is {type(text).__name__}; expected an Annotated with heads and relations, "
                "as of read_conllu, or None for the first of `misses`"
            )
        record = capture(model, tokenizer, text.text or "")
        # The probe is of layers with a softmax.
        stack = next(name for name in record.stacks if not record.stack(name).signed)
        tokens = record.stack(stack).queries
        arcs = _arcs(tokenizer, text, tokens, relation, score.direction)
        if not arcs:
            raise ValueError(f"the text has no {relation}: {' '.join(text.words)!r:.80}")
        place = {"stack": stack, "layer": score.layer, "head": score.head, "heads": [score.head]}
        return record, {**place, "words": True, "arcs": arcs, "head_names": self.head_names()}


def _arcs(
    tokenizer: Any, text: Annotated, tokens: Tokens, relation: str, direction: Direction
) -> list[Arc]:
    """The arcs of a relation between the tokens of a text, decided by the dependent word."""
    members = tokens_of_words(tokenizer, text, tokens)
    arcs = []
    for word, head, name in dependencies(text):
        if relation in rows_of(name) and members[word].any() and members[head].any():
            own, other = span_of(members[word]), span_of(members[head])
            attends = direction == "attends"
            arcs.append(Arc(own, other, name) if attends else Arc(other, own, name, by="key"))
    return arcs


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
        batch_size: as for `attnwidget.profile`.
        max_tokens: longer texts are read up to the last word that fits into so many tokens; None to
            leave them. A warning counts the words that are left out.
        seed: of random weights and the bootstrap, from 0.

    Returns:
        The scores, with 95% intervals by a bootstrap over texts.

    Raises:
        TypeError: an argument is of the wrong kind.
        ValueError: a text has no heads or relations, or is too long for the model; no relation is
            frequent enough; an array has a wrong shape.
    """
    halves = opened(model, tokenizer, texts, held_out, null, seed, batch_size, max_tokens)
    contest = Contest(halves, _decisions, seed)
    misses: dict[str, list[Miss]] = {}
    contest.run(seen=lambda read, decisions: _add_misses(misses, read, decisions, contest.chosen))
    counts = contest.counts
    names = [
        name
        for name, count in counts.items()
        if count >= max(min_count, 1) and name in contest.chosen and not _repeats(name, counts)
    ]
    if not names:
        most = max(counts.values(), default=0)
        raise ValueError(
            f"no relation is frequent enough: the most frequent has {most} words in the held-out "
            f"texts, and min_count is {min_count}"
        )
    names.sort(key=lambda name: (name == ALL, -counts[name], name))
    scores, heads = {}, {}
    for name in names:
        direction, _, _ = contest.chosen[name]
        rule = contest.rule(name, "offset")
        offset = OFFSETS[rule.chosen]
        scores[name] = RelationScore(
            **vars(contest.best(name)),
            relation=name,
            direction=DIRECTIONS[direction],
            offset=offset,
            offset_accuracy=rule.accuracy,
        )
        heads[name] = contest.scores(
            name,
            f"finds {name}",
            f"The share of words with the relation {name} whose head word the head finds",
            (f"offset {offset:+d}", rule.accuracy),
        )
    return RelationScores(
        scores=scores,
        misses={name: misses.get(name, []) for name in names},
        heads=heads,
        num_texts=halves.num_texts,
        lost=halves.left_out.words,
    )


def _decisions(text: Annotated) -> Decisions:
    """The choice of a head word for each word that has a relation."""
    found = [each for each in dependencies(text) if rows_of(each.relation)]
    kinds: dict[str, Floats] = {}
    for number, (_, _, relation) in enumerate(found):
        for name in rows_of(relation):
            kinds.setdefault(name, np.zeros(len(found), np.float32))[number] = 1
    words = np.array([word for word, _, _ in found], np.int64)
    heads = np.array([head for _, head, _ in found], np.int64)
    places = np.arange(len(text))
    offsets = np.equal.outer(OFFSETS, heads - words).astype(np.float32)
    others, right = places != words[:, None], places == heads[:, None]
    return Decisions(words, others, right, kinds, {"offset": offsets})


def _add_misses(
    misses: dict[str, list[Miss]],
    read: WordAttention[Annotated],
    decisions: Decisions,
    chosen: Mapping[str, tuple[int, int, int]],
) -> None:
    """Add the words of a text whose head word the best head of their relation misses."""
    for relation, row in decisions.kinds.items():
        listed = misses.setdefault(relation, [])
        if relation not in chosen or len(listed) >= _MOST_MISSES:
            continue
        weights = both_ways(read.weights)[chosen[relation]]
        found = decisions.found(weights)
        for at in np.flatnonzero((row > 0) & ~decisions.hits(weights))[
            : _MOST_MISSES - len(listed)
        ]:
            word, head = int(decisions.words[at]), int(decisions.right[at].argmax())
            listed.append(Miss(read.text, word, head, int(found[at]) if found[at] >= 0 else None))


def _repeats(name: str, counts: Mapping[str, int]) -> bool:
    """True for the row of a relation with its subtypes, if it has only one of these."""
    base = name.removesuffix(SUBTYPES)
    return base != name and sum(other.split(":")[0] == base for other in counts) == 2
