"""A notebook like Colab's: a kernel, and every output in a sandboxed frame of its own."""

import base64
import itertools
import json
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from queue import Empty
from typing import Any

from ipywidgets.widgets.widget import _put_buffers, _remove_buffers
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import start_new_kernel
from playwright.sync_api import Browser, Route

from tests.browser.view import View
from tests.hosts.cdn import HTML_MANAGER, REQUIRE, answer
from tests.lab.server import environment
from tests.support import PATIENCE_SECONDS, Watch

VIEW = "application/vnd.jupyter.widget-view+json"

# Any address will do, for none is really asked.
NOTEBOOK = "https://colab.test/"
OUTPUT = "https://outputs.test/"
CDN = "https://cdn.jsdelivr.net/npm/anywidget@"

MANAGER = Path(__file__).with_name("colab.js")

# The loader's own check of its own schema.
NOISE = [r"console warning: strict mode: use allowUnionTypes"]

# The frame may run scripts, and has no other rights.
ADD_OUTPUT = """(url) => {
  const frame = document.createElement("iframe");
  frame.sandbox = "allow-scripts";
  frame.src = url;
  frame.style = "display: block; width: 100%; height: 960px; border: 0";
  document.body.append(frame);
}"""

FRAME = f"""<!doctype html>
<style>body {{ margin: 0 }} [theme=dark] {{ color: #e8eaed }}</style>
<body>
<script src="{OUTPUT}require.js"></script>
<script src="{OUTPUT}html-manager.js"></script>
<script src="{OUTPUT}colab.js"></script>
"""


class CellError(Exception):
    """A cell's own traceback."""


class Colab:
    """A notebook with one kernel. What it writes to the widgets is kept for outputs to come."""

    def __init__(self, browser: Browser, kernel: BlockingKernelClient, anywidget: Path) -> None:
        """`anywidget`: its front end, as the CDN has it for the kernel's version."""
        self._kernel = kernel
        self._states: dict[str, dict[str, Any]] = {}
        self._heard: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self._of: dict[str, list[str]] = defaultdict(list)
        self._outputs = itertools.count()
        self._dark = False
        self.context = browser.new_context(viewport={"width": 1200, "height": 1000})
        ours = (NOTEBOOK, OUTPUT, CDN)
        self.watch = Watch(
            self.context, lambda url: url.startswith(("data:", "blob:", *ours)), NOISE
        )
        answer(self.context, {CDN: anywidget})
        self.context.route(f"{OUTPUT}**", self._serve)
        self.context.route(NOTEBOOK, lambda route: route.fulfill(body="<!doctype html>"))
        self.context.expose_function("modelState", self._state)
        self.context.expose_function("kernelSend", self._send)
        self.context.expose_function("kernelHeard", self._hear)
        self.page = self.context.new_page()
        self.page.goto(NOTEBOOK)

    def run(self, code: str) -> list[View]:
        """Run code in the kernel until it is done, and give the views of the widgets shown."""
        shown = [data[VIEW]["model_id"] for data in self._run(code) if VIEW in data]
        return [self._show(model) for model in shown]

    def evaluate(self, expression: str) -> Any:
        """The value of a Python expression in the kernel, by way of JSON."""
        # Printed text comes in any number of messages.
        printed = self._run(f"import json as _json; print(_json.dumps({expression}))")
        return json.loads("".join(message["text"] for message in printed))

    def clear(self, *, dark: bool = False) -> None:
        """Remove all outputs, and show the notebook in this theme."""
        self._dark = dark
        self.page.goto(NOTEBOOK)
        self.page.evaluate(f"document.body.style.background = '{'#111' if dark else '#fff'}'")

    def keep_first(self) -> None:
        """Remove all outputs but the first. Those out of sight would not be drawn."""
        others = "document.querySelectorAll('iframe:nth-of-type(n + 2)')"
        self.page.evaluate(f"{others}.forEach((frame) => frame.remove())")

    def _show(self, model: str) -> View:
        output = f"output-{next(self._outputs)}"
        url = f"{OUTPUT}{output}/{model}"
        self.page.evaluate(ADD_OUTPUT, url)
        return View(self.page.frame_locator(f"iframe[src='{url}']").locator("body"))

    def _run(self, code: str) -> list[dict[str, Any]]:
        """The output of code: displayed data by media type, or printed text as {"text": …}."""
        # Otherwise what is run soon after an error is left out without a word.
        own = self._kernel.execute(code, stop_on_error=False)
        outputs: list[dict[str, Any]] = []
        traceback: list[str] = []
        while True:
            message = self._kernel.get_iopub_msg(timeout=PATIENCE_SECONDS)
            self._take(message)
            if message["parent_header"].get("msg_id") != own:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind in ("display_data", "execute_result"):
                outputs.append(content["data"])
            elif kind == "stream" and content["name"] == "stdout":
                outputs.append(content)
            elif kind == "error":
                traceback = content["traceback"]
            elif kind == "status" and content["execution_state"] == "idle":
                break
        if traceback:
            raise CellError(re.sub(r"\x1b\[[\d;]*m", "", "\n".join(traceback)))
        return outputs

    def _take(self, message: dict[str, Any]) -> None:
        """Keep a message to a widget."""
        content, buffers = message["content"], message["buffers"]
        if message["msg_type"] not in ("comm_open", "comm_msg"):
            return
        comm, data = content["comm_id"], content["data"]
        if state := data.get("state"):
            known = self._states.setdefault(comm, {})
            new = json.loads(json.dumps(state))
            _put_buffers(new, data.get("buffer_paths", []), buffers)
            known |= new
        if message["msg_type"] == "comm_msg":
            said = {"comm": comm, "data": data, "buffers": _texts(buffers)}
            for output, comms in self._of.items():
                if comm in comms:
                    self._heard[output].append(said)

    # The functions that outputs call.

    def _state(self, output: str, comm: str) -> str:
        self._of[output].append(comm)
        state, paths, buffers = _remove_buffers(self._states[comm])
        return json.dumps({"state": state, "paths": paths, "buffers": _texts(buffers)})

    def _send(self, comm: str, data: str) -> None:
        session = self._kernel.session
        content = {"comm_id": comm, "data": json.loads(data)}
        self._kernel.shell_channel.send(session.msg("comm_msg", content))

    def _hear(self, output: str) -> str:
        try:
            while True:
                self._take(self._kernel.get_iopub_msg(timeout=0))
        except Empty:
            return json.dumps(self._heard.pop(output, []))

    def _serve(self, route: Route) -> None:
        files = {"require.js": REQUIRE, "html-manager.js": HTML_MANAGER, "colab.js": MANAGER}
        asked = route.request.url.removeprefix(OUTPUT)
        if asked in files:
            route.fulfill(path=files[asked])
        else:
            theme = ' theme="dark"' if self._dark else ""
            html = FRAME.replace("<body>", f"<body{theme}>")
            route.fulfill(body=html, content_type="text/html")


def _texts(buffers: Sequence[Any]) -> list[str]:
    return [base64.b64encode(buffer).decode() for buffer in buffers]


@contextmanager
def kernel(folder: Path, *packages: Path) -> Iterator[BlockingKernelClient]:
    """A kernel in a folder. Packages in these others come before those installed."""
    path = os.pathsep.join([*map(str, packages), os.environ.get("PYTHONPATH", "")])
    manager, client = start_new_kernel(
        cwd=str(folder), env=environment(folder) | {"PYTHONPATH": path}
    )
    try:
        yield client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
