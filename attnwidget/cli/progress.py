"""Progress bars of one command."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from attnwidget.progress import on_step, progress_bar


class Progress:
    """The progress bars of one command, shown on a terminal only and removed at their end."""

    def __init__(self, *, shown: bool) -> None:
        self.visible = shown and sys.stderr.isatty()

    @contextmanager
    def bar(self, name: str, unit: str, total: int | None = None) -> Iterator[None]:
        """Count the steps within this context; `total` is None if unknown."""
        with progress_bar(name, unit, total) if self.visible else on_step(lambda: None):
            yield
