"""A figure as a file, and as what a notebook displays."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import PurePath
from typing import Literal, get_args

from .draw import SHARPNESS

FigureKind = Literal["svg", "pdf", "png"]
KINDS: tuple[FigureKind, ...] = get_args(FigureKind)

# Pixels of its width and height, 32 bits each, follow the names of file and chunk.
_SIZE = slice(16, 24)


@dataclass(frozen=True, repr=False)
class Figure:
    """A picture of print quality that a notebook displays, at the size that it has in CSS pixels.

    Attributes:
        png: the file.
    """

    png: bytes

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        width, height = struct.unpack(">II", self.png[_SIZE])
        sizes = {"width": width, "height": height}
        return self.png, {name: round(n / SHARPNESS["print"]) for name, n in sizes.items()}

    def __repr__(self) -> str:
        width, height = struct.unpack(">II", self.png[_SIZE])
        return f"<Figure of {width} x {height} pixels>"


def kind_of(path: str | PathLike[str]) -> FigureKind:
    """What a file of this name holds.

    Raises:
        ValueError: no figure ends so.
    """
    suffix = PurePath(fspath(path)).suffix.lower()
    for kind in KINDS:
        if suffix == f".{kind}":
            return kind
    there = ", ".join(f".{kind}" for kind in KINDS)
    raise ValueError(f"a figure's name ends in one of {there}, and not in {suffix or 'nothing'!r}")
