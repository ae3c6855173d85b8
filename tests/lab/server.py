"""Jupyter's servers, each with settings, notebooks and kernels of its own."""

import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tests.support import PATIENCE_SECONDS

# A server that still has not ended by itself is killed, which harms no test: JupyterLab sometimes
# waits for a page that is open.
GRACE_SECONDS = 10

# Requests that would go to other servers, and saving unasked, every two minutes: a busy test may be
# just loading the file again, or may not have its widgets yet, whose state would be lost.
QUIET = {
    "@jupyterlab/apputils-extension:notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
    },
    "@jupyterlab/docmanager-extension:plugin": {"autosave": False},
}


@dataclass(frozen=True)
class Server:
    url: str
    """Ends with a slash."""
    root: Path
    """The folder that is served."""
    token: str

    def address(self, page: str) -> str:
        return f"{self.url}{page}?token={self.token}"


def notebook(*sources: str) -> dict[str, Any]:
    """A notebook with these code cells, not yet run."""
    cell = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    return {
        "cells": [cell | {"id": f"cell-{n}", "source": text} for n, text in enumerate(sources)],
        "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def environment(folder: Path) -> dict[str, str]:
    """The environment of a Jupyter program, apart from the user's settings and signatures."""
    return os.environ | {
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_DATA_DIR": str(folder / "data"),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "IPYTHONDIR": str(folder / "ipython"),
    }


@contextmanager
def serve(
    folder: Path,
    app: Literal["jupyterlab", "notebook"],
    settings: Mapping[str, Mapping[str, Any]] | None = None,
) -> Iterator[Server]:
    """JupyterLab or Notebook 7 with an empty notebook, test.ipynb.

    Args:
        settings: of its front end, by plugin, instead of the defaults.
    """
    root = folder / "root"
    root.mkdir()
    (root / "test.ipynb").write_text(json.dumps(notebook()))
    overrides = folder / "config" / "labconfig" / "default_setting_overrides.json"
    overrides.parent.mkdir(parents=True)
    overrides.write_text(json.dumps(QUIET | dict(settings or {})))

    token = secrets.token_hex(16)
    command = [
        *(sys.executable, "-m", app),
        "--no-browser",
        "--allow-root",
        "--expose-app-in-browser",
        "--ServerApp.ip=127.0.0.1",
        "--ServerApp.port=0",
        f"--ServerApp.root_dir={root}",
        f"--IdentityProvider.token={token}",
    ]

    def address() -> str | None:
        """The server's address, which it writes to a file when it listens."""
        for info in (folder / "runtime").glob("jpserver-*.json"):
            try:
                return str(json.loads(info.read_text())["url"])
            except json.JSONDecodeError:
                pass  # still being written
        return None

    with running(command, folder, address) as url:
        yield Server(url, root, token)


@contextmanager
def running(command: list[str], folder: Path, address: Callable[[], str | None]) -> Iterator[str]:
    """Start a server, and give its address as soon as there is one."""
    log = folder / "server.log"
    with log.open("w") as stderr:
        server = subprocess.Popen(
            command,
            cwd=folder,
            env=environment(folder),
            stdin=subprocess.DEVNULL,
            stdout=stderr,
            stderr=stderr,
        )
    try:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while (url := address()) is None:
            if server.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"The server did not start:\n{log.read_text()[-4000:]}")
            time.sleep(0.1)
        yield url
    finally:
        server.terminate()
        try:
            server.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
