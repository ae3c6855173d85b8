"""IPython in this process, as a kernel has it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config


class Shell(InteractiveShell):
    """A stand-in for a kernel's shell, with the request of the running cell."""

    request: Any = None

    def get_parent(self) -> Any:
        return self.request


@contextmanager
def running(folder: Path) -> Iterator[Shell]:
    """A shell that keeps what it writes in a folder, and no history."""
    quiet = Config({"HistoryManager": {"enabled": False}})
    yield Shell.instance(config=quiet, ipython_dir=str(folder))
    Shell.clear_instance()
