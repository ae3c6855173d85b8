"""A chat with an image of two grids among its words, and an answer of nine tokens."""

import io

import numpy as np
from PIL import Image

from attnwidget.record import (
    AttentionRecord,
    Grid,
    Patches,
    Picture,
    Piece,
    Replay,
    Stack,
    Tokens,
    Written,
)

GRIDS = (Grid(2, 3, name="whole"), Grid(2, 2, 0, (0.0, 0.0, 0.5, 1.0), "crop 1"))
# The first keys of the image, of its crop, and after it: a line break ends each grid.
IMAGE, CROP, AFTER = 2, 9, 14


def pictured_chat() -> AttentionRecord:
    """The user says "Look:", an image and "What is it?"; the image's fourth patch is a sink."""
    text = "<u>Look:<image>What is it?</u>" + 8 * "Cat"
    place = text.index("<image>"), text.index("What")
    spans = [(0, 3), (3, 8), *(AFTER - IMAGE) * [place]]
    spans += [(15, 19), (19, 22), (22, 26), (26, 30), *((30 + 3 * n, 33 + 3 * n) for n in range(8))]
    patches = [f"{n // 3},{n % 3}" for n in range(6)] + ["\n"]
    crop = [f"crop 1 {n // 2},{n % 2}" for n in range(4)] + ["\n"]
    labels = ("<u>", "Look:", *patches, *crop, "What", "is", "it?", "</u>", *8 * ["Cat"])
    end = AFTER + 3
    pieces = (
        Piece(0, 1, "user", 0, True),
        Piece(1, end, "user", 0, False),
        Piece(end, end + 1, "assistant", 1, True),
        Piece(end + 1, len(labels), "assistant", 1, False),
    )
    of = (None, None, *range(6), None, *range(6, 10), *(len(labels) - CROP - 4) * [None])
    tokens = Tokens(
        labels,
        special=tuple(range(IMAGE, AFTER)),
        offsets=tuple(spans),
        generated=end + 1,
        text=text,
        pieces=pieces,
        patches=Patches(GRIDS, of),
    )
    size = len(labels)
    weights = np.tril(np.random.default_rng(0).random((3, size, size)) + 0.01)
    weights[:, :, IMAGE + 4] += 0.3
    weights[:, :, CROP : CROP + 4] += 0.2
    weights = np.tril(weights)
    weights /= weights.sum(-1, keepdims=True)
    weights[:, end:] /= 2
    weights[:, end:, IMAGE + 3] += 0.5
    stack = AttentionRecord.from_arrays(weights[None].astype(np.float32), labels).stack()
    written = tuple(Written("Cat", "Cat", 0.5, (("Cat", 0.5),)) for _ in range(9))
    buffer = io.BytesIO()
    colors = np.zeros((40, 60, 3), np.uint8)
    colors[:, 30:, 0] = 255
    Image.fromarray(colors).save(buffer, "WEBP")
    return AttentionRecord(
        {"self": Stack(tokens, tokens, stack.layers)},
        images=(Picture(buffer.getvalue()),),
        replay=Replay(0, 1e-4, written=written),
    )
