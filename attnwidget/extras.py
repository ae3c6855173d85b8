"""Optional packages: an error that says which extra of attnwidget has them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def extra(name: str, needs: str) -> Iterator[None]:
    """Import optional packages within this context.

        with extra("analysis", "a table needs pandas"):
            import pandas as pd

    Raises:
        ModuleNotFoundError: one is not installed; the message says how to install the extra.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = f"'attnwidget[{name}]'"
        raise ModuleNotFoundError(
            f"{needs}, which is not installed: pip install {package} (in a notebook: %pip install "
            f"{package})"
        ) from error
