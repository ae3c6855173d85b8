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


def executed_without_reader(shell: Any) -> bool:
    """True if nobody looks at the cell that runs.

    `nbconvert --execute`, papermill, Quarto, Jupyter Book and nbsphinx run cells with nbclient,
    which does not allow input. So does Voila, but its readers have a kernel.
    """
    get_parent = getattr(shell, "get_parent", None)
    if get_parent is None or any(name.startswith("VOILA_") for name in os.environ):
        return False
    request = get_parent()
    content = request.get("content") if isinstance(request, dict) else None
    allows_input = content.get("allow_stdin") if isinstance(content, dict) else None
    return allows_input is False
