"""The notebook magic %attnwidget."""

from __future__ import annotations

import os
from typing import Any

from attnwidget.widget import STATIC_VARIABLE

_SETTINGS = {"static": "1", "live": "0"}


def load_ipython_extension(shell: Any) -> None:
    """Register the magic, for `%load_ext attnwidget`."""
    shell.register_magic_function(attnwidget, "line")


def attnwidget(line: str) -> None:
    """Choose how this notebook displays views from here on.

    %attnwidget static    as frames that need no kernel, widget manager or network
    %attnwidget live      as widgets (the default)
    """
    setting = line.strip()
    if setting not in _SETTINGS:
        # IPython shows this error without a traceback.
        from IPython.core.error import UsageError

        raise UsageError(f"%attnwidget {setting}: expected %attnwidget static or %attnwidget live")
    os.environ[STATIC_VARIABLE] = _SETTINGS[setting]
