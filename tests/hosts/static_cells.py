"""Programs that show the HTML of static cells, each with the same three of them."""

import json
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path

from playwright.sync_api import Locator, Page

import attnwidget as aw
from tests.browser.view import View
from tests.hosts import marimo
from tests.hosts.hostile_texts import LOAD_HOSTILE, save_hostile
from tests.hosts.shown import LOAD
from tests.hosts.voila import serve_voila
from tests.lab.server import environment, notebook, running
from tests.support import PATIENCE_SECONDS

SHOWN = ["aw.show(record)", "aw.show(record, view='model')", "aw.show(hostile)"]

CELLS = [f"{LOAD}\n{LOAD_HOSTILE}\n%load_ext attnwidget\n%attnwidget static", *SHOWN]

# A page of Python's own, for hosts that are programs rather than notebooks.
PREPARE = f"{LOAD}\n{LOAD_HOSTILE}\nframes = [view.static().html for view in ({', '.join(SHOWN)})]"

STREAMLIT = f"""
{PREPARE}
import streamlit.components.v1 as components

for frame in frames:
    components.html(frame, height=1000)
"""

GRADIO = f"""
{PREPARE}
import sys
import gradio

with gradio.Blocks(analytics_enabled=False) as app:
    for frame in frames:
        gradio.HTML(frame)
app.launch(server_name="127.0.0.1", server_port=int(sys.argv[1]), quiet=True)
"""

FLASK = f"""
{PREPARE}
import sys
import flask

app = flask.Flask(__name__)
app.route("/")(lambda: "<!doctype html><title>Mine</title>" + "".join(frames))
app.run(host="127.0.0.1", port=int(sys.argv[1]))
"""

MARIMO = f"""
import marimo

app = marimo.App(width="full")

with app.setup:
    import os
    os.environ["ATTNWIDGET_STATIC"] = "1"
    import attnwidget as aw
    record = aw.AttentionRecord.load("record.safetensors")
    {LOAD_HOSTILE}

@app.cell
def _():
    aw.show(record)
    return

@app.cell
def _():
    aw.show(record, view="model")
    return

@app.cell
def _():
    aw.show(hostile)
    return

if __name__ == "__main__":
    app.run()
"""

# The way that VS Code's renderer puts HTML into its page, and the policy of that page, for
# frames without an address too.
VS_CODE = """<!doctype html>
<html><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="
default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline';
img-src https: http: data:; font-src https: data:; connect-src https:; child-src https: data: blob:
"></head><body><main></main><script type="application/json">{outputs}</script><script>
const outputs = JSON.parse(document.querySelector("[type='application/json']").textContent);
for (const output of outputs) {{
  const element = document.createElement("div");
  element.innerHTML = output;
  document.querySelector("main").append(element);
}}
</script></body></html>"""

ROOT = Path(__file__).parents[2]

Host = Callable[[Path], AbstractContextManager[str]]
"""Shows the cells of a folder's notebook, and gives the address of the page."""


def write(folder: Path, record: aw.AttentionRecord) -> None:
    """A notebook and the records that it shows; then it is run, and saved with its outputs."""
    record.save(folder / "record.safetensors")
    save_hostile(folder)
    (folder / "notebook.ipynb").write_text(json.dumps(notebook(*CELLS)))
    call(folder, "nbconvert", "--to", "notebook", "--execute", "--inplace", "notebook.ipynb")


def call(folder: Path, *command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        env=environment(folder) | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def outputs(folder: Path) -> list[str]:
    """The HTML of the notebook's cells."""
    cells = json.loads((folder / "notebook.ipynb").read_text())["cells"]
    return ["".join(each["data"]["text/html"]) for cell in cells for each in cell["outputs"]]


def frames(page: Page) -> list[Locator]:
    """The frames of the three cells."""
    # A host may put every cell into a frame of its own.
    found = [frame.locator("iframe[data-attnwidget]") for frame in page.frames]
    cells = [frames.nth(place) for frames in found for place in range(frames.count())]
    assert len(cells) == len(SHOWN)
    return cells


def view(page: Page, number: int) -> View:
    frame = frames(page)[number]
    frame.scroll_into_view_if_needed()
    return View(frame.content_frame.locator("main"))


@contextmanager
def converted(template: str, folder: Path) -> Iterator[str]:
    name = f"{template}.html"
    options = ("--to", "html", "--template", template, "--output", name)
    call(folder, "nbconvert", *options, "notebook.ipynb")
    yield (folder / name).as_uri()


@contextmanager
def sphinx(extension: str, folder: Path) -> Iterator[str]:
    source = folder / extension
    source.mkdir()
    (source / "index.ipynb").write_text((folder / "notebook.ipynb").read_text())
    (source / "conf.py").write_text(
        f"extensions = [{extension!r}]\nnb_execution_mode = 'off'\nnbsphinx_execute = 'never'\n"
    )
    call(source, "sphinx", "--quiet", ".", "pages")
    yield (source / "pages" / "index.html").as_uri()


@contextmanager
def vs_code(folder: Path) -> Iterator[str]:
    page = folder / "vscode.html"
    listed = json.dumps(outputs(folder)).replace("<", "\\u003c")
    page.write_text(VS_CODE.format(outputs=listed))
    yield page.as_uri()


@contextmanager
def voila(folder: Path) -> Iterator[str]:
    below = folder / "voila"
    below.mkdir()
    record = aw.AttentionRecord.load(folder / "record.safetensors")
    with serve_voila(below, record, CELLS) as url:
        yield url


@contextmanager
def marimo_app(folder: Path) -> Iterator[str]:
    below = folder / "marimo-app"
    below.mkdir()
    marimo.write_notebook(below, aw.AttentionRecord.load(folder / "record.safetensors"), MARIMO)
    with marimo.serve_marimo(below, "run") as url:
        yield url


@contextmanager
def program(name: str, source: str, folder: Path) -> Iterator[str]:
    """A program that takes its port as an argument."""
    path = folder / f"{name}_app.py"
    path.write_text(source)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, str(path), str(port)]
    if name == "streamlit":
        command = [
            *(sys.executable, "-m", "streamlit", "run", str(path), f"--server.port={port}"),
            "--server.address=127.0.0.1",
            "--server.headless=true",
            "--browser.gatherUsageStats=false",
        ]

    def listening() -> str | None:
        with socket.socket() as probe:
            return None if probe.connect_ex(("127.0.0.1", port)) else f"http://127.0.0.1:{port}/"

    with running(command, folder, listening) as url:
        yield url


HOSTS: dict[str, Host] = {
    "nbconvert-lab": partial(converted, "lab"),
    "nbconvert-classic": partial(converted, "classic"),
    "MyST-NB": partial(sphinx, "myst_nb"),
    "nbsphinx": partial(sphinx, "nbsphinx"),
    "Voila": voila,
    "VS-Code": vs_code,
    "marimo": marimo_app,
    "Streamlit": partial(program, "streamlit", STREAMLIT),
    "Gradio": partial(program, "gradio", GRADIO),
    "Flask": partial(program, "flask", FLASK),
}
