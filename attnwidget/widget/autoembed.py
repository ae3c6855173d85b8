"""Notebooks that are executed with no reader in front of them: their widgets embed by themselves.

`nbconvert --execute`, papermill, Quarto, Jupyter Book and nbsphinx all run cells as nbclient does,
without anyone who could answer a question. Voila runs them so, too, but its readers have a kernel.
"""

from __future__ import annotations

import os
import sys
from typing import Any
from weakref import WeakSet

from attnwidget.widget import AttentionWidget

from .embedding import BUDGET, embed

_waiting: WeakSet[AttentionWidget] = WeakSet()


def embed_after_cell(widget: AttentionWidget) -> None:
    """Embed the widget's layers when the cell that runs has ended, if nobody will ask for them.

    By then the widget is as its cell has made it, and `embed` may have been called.
    """
    shell = _unattended_shell()
    if shell is None:
        return
    if not _waiting:
        shell.events.register("post_run_cell", _embed)
    _waiting.add(widget)


def embedded_by_hand(widget: AttentionWidget) -> None:
    """Whoever calls `embed` has chosen."""
    _waiting.discard(widget)


def _embed(*_: Any) -> None:
    widgets = list(_waiting)
    _waiting.clear()
    _ipython().events.unregister("post_run_cell", _embed)
    for widget in widgets:
        if widget.comm is not None:
            embed(widget, budget=BUDGET)


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
