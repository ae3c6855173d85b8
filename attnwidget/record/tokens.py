"""The tokens along one side of an attention matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from .images import Box, Patches, is_box, is_count


@dataclass(frozen=True)
class Piece:
    """A part of a chat, of one message: its content, or what the chat template writes around it.

    Attributes:
        start, end: tokens, or characters of a text, from `start` to `end - 1`.
        role: of the message, such as "system", "user" or "assistant".
        message: its number, counted from 0, that of the answer being the next; None for a system
            message that the template has of its own.
        template: True for what the template writes, such as "<|im_start|>user" and a new line.
    """

    start: int
    end: int
    role: str
    message: int | None
    template: bool

    def __post_init__(self) -> None:
        if not _is_span((self.start, self.end)) or self.start == self.end:
            raise ValueError("a piece has a start from 0 on, and an end after it")
        if not isinstance(self.role, str) or not isinstance(self.template, bool):
            raise ValueError("the role of a piece is a string, and template is True or False")
        if not (self.message is None or is_count(self.message)):
            raise ValueError("messages are numbers from 0, or None")


@dataclass(frozen=True)
class Tokens:
    """Labels of a token sequence, and their places in its text.

    Attributes:
        labels: readable text of each token.
        segments: 0 (A) or 1 (B) for each token of a text pair, or None for a single text.
        special: positions of special tokens such as [CLS].
        words: the word of each token, counted from 0 (None for special tokens); or None if unknown.
        offsets: the characters (start, end) of the text that each token stands for (None for
            special tokens); or None if unknown.
        patches: the places of the tokens on the record's images; or None if they have none.
        generated: the position of the first token that the model generated, the others being the
            prompt; their number, if it generated one token alone, which it has not read; None if it
            generated none.
        text: the text in which offsets count, of a chat or an answer with all that the model has
            read; of a pair, both with a blank line between them; or None if it is not known.
        pieces: of a chat, the tokens of each message, in order and without gaps; else None.
        boxes: of a detection model, the number of the image and the box that it predicts for each
            token (None for tokens without one); or None if there are none. A box may reach beyond
            the image.
    """

    labels: tuple[str, ...]
    segments: tuple[int, ...] | None = None
    special: tuple[int, ...] = ()
    words: tuple[int | None, ...] | None = None
    offsets: tuple[tuple[int, int] | None, ...] | None = None
    patches: Patches | None = None
    generated: int | None = None
    text: str | None = None
    pieces: tuple[Piece, ...] | None = None
    boxes: tuple[tuple[int, Box] | None, ...] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.labels, str) or not all(isinstance(x, str) for x in self.labels):
            raise ValueError("labels must be a list with one string per token")
        if not all(is_count(p) and p < len(self.labels) for p in self.special):
            raise ValueError("a special position lies outside the tokens")
        if self.segments is not None and not all(is_count(s) and s < 2 for s in self.segments):
            raise ValueError("segments must be 0 or 1")
        lists: dict[str, Sequence[object] | None] = {
            "segment": self.segments,
            "word": self.words,
            "offset": self.offsets,
            "patch": None if self.patches is None else self.patches.of,
            "box": self.boxes,
        }
        for name, values in lists.items():
            if values is not None and len(values) != len(self.labels):
                raise ValueError(
                    f"{len(self.labels)} tokens but {len(values)} {name} numbers; "
                    "give one for each token"
                )
        if self.words is not None and not all(w is None or is_count(w) for w in self.words):
            raise ValueError("words must be numbers from 0, or None")
        if self.offsets is not None and not all(o is None or _is_span(o) for o in self.offsets):
            raise ValueError("offsets must be (start, end) from 0, or None")
        if self.boxes is not None and not all(b is None or _is_placed(b) for b in self.boxes):
            raise ValueError(
                "boxes must be (image, (left, top, right, bottom)), the edges floats, or None"
            )
        if self.generated is not None and not (
            is_count(self.generated) and self.generated <= len(self)
        ):
            raise ValueError("the first generated position lies outside the tokens")
        if self.text is not None and not isinstance(self.text, str):
            raise ValueError("the text of tokens is a string, or None")
        if self.text is not None and max((o[1] for o in self.offsets or () if o), default=0) > len(
            self.text
        ):
            raise ValueError("an offset lies outside the text")
        ends = [0, *(piece.end for piece in self.pieces or ())]
        if self.pieces is not None and (
            ends != [*(piece.start for piece in self.pieces), len(self.labels)]
        ):
            raise ValueError("the pieces of a chat have all of its tokens, in order")

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def split(self) -> int | None:
        """The position where the second text of a pair begins; None if the texts are mixed."""
        if self.segments is None or not 0 < sum(self.segments) < len(self):
            return None
        start = self.segments.index(1)
        return start if all(self.segments[start:]) else None

    @property
    def template(self) -> tuple[bool, ...] | None:
        """True for each token that a chat template has written; None if this is no chat."""
        if self.pieces is None:
            return None
        return tuple(piece.template for piece in self.pieces for _ in range(piece.start, piece.end))

    @property
    def turns(self) -> tuple[tuple[int, int, str], ...]:
        """(start, end, role) of each message of a chat, as views take named segments."""
        groups = groupby(self.pieces or (), lambda piece: (piece.message, piece.role))
        turns = [(role, list(pieces)) for (_, role), pieces in groups]
        return tuple((pieces[0].start, pieces[-1].end, role) for role, pieces in turns)

    def after(self, labels: Sequence[str]) -> Tokens:
        """The tokens after special ones with these labels, which are no part of the text."""
        count = len(labels)
        return Tokens(
            (*labels, *self.labels),
            self.segments and (0,) * count + self.segments,
            (*range(count), *(count + position for position in self.special)),
            self.words and (None,) * count + self.words,
            self.offsets and (None,) * count + self.offsets,
            None,
            None if self.generated is None else self.generated + count,
            self.text,
        )


def _is_span(offset: object) -> bool:
    if not isinstance(offset, tuple) or len(offset) != 2 or not all(map(is_count, offset)):
        return False
    start, end = offset
    return bool(start <= end)


def _is_placed(box: object) -> bool:
    if not isinstance(box, tuple) or len(box) != 2:
        return False
    return is_count(box[0]) and is_box(box[1])


Span = int | tuple[int, int]
"""A token position, or (start, end) of several."""

Decider = Literal["query", "key"]


@dataclass(frozen=True)
class Arc:
    """A link between tokens that somebody has annotated.

    A head hits an arc if the largest weight of its query lies on its key. Special tokens do not
    count, nor, in self-attention, does the query itself.

    Attributes:
        query, key: a token position, or (start, end) of the tokens `start` to `end - 1`.
        label: the relation, such as "obj", or "".
        by: the side that decides: "query" for the largest weight of the query, "key" for the
            largest weight that the key receives.
        stack: the stack of the tokens; None for "cross", or else the first of the record.
    """

    query: Span
    key: Span
    label: str = ""
    by: Decider = "query"
    stack: str | None = None
