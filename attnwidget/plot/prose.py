"""A prompt and its answer as lines of text, each token with the shade below it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from attnwidget.analysis import RunningText, counted_keys, running_text, text_shares
from attnwidget.interventions.answer import Answer
from attnwidget.record import AttentionRecord, Floats, Patches
from attnwidget.record import Piece as Message

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
    shade: float = 0.0
    is_looked_at: bool = False
    is_named: bool = False
    is_image: bool = False
    picture: OnImage | None = None


class Prose(NamedTuple):
    """A prompt and its answer, shaded by what tokens of the answer were written from.

    Attributes:
        messages: the role of each message and its tokens; the last one is the answer.
        notes: the meaning of the shades, in words.
    """

    messages: Sequence[tuple[str, Sequence[Piece]]]
    notes: Sequence[str]


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
    # There may be no tokens but sinks.
    known = weights[counted] if counted.any() else np.zeros(1)
    even, largest = float(known.mean()), float(known.max())
    shades = np.sqrt(np.clip((weights - even) / ((largest - even) or 1), 0, 1)) * counted
    patch, pictures = _pictures(found.record, running, weights * counted)
    inside = {at for start, stop, _ in found.named or () for at in range(start, stop)}
    messages = []
    for message in running.messages:
        pieces = [
            replace(piece, is_named=at in inside)
            for at, piece in _pieces(running, message, shades, pictures)
        ]
        if pieces:
            messages.append((message.role, pieces))
    whole = end - first == len(found.tokens)
    said = [
        Piece(token.text, is_looked_at=not whole and first <= at < end)
        for at, token in enumerate(found.tokens)
    ]
    messages.append(("assistant" if running.keys.turns else "answer", said))
    heads = sum(layer.num_heads for layer in stack.layers)
    of = "’ shares of the magnitudes of coefficients" if stack.signed else ""
    sinks = float(weights[[key for sink in shares.sinks for key in sink.keys]].sum())
    notes = [
        f"mean of {heads} heads{of}, {100 * sinks:.0f}% on sinks left out",
        f"shade: from an even share, {even:.2g}, to {largest:.2g}",
    ]
    if patch:
        notes.append(f"images: √weight, to {patch:.2g}")
    if found.named is not None:
        _, parts = found.columns((first, end))
        for name, share, by_chance in zip(
            parts["name"], parts["share"], parts["even"], strict=True
        ):
            notes.append(f"{name}: {share:.1%}, even {by_chance:.1%}")
    return Prose(messages, notes)


def _pieces(
    running: RunningText, message: Message, shades: Floats, pictures: Mapping[int, Piece]
) -> Iterator[tuple[int, Piece]]:
    """The texts and images of a message, each with the position of its first token."""
    keys = running.keys
    text, offsets = keys.text or "", keys.offsets or ()
    images = {start: end for start, end in running.sentences if start in pictures}
    last: int | None = None
    after = message.start
    for at in range(message.start, message.end):
        if at in images:
            after, last = images[at], None
            yield at, pictures[at]
        span = offsets[at]
        if at < after or span is None or not running.of_text[at]:
            continue
        # What no token holds, as spaces, goes with the next; several may hold one letter.
        begin = span[0] if last is None else last
        if span[1] > begin:
            yield at, Piece(text[begin : span[1]], float(shades[at]))
            last = span[1]


def _pictures(
    record: AttentionRecord, running: RunningText, received: Floats
) -> tuple[float, dict[int, Piece]]:
    """The largest weight of a patch, 0 without images; and the images by their first token."""
    patches = running.keys.patches
    named = {span[0]: name for span in running.sentences if (name := running.name_of(span))}
    if patches is None or not named:
        return 0.0, {}
    on = [place is not None for place in patches.of]
    largest = float(received[on].max())
    found = {}
    for start, name in named.items():
        placed = patches.grid_of(start)
        assert placed is not None
        of = placed[0].video or placed[0].image
        own = [n for n, grid in enumerate(patches.grids) if (grid.video or grid.image) == of]
        shown = next((n for n in own if patches.grids[n].name.endswith("whole")), own[0])
        if placed[0].video:  # the frame with most of the attention
            shown = max(own, key=lambda n: _on_grid(patches, n, received))
        picture = None
        if patches.grids[shown].image < len(record.images):
            picture = on_one_grid(record.images, patches, shown, received, largest or 1.0)
        found[start] = Piece(name, is_image=True, picture=picture)
    return largest, found


def _on_grid(patches: Patches, number: int, received: Floats) -> float:
    """The sum of what the patches of a grid receive."""
    return float(received[[place is not None for place in patches.on_grid(number)]].sum())


def placed(
    prose: Prose,
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
    left = max(width(role) for role, _ in prose.messages) + _BESIDE * size
    found, y = [], 0.0
    for role, pieces in prose.messages:
        found.append(Placed(role, left - _BESIDE * size, y, 0, None))
        x = left
        for word in _words(pieces):
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


def _words(pieces: Sequence[Piece]) -> Iterator[list[Piece]]:
    """The tokens that stand together: one that begins with a space begins a word."""
    word: list[Piece] = []
    for piece in pieces:
        if word and (piece.text[:1].isspace() or piece.is_image or word[-1].is_image):
            yield word
            word = []
        word.append(piece)
    yield word
