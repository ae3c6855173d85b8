"""Widgets embed their layers by themselves in notebooks that are executed without a reader.

`nbconvert --execute`, papermill, Quarto, Jupyter Book and nbsphinx all run cells as nbclient does,
without anyone who could answer a question. Voila runs them so, too, but its readers have a kernel.
"""

from __future__ import annotations

import os
import sys
from typing import Any, Protocol
from weakref import WeakSet

# Bytes of a widget's layers in a notebook that is executed without a reader.
BUDGET = 8_000_000


class Embeddable(Protocol):
    """A widget that can put its layers into its state; without a comm, it is closed."""

    comm: Any

    def embed(self, *, budget: float) -> object: ...


_waiting: WeakSet[Embeddable] = WeakSet()


def embed_after_cell(widget: Embeddable) -> None:
    """Embed the widget's layers when the cell that runs has ended, if nobody will ask for them.

    By then the widget is as its cell has made it, and `embed` may have been called.
    """
    shell = _unattended_shell()
    if shell is None:
        return
    if not _waiting:
        shell.events.register("post_run_cell", _embed)
    _waiting.add(widget)


def do_not_embed(widget: Embeddable) -> None:
    """Leave the widget as it is when the cell ends, because its layers were chosen by hand."""
    _waiting.discard(widget)


def _embed(*_: Any) -> None:
    widgets = list(_waiting)
    _waiting.clear()
    _ipython().events.unregister("post_run_cell", _embed)
    for widget in widgets:
        if widget.comm is not None:
            widget.embed(budget=BUDGET)


def _unattended_shell() -> Any:
    """IPython's shell while it runs a cell that nobody looks at, else None."""
    shell = _ipython()
    get_parent = getattr(shell, "get_parent", None)
    if get_parent is None or any(name.startswith("VOILA_") for name in os.environ):
        return None
    request = get_parent()
    content = request.get("content") if isinstance(request, dict) else None
    asked = content.get("allow_stdin") if isinstance(content, dict) else None
    return shell if asked is False else None


def _ipython() -> Any:
    # Where it is not loaded, it does not run.
    module = sys.modules.get("IPython")
    return None if module is None else module.get_ipython()
