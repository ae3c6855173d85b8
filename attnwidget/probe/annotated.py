"""Texts whose words have heads, relations, mentions and segments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from attnwidget.arguments import check_fields, list_of, two_numbers, whole_number

_STRINGS = "a list of strings, one for each word"
_RANGES = "(start, end) pairs, as [(0, 2)]"
_HEADS = "the index of each word's head word, or None for the root"
WORDS = list_of(str, _STRINGS)


@dataclass(frozen=True)
class Mention:
    """Words that refer to something.

    Attributes:
        start, end: the words are `words[start:end]`.
        entity: a name of what they refer to; mentions of one text with equal names corefer.
        head: the index of the word that stands for the mention. None for the first word whose
            head lies outside of the mention, and without heads for the last word.
        kind: the class of the entity, such as "person", or "".
        rest: (start, end) of the further parts of a mention that is interrupted.
    """

    start: int
    end: int
    entity: str
    head: int | None = None
    kind: str = ""
    rest: tuple[tuple[int, int], ...] = ()

    @property
    def parts(self) -> tuple[tuple[int, int], ...]:
        """(start, end) of each part."""
        return (self.start, self.end), *self.rest

    @property
    def words(self) -> list[int]:
        """The indices of its words."""
        return [word for part in self.parts for word in range(*part)]

    def moved(self, places: Mapping[int, int] | Sequence[int]) -> Mention:
        """The mention in another text, in which its words have these places."""
        (start, end), *rest = ((places[first], places[last - 1] + 1) for first, last in self.parts)
        head = None if self.head is None else places[self.head]
        return replace(self, start=start, end=end, head=head, rest=tuple(rest))


@dataclass(frozen=True)
class Annotated:
    """A text in words, with what is known of them. Words are counted from 0.

    Attributes:
        words: the words.
        heads: the index of each word's head word in the dependency tree; None for the root.
        relations: the relation of each word to its head, such as "nsubj" or "nmod:poss".
        mentions: see `Mention`.
        segments: (start, end) of the words that matter, `words[start:end]`.
        tags: the part of speech of each word.
        text: the text that a model reads; by default, the words with a space between any two.
        spans: (start, end) of each word in `text`, in characters. Words that are written as one,
            as French "du" for "de le", have the same.

    Raises:
        TypeError: something is no list of what it should have, such as a string, or a table.
        ValueError: something is not of every word, or lies outside of the text.
    """

    words: Sequence[str]
    heads: Sequence[int | None] | None = None
    relations: Sequence[str] | None = None
    mentions: Sequence[Mention] = ()
    segments: Sequence[tuple[int, int]] = ()
    tags: Sequence[str] | None = None
    text: str | None = None
    spans: Sequence[tuple[int, int]] | None = None

    def __post_init__(self) -> None:
        of_words = list_of(str, _STRINGS, none=True)
        check_fields(
            self,
            words=WORDS,
            heads=list_of(_index, _HEADS, none=True),
            relations=of_words,
            mentions=list_of(Mention, "a list of attnwidget.probe.Mention", any_order=True),
            segments=list_of(two_numbers, _RANGES, any_order=True),
            tags=of_words,
            spans=list_of(two_numbers, _RANGES, none=True),
        )
        if any(not word.strip() for word in self.words):
            raise ValueError(f"a word is empty: {list(self.words)!r:.200}")
        count = len(self.words)
        for name in ("heads", "relations", "tags", "spans"):
            values = getattr(self, name)
            if values is not None and len(values) != count:
                raise ValueError(f"there are {count} words, but {len(values)} {name}")
        if self.relations is not None and self.heads is None:
            raise ValueError("relations need heads: the index of each word's head word, or None")
        for word, head in enumerate(self.heads or ()):
            if head is not None and not 0 <= head < count:
                raise ValueError(
                    f"the head of word {word} is {head}; expected the index of a word, from 0 to "
                    f"{count - 1}, or None for the root"
                )
        for mention in self.mentions:
            for start, end in mention.parts:
                self._check_range("a mention", start, end)
            if mention.head is not None and mention.head not in mention.words:
                raise ValueError(f"the head of {mention} is none of its words")
        for start, end in self.segments:
            self._check_range("a segment", start, end)
        self._set_text()

    def _check_range(self, name: str, start: int, end: int) -> None:
        if not 0 <= start < end <= len(self.words):
            raise ValueError(
                f"{name} is words[{start}:{end}], but the text has {len(self.words)} words"
            )

    def _set_text(self) -> None:
        """Check the text, or make one of the words."""
        if (self.text is None) != (self.spans is None):
            raise ValueError("text and spans belong together: give both, or neither")
        if self.text is None:
            spans, start = [], 0
            for word in self.words:
                spans.append((start, start + len(word)))
                start += len(word) + 1
            object.__setattr__(self, "text", " ".join(self.words))
            object.__setattr__(self, "spans", tuple(spans))
        for word, (start, end) in zip(self.words, self.spans or (), strict=True):
            if not 0 <= start < end <= len(self.text or ""):
                raise ValueError(f"the span {(start, end)} of {word!r} lies outside of the text")

    def __len__(self) -> int:
        return len(self.words)

    def mention_head(self, mention: Mention) -> int:
        """The index of the word that stands for a mention."""
        if mention.head is not None:
            return mention.head
        words = mention.words
        if self.heads is None:
            return words[-1]
        return next((word for word in words if self.heads[word] not in words), words[-1])


class Dependency(NamedTuple):
    """A word that has a head word."""

    word: int
    head: int
    relation: str


def dependencies(text: Annotated) -> list[Dependency]:
    """All words of a text that have a head word, which the root has not.

    Raises:
        ValueError: the text has no heads or no relations.
    """
    if text.heads is None or text.relations is None:
        raise ValueError(f"a text has no heads or no relations: {' '.join(text.words)!r:.80}")
    return [
        Dependency(word, head, relation)
        for word, (head, relation) in enumerate(zip(text.heads, text.relations, strict=True))
        if head is not None and head != word
    ]


def annotated(text: Any) -> Annotated:
    """An annotated text as it is, or that of a spaCy `Doc` or `Span`, such as a sentence.

    Of these: its tokens that are no whitespace, their heads, relations and tags, and the named
    entities as mentions, each of an entity of its own. Its relations are those of its pipeline.

    Raises:
        TypeError: it is neither.
    """
    if isinstance(text, Annotated):
        return text
    if not (hasattr(text, "ents") and hasattr(text, "text") and hasattr(text, "__iter__")):
        raise TypeError(
            f"a text is {type(text).__name__}; expected an Annotated, or a Doc of spaCy. A list of "
            "words is Annotated(words)"
        )
    tokens = [token for token in text if token.text.strip()]
    place = {token.i: number for number, token in enumerate(tokens)}
    # Offsets of a span's tokens are those of its document.
    first = getattr(text, "start_char", 0)
    # Without a parser, each token is its own head.
    parsed = any(token.dep_ for token in tokens)
    mentions = []
    for number, entity in enumerate(text.ents):
        inside = [place[i] for i in range(entity.start, entity.end) if i in place]
        if inside:
            mentions.append(
                Mention(inside[0], inside[-1] + 1, f"{number} {entity.text}", kind=entity.label_)
            )
    return Annotated(
        words=[token.text for token in tokens],
        heads=[_head(token, place) for token in tokens] if parsed else None,
        relations=[token.dep_ for token in tokens] if parsed else None,
        mentions=mentions,
        tags=[token.pos_ for token in tokens],
        text=text.text,
        spans=[(token.idx - first, token.idx - first + len(token.text)) for token in tokens],
    )


def _index(value: Any) -> int | None:
    return None if value is None else whole_number(value)


def _head(token: Any, place: dict[int, int]) -> int | None:
    return None if token.head.i == token.i else place.get(token.head.i)
