"""A prompt and its answer as lines of text, each token with the shade below it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from attnwidget.analysis import (
    RunningText,
    counted_keys,
    part_shares,
    running_text,
    text_shares,
)
from attnwidget.interventions.answer import Answer
from attnwidget.record import AttentionRecord, Floats

from .image_plot import OnImage, on_one_grid

# In sizes of the font: between two lines, between two messages, and beside a role.
LINE, _GAP, _BESIDE = 1.7, 0.9, 1.2
# The height of a picture.
_TALL = 12
# The strongest shade under letters, on light and dark backgrounds, as in the view.
STRONGEST = (0.5, 0.56)


@dataclass(frozen=True)
class Piece:
    """The text of a token, and the shade below it, from 0 to 1.

    Attributes:
        is_looked_at: True for a token of the answer that is looked at.
        is_named: True for a token of the prompt within a segment with a name.
        is_image: True for an image, whose text is its name.
        picture: the image, with a veil over its patches; None where the record lacks it.
    """

    text: str
    shade: float
    is_looked_at: bool = False
    is_named: bool = False
    is_image: bool = False
    picture: OnImage | None = None


@dataclass(frozen=True)
class Block:
    """The tokens of a message."""

    role: str
    pieces: Sequence[Piece]


@dataclass(frozen=True)
class Prose:
    """A prompt and its answer, shaded by what tokens of the answer were written from.

    Attributes:
        blocks: the messages, of which the last is the answer.
        even, largest: the weight of a token of the prompt if all got the same, and the largest.
        sinks: the share of the attention on sinks, which are left out.
        heads: the number of heads whose mean it is.
        of: the words for their numbers; "" for weights.
        named: the segments with names, each with its share.
        patch: the largest weight of a patch of an image; 0 without images.
    """

    blocks: Sequence[Block]
    even: float
    largest: float
    sinks: float
    heads: int
    of: str = ""
    named: Sequence[str] = ()
    patch: float = 0.0

    @property
    def notes(self) -> list[str]:
        """The meaning of the shades, in words."""
        return [
            f"mean of {self.heads} heads{self.of}, {100 * self.sinks:.0f}% on sinks left out",
            f"shade: from an even share, {self.even:.2g}, to {self.largest:.2g}",
            *([f"images: √weight, to {self.patch:.2g}"] if self.patch else []),
            *self.named,
        ]


@dataclass(frozen=True)
class Placed:
    """A piece of text from its left end, or a role to its right one, below a height.

    Attributes:
        height: of a picture; 0 for text.
    """

    text: str
    x: float
    y: float
    width: float
    piece: Piece | None
    height: float = 0.0


def prose_of(found: Answer, first: int, end: int) -> Prose:
    """The text of an answer and its prompt.

    Args:
        first, end: the tokens of the answer that are looked at.
    """
    stack = found.record.stack(found.stack)
    running = running_text(stack)
    assert running is not None
    shares = text_shares(stack, running)
    weights = shares.mean[first:end].mean(axis=0)
    counted = counted_keys(running, shares.sinks)
    even, largest = _scale(weights[counted])
    shades = np.sqrt(np.clip((weights - even) / ((largest - even) or 1), 0, 1)) * counted
    keys = running.keys
    assert keys.text is not None
    assert keys.offsets is not None
    segments = found.named or ()
    inside = {at for start, end, _ in segments for at in range(start, end)}
    images = {span[0]: span[1] for span in running.sentences if running.name_of(span) is not None}
    largest_patch, pictures = _pictures(found.record, running, weights * counted, list(images))
    blocks = []
    for message in running.messages:
        pieces: list[Piece] = []
        last: int | None = None
        after = message.start
        for at in range(message.start, message.end):
            if at in images:
                after, last = images[at], None
                pieces.append(replace(pictures[at], is_named=at in inside))
            if at < after:
                continue
            span = keys.offsets[at]
            if not running.of_text[at] or span is None:
                continue
            # What no token holds, as spaces, goes with the next; several may hold one letter.
            begin = span[0] if last is None else last
            if span[1] > begin:
                text = keys.text[begin : span[1]]
                pieces.append(Piece(text, float(shades[at]), is_named=at in inside))
                last = span[1]
        if pieces:
            blocks.append(Block(message.role, pieces))
    whole = end - first == len(found.tokens)
    said = [
        Piece(token.text, 0.0, is_looked_at=not whole and first <= at < end)
        for at, token in enumerate(found.tokens)
    ]
    blocks.append(Block("assistant" if keys.turns else "answer", said))
    sinks = float(weights[[key for sink in shares.sinks for key in sink.keys]].sum())
    spans = tuple((start, stop) for start, stop, _ in segments)
    named = [
        f"{segments[part.number][2]}: {part.share:.1%}, even {part.even:.1%}"
        for part in part_shares(replace(running, sentences=spans), shares, slice(first, end))
    ]
    heads = sum(layer.num_heads for layer in stack.layers)
    of = "’ shares of the magnitudes of coefficients" if stack.signed else ""
    return Prose(blocks, even, largest, sinks, heads, of, named, largest_patch)


def _pictures(
    record: AttentionRecord, text: RunningText, received: Floats, starts: Sequence[int]
) -> tuple[float, dict[int, Piece]]:
    """The largest weight of a patch, and the images by their first token."""
    patches = text.keys.patches
    if patches is None or not starts:
        return 0.0, {}
    largest = max(float(received[n]) for n, place in enumerate(patches.of) if place is not None)
    found = {}
    for start in starts:
        placed = patches.grid_of(start)
        assert placed is not None
        image, video = placed[0].image, placed[0].video
        own = [
            number
            for number, grid in enumerate(patches.grids)
            if (grid.video == video if video else grid.image == image)
        ]
        whole = next((n for n in own if patches.grids[n].name.endswith("whole")), own[0])
        if video:  # the frame with most of the attention
            shares = [
                sum(received[at] for at, on in enumerate(patches.on_grid(n)) if on is not None)
                for n in own
            ]
            whole = own[int(np.argmax(shares))]
            image = patches.grids[whole].image
        picture = None
        if image < len(record.images):
            picture = on_one_grid(record.images, patches, whole, received, largest or 1.0)
        name = text.name_of((start, start)) or ""
        found[start] = Piece(name, 0.0, is_image=True, picture=picture)
    return largest, found


def placed(
    blocks: Sequence[Block],
    wide: float,
    size: float,
    width: Callable[[str], float],
    *,
    pictures: bool = True,
) -> list[Placed]:
    """All tokens in lines, broken between words, and the roles beside them.

    Args:
        wide: the width of a line with its role.
        size: that of the font.
        width: returns the width of a text.
        pictures: False to have words in place of pictures.
    """
    left = max(width(block.role) for block in blocks) + _BESIDE * size
    found, y = [], 0.0
    for block in blocks:
        found.append(Placed(block.role, left - _BESIDE * size, y, 0, None))
        x = left
        for word in _words(block.pieces):
            if pictures and word[0].picture is not None:
                y += LINE * size if x > left else 0.0
                tall, across, _ = word[0].picture.pixels.shape
                scale = min(_TALL * size / tall, (wide - left) / across)
                room = Placed(word[0].text, left, y, scale * across, word[0], scale * tall)
                found.append(room)
                # Text goes on below it.
                x, y = left, y + room.height + _GAP * size
                continue
            needed = sum(width(piece.text.split("\n")[0]) for piece in word)
            if x > left and x + needed > wide:
                x, y = left, y + LINE * size
            for piece in word:
                x += width(" ") if piece.is_image and x > left else 0.0
                for number, line in enumerate(piece.text.split("\n")):
                    # Within a word, too, if it is longer than a line.
                    if number or (x > left and x + width(line) > wide):
                        x, y = left, y + LINE * size
                    # A space at the start of a line has no width.
                    line = line.lstrip() if x == left else line
                    letters = line.lstrip()
                    start = x + width(line[: len(line) - len(letters)])
                    x += width(line)
                    if letters:
                        found.append(Placed(letters, start, y, x - start, piece))
                x += width(" ") if piece.is_image else 0.0
        # Below a picture, there is a gap already.
        y += 0.0 if found[-1].height else (LINE + _GAP) * size
    return found


def _scale(weights: Floats) -> tuple[float, float]:
    """An even share, and the largest; 0 if there are no tokens but sinks."""
    return (float(weights.mean()), float(weights.max())) if len(weights) else (0.0, 0.0)


def _words(pieces: Sequence[Piece]) -> Iterator[list[Piece]]:
    """The tokens that stand together: one that begins with a space begins a word."""
    word: list[Piece] = []
    for piece in pieces:
        if word and (piece.text[:1].isspace() or piece.is_image or word[-1].is_image):
            yield word
            word = []
        word.append(piece)
    yield word
