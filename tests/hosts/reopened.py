"""Notebooks as JupyterLab saved them, in the four ways in which a reader may get one."""

import copy
import json
import subprocess
import sys
from typing import Any

from playwright.sync_api import Browser

import attnwidget as aw
from tests.hosts.hostile_texts import LOAD_HOSTILE, save_hostile
from tests.hosts.shown import LOAD
from tests.lab.lab import MODEL_LESS, NOISE, Lab
from tests.lab.server import Server, environment

# JupyterLab saves the state of widgets only where a reader has asked it to, in its settings menu.
SAVE_STATE = {"@jupyter-widgets/jupyterlab-manager:plugin": {"saveState": True}}

CELLS = [
    "embedded = aw.show(record).embed(); embedded",
    "bare = aw.show(record); bare",
    "aw.show(record, view='neuron').embed([0])",
    LOAD_HOSTILE + "; aw.show(hostile).embed()",
    "aw.show(record, static=True)",
    "aw.show(hostile, static=True)",
]


def write_notebooks(browser: Browser, server: Server, record: aw.AttentionRecord) -> None:
    """Run and save a notebook, and put four copies of it beside it.

    trusted.ipynb and untrusted.ipynb have the widgets' state, trusted-bare.ipynb and
    untrusted-bare.ipynb do not.
    """
    record.save(server.root / "record.safetensors")
    save_hostile(server.root)
    lab = Lab(browser, server.address("lab/tree/test.ipynb"))
    lab.run(LOAD)
    for code in CELLS:
        lab.run(code)
    lab.run("embedded.layer = 3; embedded.head = 6")
    lab.save()
    lab.context.close()
    saved = json.loads((server.root / "test.ipynb").read_text())
    bare = copy.deepcopy(saved)
    del bare["metadata"]["widgets"]
    _write(server, "trusted", saved)
    _write(server, "trusted-bare", bare)
    for name in ("trusted", "trusted-bare"):
        command = [sys.executable, "-m", "nbformat.sign", f"{name}.ipynb"]
        subprocess.run(command, cwd=server.root, env=environment(server.root.parent), check=True)
    # A notebook that another person sent: signatures are of the whole content.
    for notebook in (saved, bare):
        notebook["metadata"]["title"] = "From somewhere else"
    _write(server, "untrusted", saved)
    _write(server, "untrusted-bare", bare)


def _write(server: Server, name: str, notebook: dict[str, Any]) -> None:
    (server.root / f"{name}.ipynb").write_text(json.dumps(notebook))


def outputs(server: Server, name: str) -> list[dict[str, Any]]:
    """The results of a saved notebook's cells, by MIME type."""
    notebook = json.loads((server.root / f"{name}.ipynb").read_text())
    return [
        output["data"]
        for cell in notebook["cells"]
        for output in cell["outputs"]
        if output["output_type"] in ("display_data", "execute_result")
    ]


def reopen(browser: Browser, server: Server, name: str) -> Lab:
    # In a workspace of its own, for the default one brings back what was open before.
    url = server.address(f"lab/workspaces/{name}/tree/{name}.ipynb")
    return Lab(browser, url, [*NOISE, MODEL_LESS])
