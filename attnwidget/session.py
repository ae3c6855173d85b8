"""The IPython session that this code runs in, if there is one."""

from __future__ import annotations

import os
import sys
from typing import Any


def ipython() -> Any:
    """IPython's shell, or None."""
    # If IPython is not imported, it is not running.
    module = sys.modules.get("IPython")
    return None if module is None else module.get_ipython()


def read_in_a_notebook(shell: Any) -> bool:
    """True if the running cell's output is in a notebook in front of its reader."""
    return hasattr(shell, "kernel") and _allows_input(shell) is True


def executed_without_reader(shell: Any) -> bool:
    """True if nobody looks at the cell that runs.

    `nbconvert --execute`, papermill, Quarto, Jupyter Book and nbsphinx run cells with nbclient,
    which does not allow input. So does Voila, but its readers have a kernel.
    """
    in_voila = any(name.startswith("VOILA_") for name in os.environ)
    return not in_voila and _allows_input(shell) is False


def _allows_input(shell: Any) -> object:
    """True if the front end allows the running cell to ask for input; None where none runs."""
    get_parent = getattr(shell, "get_parent", None)
    request = None if get_parent is None else get_parent()
    content = request.get("content") if isinstance(request, dict) else None
    return content.get("allow_stdin") if isinstance(content, dict) else None
