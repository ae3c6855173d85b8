"""Words that a model does not read: `max_tokens` cuts them off, or its tokenizer drops them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from attnwidget.running.labels import text_tokenizer
from attnwidget.warning import warn

from .annotated import Annotated

_T = TypeVar("_T")


@dataclass
class LeftOut:
    """The numbers of words that are left out of some texts, by the reason why.

    Attributes:
        max_tokens: the limit by which texts are cut; None for none.
        total: the words that there are, with those that are left out.
        cut_off: those that do not fit into `max_tokens`.
        dropped: those for which the tokenizer has no tokens.
        texts: the texts of which no word remains.
    """

    max_tokens: int | None = None
    total: int = 0
    cut_off: int = 0
    dropped: int = 0
    texts: int = 0

    @property
    def words(self) -> int:
        """The words that are left out."""
        return self.cut_off + self.dropped

    def add(self, total: int, fitting: int, kept: int) -> None:
        """Count a text: its words, those of them that fit, and those that have tokens as well."""
        self.total += total
        self.cut_off += total - fitting
        self.dropped += fitting - kept
        self.texts += total > 0 and not kept

    def reasons(self) -> str:
        """The reasons why words are left out, and their numbers."""
        reasons = []
        if self.cut_off:
            reasons.append(f"max_tokens={self.max_tokens} cuts off {self.cut_off:,}")
        if self.dropped:
            reasons.append(f"the tokenizer has no tokens for {self.dropped:,}")
        return ", ".join(reasons)

    def warn(self) -> None:
        """Warn if words were left out."""
        if not self.words:
            return
        without = ""
        if self.texts:
            several = f"{self.texts:,} texts have" if self.texts > 1 else "1 text has"
            without = f"; {several} no other words"
        warn(
            f"{self.words:,} of {self.total:,} words were left out: {self.reasons()}{without}. "
            "All scores, baselines and nulls are of the others"
        )


def fitting(text: Annotated, tokenizer: Any, max_tokens: int) -> Annotated:
    """A text with as many of its first words as fit into `max_tokens` with special tokens.

    Of a word, all tokens fit, so that a model reads what it would if the text ended there. If the
    tokenizer cuts off the beginning (`truncation_side`), the last words are taken.
    """
    tokenizer = text_tokenizer(tokenizer)

    def fits(part: str) -> bool:
        # One more token is enough to see that there are too many.
        tokens = tokenizer(part, truncation=True, max_length=max_tokens + 1)["input_ids"]
        return len(tokens) <= max_tokens

    source, spans = text.text or "", np.array(text.spans, np.int64).reshape(-1, 2)
    if fits(source):
        return text
    from_end = getattr(tokenizer, "truncation_side", "right") == "left"
    # The characters at which the text may begin or end: the shortest text comes first.
    edges = (np.unique(spans[:, 0])[::-1] if from_end else np.unique(spans[:, 1])).tolist()

    def part(place: int) -> str:
        return source[edges[place] :] if from_end else source[: edges[place]]

    count = bisect_left(range(len(edges)), True, key=lambda place: not fits(part(place)))
    if not count:
        return replace(with_words(text, np.zeros(len(text), bool)), text="")
    edge = edges[count - 1]
    shorter = with_words(text, spans[:, 0] >= edge if from_end else spans[:, 1] <= edge)
    shift = edge if from_end else 0
    moved = [(start - shift, end - shift) for start, end in shorter.spans or ()]
    return replace(shorter, text=part(count - 1), spans=moved)


def with_words(text: Annotated, kept: NDArray[np.bool_]) -> Annotated:
    """A text with some of its words, and what is known of these alone.

    Words whose head word is gone have none. A mention is there with all of its words, or not at
    all. A segment is its words that are left: each of them matters by itself.

    Args:
        kept: True for the words that are left, [words].
    """
    if kept.all():
        return text
    places = {word: place for place, word in enumerate(np.flatnonzero(kept).tolist())}

    def of_kept(values: Sequence[_T] | None) -> list[_T] | None:
        return None if values is None else [values[word] for word in places]

    heads = of_kept(text.heads)
    segments = [[places[w] for w in range(*span) if w in places] for span in text.segments]
    return replace(
        text,
        words=[text.words[word] for word in places],
        heads=None if heads is None else [None if h is None else places.get(h) for h in heads],
        relations=of_kept(text.relations),
        mentions=[m.moved(places) for m in text.mentions if kept[m.words].all()],
        segments=[(inside[0], inside[-1] + 1) for inside in segments if inside],
        tags=of_kept(text.tags),
        spans=of_kept(text.spans),
    )
