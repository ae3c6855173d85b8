"""Pairing of the tokens of two texts, or of one text read by two tokenizers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from attnwidget.record import Tokens

from .levels import Unit, word_units

Level = Literal["tokens", "words"]

# The signs by which tokenizers mark where in a word a token is.
_MARKS = "#\u25cc\u0120\u2581\u2423 "


@dataclass(frozen=True)
class Pair:
    """Tokens of two sequences that belong together.

    Attributes:
        a, b: their positions, one or more of each.
        label_a, label_b: their texts.
    """

    a: range
    b: range
    label_a: str
    label_b: str

    @property
    def label(self) -> str:
        """Their common text, or both, as "big | small"."""
        return self.label_a if self.equal else f"{self.label_a} | {self.label_b}"

    @property
    def equal(self) -> bool:
        """True if their texts are the same but for case and a tokenizer's signs."""
        return _plain(self.label_a) == _plain(self.label_b)


@dataclass(frozen=True)
class Alignment:
    """The tokens of one sequence that belong to those of another, in order.

    Attributes:
        pairs: what belongs together.
        only_a, only_b: the positions without a partner.
        level: "tokens", or "words" if the tokens of a word count as one.
    """

    pairs: tuple[Pair, ...]
    only_a: tuple[int, ...]
    only_b: tuple[int, ...]
    level: Level

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the pairs."""
        return tuple(pair.label for pair in self.pairs)

    @property
    def differing(self) -> int:
        """The number of pairs with different texts."""
        return sum(not pair.equal for pair in self.pairs)

    @property
    def whole(self) -> bool:
        """True if every token has one partner."""
        single = all(len(pair.a) == len(pair.b) == 1 for pair in self.pairs)
        return single and not self.only_a and not self.only_b


def align(a: Tokens, b: Tokens, level: Level | None = None) -> Alignment:
    """Pair the tokens of two sequences.

    Longest common runs are paired first (Ratcliff and Obershelp's matching, by difflib). Between
    two of them, as many tokens on both sides are paired in order; different numbers are paired as
    one; and tokens opposite none have no partner. Aligning b with a gives the same pairs.

    Args:
        level: "tokens"; "words", which pairs the tokens of whole words; or None: tokens where that
            pairs them one to one, else words where they are known.

    Raises:
        ValueError: the words of a text are not known; or the sequences have no token in common.
    """
    if level != "words":
        pairs = _aligned(_tokens(a), _tokens(b))
        single = all(len(pair.a) == len(pair.b) == 1 for pair in pairs)
        if level == "tokens" or single or a.words is None or b.words is None:
            return _alignment(pairs, a, b, "tokens")
    return _alignment(_aligned(_words(a), _words(b)), a, b, "words")


def _tokens(tokens: Tokens) -> list[Unit]:
    boxes = tokens.boxes or (None,) * len(tokens)
    # A query is the same one, whatever a detection model has found for it.
    return [
        Unit(n, n + 1, label if box is None else label.partition(": ")[0])
        for n, (label, box) in enumerate(zip(tokens.labels, boxes, strict=True))
    ]


def _words(tokens: Tokens) -> list[Unit]:
    units = word_units(tokens)
    if units is None:
        raise ValueError("the words of a text are not known, so its tokens can only be compared")
    return units


def _aligned(a: list[Unit], b: list[Unit]) -> list[Pair]:
    # difflib's matching may depend on the order of its arguments.
    if [unit.label for unit in b] < [unit.label for unit in a]:
        return [Pair(pair.b, pair.a, pair.label_b, pair.label_a) for pair in _aligned(b, a)]
    matcher = SequenceMatcher(
        None, [_plain(unit.label) for unit in a], [_plain(unit.label) for unit in b], autojunk=False
    )
    pairs: list[Pair] = []
    for _, start_a, end_a, start_b, end_b in matcher.get_opcodes():
        pairs += _paired(a[start_a:end_a], b[start_b:end_b])
    return pairs


def _paired(a: Sequence[Unit], b: Sequence[Unit]) -> Iterator[Pair]:
    """Pair units that lie between two common runs, or are such a run."""
    if len(a) == len(b):
        for one, other in zip(a, b, strict=True):
            yield Pair(one.positions, other.positions, one.label, other.label)
    elif a and b:
        yield Pair(_joined(a), _joined(b), _text(a), _text(b))


def _joined(units: Sequence[Unit]) -> range:
    return range(units[0].start, units[-1].end)


def _text(units: Sequence[Unit]) -> str:
    return " ".join(unit.label for unit in units)


def _alignment(pairs: list[Pair], a: Tokens, b: Tokens, level: Level) -> Alignment:
    if not any(pair.equal for pair in pairs):
        raise ValueError("the texts have no token in common, so nothing can be compared")
    in_a = {position for pair in pairs for position in pair.a}
    in_b = {position for pair in pairs for position in pair.b}
    return Alignment(
        tuple(pairs),
        tuple(position for position in range(len(a)) if position not in in_a),
        tuple(position for position in range(len(b)) if position not in in_b),
        level,
    )


def _plain(label: str) -> str:
    return label.strip(_MARKS).casefold() or label
