"""A real JupyterLab with one notebook, driven through its own commands."""

import json
import os
import re
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Locator

from tests.support import Watch

NOTEBOOK = "test.ipynb"
START_SECONDS = 60

# Of JupyterLab itself, whatever a notebook does.
NOISE = [
    # Its splash screen is taken down twice when a theme is loaded while the page still starts.
    r"'removeChild' on 'Node'.*\n\s+at \S+/static/lab/jlab_core\.\S+$",
]

# A notebook opened by its address gets a kernel by itself, but a cell run before that asks for one.
OPENED = """() => {
  const panel = window.jupyterapp?.shell.currentWidget;
  return panel?.context?.isReady && panel.sessionContext.isReady
    && panel.sessionContext.session?.kernel?.connectionStatus === "connected"
    && !document.querySelector("#jupyterlab-splash");
}"""

# Runs the cell with this id, or a new last one with this code. JupyterLab's command ends when the
# kernel has answered and is idle again. Marks the cell's node, so that a locator finds it.
RUN = """async ({ id, code, seconds }) => {
  const { commands, shell } = window.jupyterapp;
  const notebook = shell.currentWidget.content;
  if (code !== null) {
    notebook.activeCellIndex = notebook.widgets.length - 1;
    await commands.execute("notebook:insert-cell-below");
    notebook.activeCell.model.sharedModel.setSource(code);
  } else {
    notebook.activeCellIndex = notebook.widgets.findIndex((cell) => cell.model.id === id);
  }
  const cell = notebook.activeCell;
  cell.node.dataset.testCell = cell.model.id;
  const late = setTimeout(() => {
    shell.currentWidget.sessionContext.session.kernel.interrupt();
  }, seconds * 1000);
  await commands.execute("notebook:run-cell");
  clearTimeout(late);
  return { id: cell.model.id, outputs: cell.model.outputs.toJSON() };
}"""

CLEAR_AND_SAVE = """async () => {
  const { commands, shell } = window.jupyterapp;
  await commands.execute("notebook:select-all");
  await commands.execute("notebook:delete-cell");
  await shell.currentWidget.context.save();
}"""


class CellError(Exception):
    """A cell's own traceback."""


@dataclass(frozen=True)
class Cell:
    id: str
    output: Locator
    """The cell's output area."""

    def text(self) -> str:
        return self.output.inner_text()


class Lab:
    """Cells are only ever added at the end; the kernel stays the same for the whole test run."""

    def __init__(self, browser: Browser, url: str) -> None:
        server = urlsplit(url).netloc
        self.context = browser.new_context(viewport={"width": 1400, "height": 1000})
        self.watch = Watch(
            self.context,
            lambda url: url.startswith(("data:", "blob:")) or urlsplit(url).netloc == server,
            NOISE,
        )
        self.page = self.context.new_page()
        self.page.goto(url)
        self.page.wait_for_function(OPENED, timeout=START_SECONDS * 1000)

    @property
    def errors(self) -> list[str]:
        """What the page logged as errors and warnings since the test began."""
        return self.watch.errors

    def run(self, code: str, *, seconds: float = 60) -> Cell:
        """Run code in a new cell at the end and wait until the kernel is idle again."""
        return self._run(None, code, seconds)[0]

    def rerun(self, cell: Cell, *, seconds: float = 60) -> Cell:
        return self._run(cell.id, None, seconds)[0]

    def evaluate(self, expression: str) -> Any:
        """The value of a Python expression in the kernel, by way of JSON."""
        _, outputs = self._run(None, f"import json as _json; print(_json.dumps({expression}))", 60)
        printed = "".join(out["text"] for out in outputs if out.get("name") == "stdout")
        return json.loads(printed.splitlines()[-1])

    def set_theme(self, theme: Literal["dark", "light"]) -> None:
        self.page.evaluate(
            "theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })",
            f"JupyterLab {theme.capitalize()}",
        )
        light = str(theme == "light").lower()
        self.page.wait_for_selector(f"body[data-jp-theme-light={light}]", state="attached")

    def fresh_page(self) -> None:
        """Reload with an empty notebook: the page has seen no widget, the kernel is the same.

        Every widget is closed, for JupyterLab would make those that live again on its own.
        """
        self.run("import ipywidgets as _ipywidgets; _ipywidgets.Widget.close_all()")
        self.page.evaluate(CLEAR_AND_SAVE)
        self.page.reload()
        self.page.wait_for_function(OPENED, timeout=START_SECONDS * 1000)

    def _run(
        self, id_: str | None, code: str | None, seconds: float
    ) -> tuple[Cell, list[dict[str, Any]]]:
        done = self.page.evaluate(RUN, {"id": id_, "code": code, "seconds": seconds})
        for output in done["outputs"]:
            if output["output_type"] == "error":
                raise CellError(re.sub(r"\x1b\[[\d;]*m", "", "\n".join(output["traceback"])))
        node = self.page.locator(f'[data-test-cell="{done["id"]}"]')
        return Cell(done["id"], node.locator(".jp-Cell-outputArea")), done["outputs"]


@contextmanager
def serve(folder: Path) -> Iterator[str]:
    """Run a server that leaves the user's own settings alone, and give the notebook's address."""
    runtime, root, config = folder / "runtime", folder / "root", folder / "config"
    root.mkdir()
    notebook = {
        "cells": [],
        "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    (root / NOTEBOOK).write_text(json.dumps(notebook))
    overrides = config / "labconfig" / "default_setting_overrides.json"
    overrides.parent.mkdir(parents=True)
    # Both would be asked of servers elsewhere.
    quiet = {"fetchNews": "false", "checkForUpdates": False}
    overrides.write_text(json.dumps({"@jupyterlab/apputils-extension:notification": quiet}))

    token = secrets.token_hex(16)
    command = [
        *(sys.executable, "-m", "jupyterlab"),
        "--no-browser",
        "--allow-root",
        "--LabApp.expose_app_in_browser=True",
        "--ServerApp.ip=127.0.0.1",
        "--ServerApp.port=0",
        f"--ServerApp.root_dir={root}",
        f"--IdentityProvider.token={token}",
    ]
    environment = os.environ | {
        "JUPYTER_CONFIG_DIR": str(config),
        "JUPYTER_DATA_DIR": str(folder / "data"),
        "JUPYTER_RUNTIME_DIR": str(runtime),
        "IPYTHONDIR": str(folder / "ipython"),
    }
    log = folder / "server.log"
    with log.open("w") as stderr:
        server = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=stderr, stderr=stderr
        )
    try:
        yield f"{_address(server, runtime, log)}lab/tree/{NOTEBOOK}?token={token}"
    finally:
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()


def _address(server: subprocess.Popen[bytes], runtime: Path, log: Path) -> str:
    """Where the server listens, which it writes down when it does."""
    deadline = time.monotonic() + START_SECONDS
    while server.poll() is None and time.monotonic() < deadline:
        for info in runtime.glob("jpserver-*.json"):
            try:
                return str(json.loads(info.read_text())["url"])
            except json.JSONDecodeError:
                pass  # It is being written at this moment.
        time.sleep(0.1)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text()[-4000:]}")
