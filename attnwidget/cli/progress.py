"""Progress bars on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tqdm import tqdm

from attnwidget.progress import on_step


class Progress:
    """The progress bars of one command, shown on a terminal only and removed at their end."""

    def __init__(self, *, shown: bool) -> None:
        self.visible = shown and sys.stderr.isatty()

    @contextmanager
    def counted(self, name: str, unit: str, total: int | None = None) -> Iterator[None]:
        """Count the steps within this context; `total` is None if unknown."""
        with (
            tqdm(
                desc=name,
                total=total,
                unit=f" {unit}",
                file=sys.stderr,
                leave=False,
                disable=not self.visible,
            ) as bar,
            on_step(bar.update),
        ):
            yield
