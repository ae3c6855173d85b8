"""A Voila server and the small app that it shows: the view, and widgets that talk to it."""

import json
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import attnwidget as aw
from tests.hosts.hostile_texts import LOAD_HOSTILE, save_hostile
from tests.hosts.shown import LOAD
from tests.lab.server import notebook, running

# A reader of Voila has no cells: what Python knows of a choice is said by another widget, and what
# Python sets is set by a button.
APP = [
    LOAD
    + """
import ipywidgets

w = aw.show(record)
known = ipywidgets.Label("nothing is chosen")
go = ipywidgets.Button(description="Go to layer 3")

def tell(change):
    known.value = f"{w.view} {w.layer}.{w.head} {w.selection.query_token} {w.selection.key_token}"

def choose(button):
    w.layer, w.head, w.query, w.key = 3, 6, 4, None

w.observe(tell)
go.on_click(choose)
""",
    "w",
    "ipywidgets.VBox([known, go, ipywidgets.Label(f'{len(w._blocks)} layers are embedded')])",
    "aw.show(record, view='model')",
    LOAD_HOSTILE + "; aw.show(hostile)",
]

# Network requests of Voila's own page: icons. Answered with nothing.
ICONS = "https://cdn.jsdelivr.net/npm/@fortawesome/fontawesome-free@"

# Messages of Voila itself, with any notebook.
NOISE = [
    # It is built of an older JupyterLab than the extensions that are installed beside it.
    r"^console warning: Unsatisfied version [\d.]+ from _JUPYTERLAB\.CORE_OUTPUT of shared ",
    r"^console warning: No satisfying version \S+ of shared module @jupyterlab/",
    r"^console warning: \[ Federation Runtime \] Version [\d.]+ from _JUPYTERLAB\.CORE_OUTPUT ",
    # Notebook 7's extensions are too new for it.
    r"^console warning: Failed to create module: package: @jupyter-notebook/lab-extension;",
    r"^console error: Error: The getter for the shared module is not a function\.[^\0]*"
    r"/@jupyter-notebook/lab-extension/static/remoteEntry\.",
    # A page that is left asks for the end of its kernel, and is refused.
    r"^console error: Failed to load resource: .* 403 \(Forbidden\) \S+/voila/api/shutdown/",
]


@contextmanager
def serve_voila(
    folder: Path, record: aw.AttentionRecord, cells: Sequence[str] = APP
) -> Iterator[str]:
    """The address of the app; every visit runs it in a kernel of its own."""
    root = folder / "root"
    root.mkdir()
    record.save(root / "record.safetensors")
    save_hostile(root)
    (root / "app.ipynb").write_text(json.dumps(notebook(*cells)))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}/"
    command = [
        *(sys.executable, "-m", "voila", str(root / "app.ipynb")),
        "--no-browser",
        "--Voila.ip=127.0.0.1",
        f"--port={port}",
        "--Voila.port_retries=0",
    ]

    def listening() -> str | None:
        try:
            # Any other page of it would start a kernel.
            urlopen(f"{url}voila/static/", timeout=5).close()
        except HTTPError:
            return url
        except OSError:  # not listening yet, or too busy
            return None
        return url

    with running(command, folder, listening) as address:
        yield address
