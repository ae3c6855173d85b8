"""marimo's server and its exported pages, and the notebook that both show."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import marimo
from playwright.sync_api import Locator, Page

import attnwidget as aw
from tests.browser.view import View
from tests.hosts.hostile_texts import LOAD_HOSTILE, save_hostile
from tests.lab.server import environment, running
from tests.support import PATIENCE_SECONDS

# Readers of an app see no code: what Python knows of a choice is said in words, and what Python
# sets is set by a button.
NOTEBOOK = f"""
import marimo

app = marimo.App(width="full")

with app.setup:
    import attnwidget as aw
    import marimo as mo
    record = aw.AttentionRecord.load("record.safetensors")
    {LOAD_HOSTILE}

@app.cell
def _():
    view = mo.ui.anywidget(aw.show(record))
    view
    return (view,)

@app.cell
def _(view):
    where = [view.value[name] for name in ("view", "layer", "head", "query")]
    mo.md(f"known: {{where}} {{view.selection.query_token}}")
    return

@app.cell
def _():
    go = mo.ui.run_button(label="Go to layer 3")
    go
    return (go,)

@app.cell
def _(go, view):
    if go.value:
        view.layer, view.query = 3, 4
    return

@app.cell
def _():
    aw.show(record, view="model").embed()
    return

@app.cell
def _():
    aw.show(hostile).embed()
    return

if __name__ == "__main__":
    app.run()
"""

# The reader's own settings: marimo is light or dark as the system is, and runs what it opens.
SETTINGS = """
[display]
theme = "system"

[runtime]
auto_instantiate = true
"""

# Files that a page exported by marimo loads from the network, which are in its package too.
NETWORK = {
    f"https://cdn.jsdelivr.net/npm/@marimo-team/frontend@{marimo.__version__}/dist/": (
        Path(marimo.__file__).parent / "_static"
    )
}

# Marimo's own, whatever its notebook holds: it asks for pictures before it needs them.
NOISE = [r"^console warning: The resource \S+ was preloaded using link preload but not used "]


def write_notebook(folder: Path, record: aw.AttentionRecord, source: str = NOTEBOOK) -> None:
    record.save(folder / "record.safetensors")
    save_hostile(folder)
    (folder / "notebook.py").write_text(source)
    settings = folder / "marimo" / "marimo.toml"
    settings.parent.mkdir()
    settings.write_text(SETTINGS)


def command(folder: Path, *arguments: str) -> list[str]:
    start = ["env", f"XDG_CONFIG_HOME={folder}", sys.executable, "-m", "marimo", "--yes"]
    return [*start, *arguments]


@contextmanager
def serve_marimo(folder: Path, mode: Literal["run", "edit"]) -> Iterator[str]:
    """The notebook of a folder as an app ("run"), or with its cells ("edit")."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    def address() -> str | None:
        with socket.socket() as probe:
            return None if probe.connect_ex(("127.0.0.1", port)) else f"http://127.0.0.1:{port}/"

    quiet = ["--skip-update-check"] if mode == "edit" else []
    own = [mode, "notebook.py", "--headless", "--no-token", f"--port={port}", *quiet]
    with running(command(folder, *own), folder, address) as url:
        yield url


def export(folder: Path) -> Path:
    """The notebook of a folder as marimo exports it, without a server."""
    own = ["export", "html", "notebook.py", "-o", "page.html", "--no-include-code"]
    done = subprocess.run(
        command(folder, *own),
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    return folder / "page.html"


def hosts(page: Page) -> Locator:
    """The place of every view on a page."""
    return page.locator("[data-lm-suppress-shortcuts]")


def view(page: Page, n: int) -> View:
    return View(hosts(page).nth(n))
