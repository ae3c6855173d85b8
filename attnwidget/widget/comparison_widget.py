"""ComparisonWidget: two records, and their difference, in the same place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attnwidget.analysis import Comparison, OwnLenses
from attnwidget.record import AttentionRecord
from attnwidget.view_state import ChoiceOptions, View
from attnwidget.view_state.signature import CHOICE_DEFAULTS, with_options
from attnwidget.wire import Metrics, compared_metrics, encode_comparison, joined_record

from .widget import AttentionWidget

if TYPE_CHECKING:
    from typing_extensions import Unpack

_DEFAULTS = {**CHOICE_DEFAULTS, "compared": "difference", "color": "moved"}


class ComparisonWidget(AttentionWidget):
    """The views of two records, and of their difference; `Comparison.widget` makes one.

    `compared` says which is shown: "a", "b", or "difference", b - a. The per-head numbers of
    `Comparison.metrics` are its `metrics`, beside those given.

    Args:
        comparison: the comparison.
        metrics: more of them, by stack: those of b are named "self of B".
        lenses: as of `AttentionWidget`, by stack likewise.
        view, choices: as of `AttentionWidget`.

    Raises:
        ValueError: some heads of a layer have a partner, and others none.
    """

    @with_options(ChoiceOptions, _DEFAULTS)
    def __init__(
        self,
        comparison: Comparison,
        *,
        view: View = "head",
        metrics: Metrics | None = None,
        lenses: OwnLenses | None = None,
        **choices: Unpack[ChoiceOptions],
    ) -> None:
        self._comparison = comparison
        choices.setdefault("compared", "difference")
        choices.setdefault("color", "moved")
        shown = {**compared_metrics(comparison), **({} if metrics is None else metrics)}
        super().__init__(
            joined_record(comparison), view=view, metrics=shown, lenses=lenses, **choices
        )

    @property
    def comparison(self) -> Comparison:
        """The comparison that is shown."""
        return self._comparison

    def _encode_overview(self, record: AttentionRecord) -> tuple[dict[str, Any], bytes]:
        return encode_comparison(self._comparison, record, self._lenses)
