"""The head that is right most often: chosen on some texts, scored on others, beside rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from attnwidget.analysis import HeadScores
from attnwidget.corpus import Estimate
from attnwidget.record import Floats

from .halves import Halves, reading
from .shares import Share, Shares
from .word_attention import Text, WordAttention

Direction: TypeAlias = Literal["attends", "is attended to"]
"""The direction of a weight: the word attends to what is looked for, or is attended to by it."""

DIRECTIONS: tuple[Direction, Direction] = ("attends", "is attended to")


class Decisions(NamedTuple):
    """Decisions in a text, each by one of its words for another.

    Attributes:
        words: those that decide, int64 [decisions].
        candidates: True for the words that each may find, bool [decisions, words].
        right: True for those that are right, bool [decisions, words].
        kinds: by kind, 1 for the decisions of that kind, else 0: float32 [decisions].
        rules: by the name of a rule, 1 where it is right: float32 [alternatives, decisions].
    """

    words: NDArray[np.int64]
    candidates: NDArray[np.bool_]
    right: NDArray[np.bool_]
    kinds: Mapping[str, Floats]
    rules: Mapping[str, Floats]

    def found(self, weights: Floats) -> NDArray[np.int64]:
        """The candidate with the largest weight, or -1 if all have 0: int64 [..., decisions].

        Args:
            weights: float32 [..., words, words], from the words of rows to those of columns.
        """
        among = np.where(self.candidates, weights[..., self.words, :], 0)
        found: NDArray[np.int64] = np.where(among.max(axis=-1) > 0, among.argmax(axis=-1), -1)
        return found

    def hits(self, weights: Floats) -> NDArray[np.bool_]:
        """True where the right word is found, bool [..., decisions]."""
        found = self.found(weights)
        return self.right[np.arange(len(self.words)), found] & (found >= 0)


def marked(rows: Sequence[Iterable[int]], size: int) -> NDArray[np.bool_]:
    """True for the indices that each row has, bool [rows, size]."""
    marks = np.zeros((len(rows), size), bool)
    for mark, row in zip(marks, rows, strict=True):
        mark[list(row)] = True
    return marks


def both_ways(weights: Floats) -> Floats:
    """Weights between the words of a text, and back: [directions, layers, heads, words, words]."""
    return np.stack([weights, weights.swapaxes(-1, -2)])


@dataclass(frozen=True, kw_only=True)
class BestHead:
    """The head that is right most often, on held-out texts.

    Attributes:
        count: the decisions.
        layer: its number in the model.
        head: the head of that layer.
        accuracy: the share of decisions that are right.
        null_accuracy: that of the best head of a network with random weights, or None.
    """

    count: int
    layer: int
    head: int
    accuracy: Share
    null_accuracy: Share | None


class Rule(NamedTuple):
    """A rule that heads are compared with: the alternative that was chosen, and its accuracy."""

    chosen: int
    accuracy: Share


_Tallies: TypeAlias = dict[str, dict[str, Shares]]


class Contest(Generic[Text]):
    """Counts the right decisions of all heads and rules: the best are chosen, then scored.

    Args:
        halves: the texts by which the best are chosen, and the held-out ones.
        decide: returns the decisions in a text.
        seed: of the bootstrap over texts.
        ways: returns the weights of a text in all directions, along a first axis.

    Attributes:
        chosen: by kind, the direction, layer and head that are best in the first texts, as indices.
        scored: by kind, by what decides ("own" or "null" heads [directions, layers, heads], or the
            name of a rule [alternatives]), the share that is right in the held-out texts.
    """

    def __init__(
        self,
        halves: Halves[Text],
        decide: Callable[[Text], Decisions],
        seed: int,
        ways: Callable[[Floats], Floats] = both_ways,
    ) -> None:
        self._heads = halves.heads
        self._halves = halves
        self._decide = decide
        self._ways = ways
        self._seed = seed
        self._chosen: _Tallies = {}
        self.scored: _Tallies = {}
        self.chosen: dict[str, tuple[int, int, int]] = {}

    def run(
        self,
        unit: str = "texts",
        *,
        seen: Callable[[WordAttention[Text], Decisions], None] | None = None,
    ) -> None:
        """Read all texts.

        Args:
            unit: what texts are called.
            seen: is called with each held-out text and its decisions, when the best are chosen.
        """
        with reading(self._halves.left_out, unit):
            for read in self._halves.first():
                self._count(self._chosen, None, read, self._decide(read.text))
            for kind, tally in self._chosen.items():
                direction, layer, head = _best(tally["own"])
                self.chosen[kind] = direction, layer, head
            for read in self._halves.held_out():
                decisions = self._decide(read.text)
                self._count(self.scored, self._seed, read, decisions)
                if seen is not None:
                    seen(read, decisions)

    def _count(
        self,
        tallies: _Tallies,
        seed: int | None,
        read: WordAttention[Text],
        decisions: Decisions,
    ) -> None:
        """Count the right decisions in a text."""
        if not len(decisions.words):
            return
        members = np.stack(list(decisions.kinds.values())).T
        right = {name: decisions.hits(self._ways(each)) for name, each in read.both.items()}
        for name, decided in (right | dict(decisions.rules)).items():
            sums = decided @ members
            for number, (kind, row) in enumerate(decisions.kinds.items()):
                tally = tallies.setdefault(kind, {})
                if name not in tally:
                    tally[name] = Shares(sums.shape[:-1], seed)
                tally[name].add(read.index, sums[..., number], int(row.sum()))

    @property
    def counts(self) -> dict[str, int]:
        """By kind, the decisions in held-out texts."""
        return {kind: tally["own"].count for kind, tally in self.scored.items()}

    def best(self, kind: str) -> BestHead:
        """The best head, in its better direction."""
        chosen, scored, at = self._chosen[kind], self.scored[kind], self.chosen[kind]
        null_accuracy = None
        if "null" in chosen and "null" in scored:
            null_accuracy = scored["null"].share(*_best(chosen["null"]))
        return BestHead(
            count=scored["own"].count,
            layer=self._heads.numbers[at[1]],
            head=at[2],
            accuracy=scored["own"].share(*at),
            null_accuracy=null_accuracy,
        )

    def rule(self, kind: str, name: str) -> Rule:
        """A rule: its best alternative in the first texts, scored on the held-out ones."""
        [place] = _best(self._chosen[kind][name])
        return Rule(place, self.scored[kind][name].share(place))

    def scores(self, kind: str, name: str, description: str, rule: tuple[str, Share]) -> HeadScores:
        """The accuracy of every head in its better direction, beside a null.

        Args:
            rule: the null where random weights were not read: its name and accuracy.
        """
        chosen, scored = self._chosen[kind], self.scored[kind]
        found = _of_better_direction(chosen["own"], scored["own"])
        null, label = np.full(found.mean.shape, rule[1].value), rule[0]
        if "null" in chosen and "null" in scored:
            null = _of_better_direction(chosen["null"], scored["null"]).mean
            label = "random weights"
        num_texts = self._halves.num_texts[1]
        measured_on = f"{scored['own'].count:,} decisions in {num_texts:,} held-out texts"
        return self._heads.scores(
            name, description, found, null, null_label=label, measured_on=measured_on
        )


def _best(shares: Shares) -> tuple[int, ...]:
    """The index of the highest share."""
    return tuple(int(i) for i in np.unravel_index(shares.values.argmax(), shares.values.shape))


def _of_better_direction(chosen: Shares, scored: Shares) -> Estimate:
    """The shares [layers, heads] of every head in the direction that was better before."""
    reverse = chosen.values[-1] > chosen.values[0]
    found = scored.estimate()
    mean, low, high = (
        np.where(reverse, numbers[-1], numbers[0])
        for numbers in (found.mean, found.low, found.high)
    )
    return Estimate(mean, low, high, found.count[0])
