"""The image that a model read, as readers see it."""

from __future__ import annotations

import base64
from dataclasses import dataclass

# In pixels; a picture lies behind patches, and is no copy of the photograph.
LARGEST_SIDE = 512
# A picture of this size takes a tenth of it.
LARGEST_PICTURE = 1 << 20


@dataclass(frozen=True)
class Picture:
    """The image that a model read: the part of it that the patches cover, small.

    The labels of tokens say where they are on it: see `Tokens.patches`.

    Attributes:
        data: a lossy WebP file, at most 512 pixels wide and high.

    Raises:
        ValueError: `data` is no such file.
    """

    data: bytes

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
        return f'<img alt="the image that the model read" src="data:image/webp;base64,{encoded}">'
