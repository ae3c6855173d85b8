"""Automatic embedding of layers in notebooks that are executed without a reader.

`nbconvert --execute`, papermill, Quarto, Jupyter Book and nbsphinx run cells with nbclient, which
does not allow input. So does Voila, but its readers have a kernel.
"""

from __future__ import annotations

import os
import sys
from typing import Any, Protocol
from weakref import WeakSet

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
    shell = _shell_without_reader()
    if shell is None:
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
    _ipython().events.unregister("post_run_cell", _embed)
    for widget in widgets:
        if widget.comm is not None:
            widget.embed(budget=BUDGET)


def _shell_without_reader() -> Any:
    """IPython's shell if it runs a cell without a reader, else None."""
    shell = _ipython()
    get_parent = getattr(shell, "get_parent", None)
    if get_parent is None or any(name.startswith("VOILA_") for name in os.environ):
        return None
    request = get_parent()
    content = request.get("content") if isinstance(request, dict) else None
    allows_input = content.get("allow_stdin") if isinstance(content, dict) else None
    return shell if allows_input is False else None


def _ipython() -> Any:
    # If IPython is not imported, it is not running.
    module = sys.modules.get("IPython")
    return None if module is None else module.get_ipython()
