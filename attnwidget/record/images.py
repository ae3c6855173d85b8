"""The images that a model reads, and the places of its tokens on them."""

from __future__ import annotations

import base64
from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import accumulate
from math import isfinite

# Each is a pixel of what is laid over the picture.
_MOST_PATCHES = 1 << 20
_MOST_GRIDS = 1 << 12

Box = tuple[float, float, float, float]
"""(left, top, right, bottom) in fractions of an image, from 0 to 1."""


@dataclass(frozen=True)
class Grid:
    """A grid of patches on an image, or on a crop of it.

    Attributes:
        rows, columns: of the grid.
        image: the number of the record's image, counted from 0.
        box: what the grid covers; below 0 or beyond 1, a processor has padded the image.
        name: of a grid that is one of several: "image 2", "whole", "crop 1", "image 2, crop 1",
            "frame 3", "frames 3–4 of video 2"; else "".
    """

    rows: int
    columns: int
    image: int = 0
    box: Box = (0.0, 0.0, 1.0, 1.0)
    name: str = ""

    def __post_init__(self) -> None:
        if not all(is_count(side) and side > 0 for side in (self.rows, self.columns)):
            raise ValueError("a grid has at least one row and one column of patches")
        if len(self) > _MOST_PATCHES:
            raise ValueError(f"a grid has at most {_MOST_PATCHES} patches, not {len(self)}")
        if not is_count(self.image) or not isinstance(self.name, str):
            raise ValueError("the image of a grid is a number from 0, and its name is a string")
        if not is_box(self.box):
            raise ValueError("the box of a grid is (left, top, right, bottom), each a float")
        left, top, right, bottom = self.box
        if not (left < right and top < bottom):
            raise ValueError("the box of a grid has its right after its left, and so from the top")

    def __len__(self) -> int:
        return self.rows * self.columns

    @property
    def video(self) -> str:
        """The name of the video of which it is a frame; "" for an image."""
        return f"video{self.name.partition(' of video')[2]}" if self.name[:5] == "frame" else ""

    def box_of(self, patch: int) -> Box:
        """The part of the image that a patch covers, counted in reading order."""
        left, top, right, bottom = self.box
        row, column = divmod(patch, self.columns)
        across, down = (right - left) / self.columns, (bottom - top) / self.rows
        corner = left + column * across, top + row * down
        return *corner, corner[0] + across, corner[1] + down


@dataclass(frozen=True)
class Patches:
    """The places of tokens on images that are cut into grids.

    Attributes:
        grids: an image has one, and one more for each of its crops.
        of: the patch of each token, counted from 0 through all grids, in reading order of each;
            None for a token without one, such as [CLS], a register or a word. No two tokens have
            the same.
        soft: True if tokens read somewhat beyond their patches.
    """

    grids: tuple[Grid, ...]
    of: tuple[int | None, ...]
    soft: bool = False

    def __post_init__(self) -> None:
        if not 0 < len(self.grids) <= _MOST_GRIDS:
            raise ValueError(f"images have 1 to {_MOST_GRIDS} grids, not {len(self.grids)}")
        if not isinstance(self.soft, bool):
            raise ValueError("soft is True or False")
        places = [place for place in self.of if place is not None]
        count = sum(map(len, self.grids))
        if count > _MOST_PATCHES:
            raise ValueError(f"images have at most {_MOST_PATCHES} patches, not {count}")
        if not all(is_count(place) and place < count for place in places):
            raise ValueError(f"the patches of tokens are numbers from 0 to {count - 1}, or None")
        if not places or len(set(places)) != len(places):
            raise ValueError("some token has a patch, and no two tokens have the same one")

    @property
    def starts(self) -> tuple[int, ...]:
        """The number of each grid's first patch."""
        return tuple(accumulate(map(len, self.grids[:-1]), initial=0))

    def on_grid(self, number: int) -> tuple[int | None, ...]:
        """The patch of each token on one grid, counted from 0; None for all other tokens."""
        start = self.starts[number]
        end = start + len(self.grids[number])
        return tuple(
            place - start if place is not None and start <= place < end else None
            for place in self.of
        )

    def grid_of(self, token: int) -> tuple[Grid, int] | None:
        """The grid of a token and its patch there, counted from 0; None if it has no place."""
        place = self.of[token]
        if place is None:
            return None
        number = bisect_right(self.starts, place) - 1
        return self.grids[number], place - self.starts[number]


def is_count(value: object) -> bool:
    """True for a whole number from 0."""
    return type(value) is int and value >= 0


def is_box(value: object) -> bool:
    """True for four finite numbers."""
    numbers = value if isinstance(value, tuple) and len(value) == 4 else ()
    return bool(numbers) and all(type(n) is float and isfinite(n) for n in numbers)


# In pixels; a picture lies behind patches, and is no copy of the photograph.
LARGEST_SIDE = 512
# A picture of this size takes a tenth of it.
LARGEST_PICTURE = 1 << 20


@dataclass(frozen=True)
class Picture:
    """An image that a model read, small; or the spectrogram of a sound, or of a part of one.

    `Tokens.patches` says where tokens are on it.

    Attributes:
        data: a lossy WebP file, at most 512 pixels wide and high.

    Raises:
        ValueError: `data` is no such file.
    """

    data: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.data, bytes) or len(self.data) > LARGEST_PICTURE:
            raise ValueError(f"a picture is bytes, at most {LARGEST_PICTURE} of them")
        width, height = self.size
        if not (0 < width <= LARGEST_SIDE and 0 < height <= LARGEST_SIDE):
            raise ValueError(
                f"the picture has {width} × {height} pixels; expected at most {LARGEST_SIDE} "
                "on a side"
            )

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        head = self.data[:30]
        # A key frame of VP8 in the simple form of WebP: RFC 6386, section 9.1, and RFC 9649.
        if head[:4] != b"RIFF" or head[8:16] != b"WEBPVP8 " or head[23:26] != b"\x9d\x01\x2a":
            raise ValueError("a picture is a lossy WebP file, without transparency")
        width, height = (
            int.from_bytes(head[at : at + 2], "little") & 0x3FFF if len(head) == 30 else 0
            for at in (26, 28)
        )
        return width, height

    def _repr_html_(self) -> str:
        """The picture itself, in a notebook."""
        encoded = base64.b64encode(self.data).decode()
        return f'<img alt="an image that the model read" src="data:image/webp;base64,{encoded}">'
