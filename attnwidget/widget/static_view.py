"""Views that are displayed without a kernel, and the setting that asks for them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, SupportsIndex

from attnwidget.page import check_selection, layer_numbers
from attnwidget.wire.compression import Quality

from .autoembed import BUDGET
from .record_view import RecordView

STATIC_VARIABLE = "ATTNWIDGET_STATIC"


def static_by_default() -> bool:
    """True if views are static unless a call says otherwise.

    Raises:
        ValueError: the environment variable ATTNWIDGET_STATIC is neither 0 nor 1.
    """
    value = os.environ.get(STATIC_VARIABLE, "")
    if value not in ("", "0", "1"):
        raise ValueError(f"{STATIC_VARIABLE} is {value!r}; expected 1 for static views, or 0")
    return value == "1"


class StaticView(RecordView):
    """Five linked views of an AttentionRecord, displayed as `AttentionWidget.static` shows them.

    It has the choices of an AttentionWidget, which hold at the time when it is displayed: a view on
    display neither follows them nor sends what its reader chooses.
    """

    _options: Mapping[str, Any] = {}

    def embed(
        self,
        layers: Iterable[SupportsIndex] | None = None,
        *,
        quality: Quality | None = None,
        budget: float | None = BUDGET,
    ) -> StaticView:
        """Choose the layers in the output, as `AttentionWidget.embed` does for a notebook's state.

        Without it, they are those that 8 MB have room for. `budget` is 8 MB here, too, and None for
        no limit.

        Returns:
            The view, so that `view.embed(...)` can end a cell.

        Raises:
            TypeError, ValueError, IndexError: see `AttentionWidget.embed`.
        """
        chosen = layer_numbers("layers", layers)
        check_selection(self._record, self.stack, chosen, quality, budget)
        self._options = {"layers": chosen, "quality": quality, "budget": budget}
        return self

    def _repr_html_(self) -> str:
        return self.static(**self._options).html
