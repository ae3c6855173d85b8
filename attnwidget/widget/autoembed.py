"""Automatic embedding of layers in notebooks that are executed without a reader."""

from __future__ import annotations

from typing import Any, Protocol
from weakref import WeakSet

from attnwidget.session import executed_without_reader, ipython

# The most bytes of a widget's layers in a notebook that is executed without a reader.
BUDGET = 8_000_000


class Embeddable(Protocol):
    """A widget that can put its layers into its state; a closed one has no comm."""

    comm: Any

    def embed(self, *, budget: float) -> object: ...


_waiting: WeakSet[Embeddable] = WeakSet()


def embed_after_cell(widget: Embeddable) -> None:
    """Embed the widget's layers at the end of the running cell if the notebook has no reader.

    At the end, the cell has set all choices, and may have called `embed` itself.
    """
    shell = ipython()
    if not executed_without_reader(shell):
        return
    if not _waiting:
        shell.events.register("post_run_cell", _embed)
    _waiting.add(widget)


def do_not_embed(widget: Embeddable) -> None:
    """Do not embed the widget's layers at the end of the cell, because the cell chose them."""
    _waiting.discard(widget)


def _embed(*_: Any) -> None:
    widgets = list(_waiting)
    _waiting.clear()
    ipython().events.unregister("post_run_cell", _embed)
    for widget in widgets:
        if widget.comm is not None:
            widget.embed(budget=BUDGET)
