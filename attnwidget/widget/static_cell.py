"""The output of a cell that needs no kernel, widget manager or network."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, SupportsIndex

from attnwidget.page import ShownRecord, frame_html, layers_within, numbers_within
from attnwidget.wire import partner_stacks
from attnwidget.wire.compression import Quality


@dataclass(frozen=True)
class StaticCell:
    """A view as the output of a cell that needs no kernel, widget manager or network.

    Attributes:
        html: a sandboxed frame with the view, for any page of HTML.
    """

    html: str

    def __repr__(self) -> str:
        return f"StaticCell({len(self.html):,} characters of HTML)"

    def _repr_html_(self) -> str:
        return self.html


def static_cell(
    shown: ShownRecord,
    height: int | Literal["auto"],
    *,
    layers: Iterable[SupportsIndex] | None,
    quality: Quality | None,
    budget: float | None,
) -> StaticCell:
    """See `RecordView.static`."""
    if height != "auto" and (type(height) is not int or height < 1):
        raise ValueError(f'height is {height!r}; expected "auto" or pixels, as 600')
    packed, note = layers_within(
        shown.record,
        shown.choices["stack"],
        shown.choices["layer"],
        lenses=shown.lenses,
        layers=layers,
        quality=quality,
        budget=budget,
        method="static",
        partners=partner_stacks(shown.manifest),
    )
    numbers = numbers_within(
        shown.record, shown.lenses, shown.choices["lens"], packed, budget, "static"
    )
    pixels = None if height == "auto" else height
    return StaticCell(frame_html(shown, packed, numbers, note, pixels))
