"""One notebook in a real JupyterLab, or in a Notebook 7, driven through its own commands."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Locator, expect

from tests.support import PATIENCE_SECONDS, Watch

# Messages of JupyterLab itself, with any notebook.
NOISE = [
    # Its splash screen is taken down twice when a theme is loaded while the page still starts.
    r"'removeChild' on 'Node'.*\n\s+at \S+/static/lab/jlab_core\.\S+$",
    # On a busy machine.
    r"^console warning: Plugin \S+ is taking too long to activate\.",
    r"^console warning: Plugin \S+ \(with \d+ dependants\) took \S+ms to activate\.",
]

# A notebook opened by its address gets a kernel by itself, but a cell run before that asks for one.
# Its cells are drawn one after the other, each when the page is idle.
OPENED = """() => {
  const panel = window.jupyterapp?.shell.currentWidget;
  return panel?.context?.isReady && panel.sessionContext.isReady
    && panel.sessionContext.session?.kernel?.connectionStatus === "connected"
    && panel.content.widgets.every((cell) => !cell.isPlaceholder())
    && !document.querySelector("#jupyterlab-splash");
}"""

# Without the command's result, which is the whole document.
OPEN = """async (path) => {
  await window.jupyterapp.commands.execute("docmanager:open", { path });
}"""

PATH = "() => window.jupyterapp.shell.currentWidget.context.path"

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

CELLS = """() => window.jupyterapp.shell.currentWidget.content.widgets.map(
  (cell) => [cell.model.id, cell.model.type, cell.model.sharedModel.getSource()])"""

# Shown by the widget manager, and logged, for a widget of which it has no model.
NOT_FOUND = "Error displaying widget: model not found"
MODEL_LESS = (
    r"^console error: Error: widget model not found\n\s+at [^\n]*/jupyterlab-manager/static/"
)

# A page that is loaded shows the widgets of a running kernel or a saved notebook, but not every
# time: the manager may count as restored before it has made its models, and then never looks again.
RELOADS = 5

CLEAR = """async () => {
  const { commands } = window.jupyterapp;
  await commands.execute("notebook:select-all");
  await commands.execute("notebook:delete-cell");
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
    """Cells are only ever added at the end, and the kernel stays the same.

    Notebook 7 is made of JupyterLab's own parts and has the same commands.
    """

    def __init__(self, browser: Browser, url: str, noise: Sequence[str] = NOISE) -> None:
        """`url`: of the notebook, with the server's token. `noise`: as in `Watch`."""
        server = urlsplit(url).netloc
        self.context = browser.new_context(viewport={"width": 1400, "height": 1000})
        self.watch = Watch(
            self.context,
            lambda url: url.startswith(("data:", "blob:")) or urlsplit(url).netloc == server,
            noise,
        )
        self.page = self.context.new_page()
        self.page.goto(url)
        self.page.wait_for_function(OPENED)

    @property
    def errors(self) -> list[str]:
        """The errors and warnings that the page logged since the test began."""
        return self.watch.errors

    def run(self, code: str, *, seconds: float = PATIENCE_SECONDS) -> Cell:
        """Run code in a new cell at the end and wait until the kernel is idle again."""
        return self._run(None, code, seconds)[0]

    def rerun(self, cell: Cell, *, seconds: float = PATIENCE_SECONDS) -> Cell:
        return self._run(cell.id, None, seconds)[0]

    def evaluate(self, expression: str) -> Any:
        """The value of a Python expression in the kernel, by way of JSON."""
        _, outputs = self._run(
            None, f"import json as _json; print(_json.dumps({expression}))", PATIENCE_SECONDS
        )
        printed = "".join(out["text"] for out in outputs if out.get("name") == "stdout")
        return json.loads(printed.splitlines()[-1])

    def cells(self) -> Any:
        """Identifier, type and source of every cell."""
        return self.page.evaluate(CELLS)

    def set_theme(self, theme: Literal["dark", "light"]) -> None:
        self.page.evaluate(
            "theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })",
            f"JupyterLab {theme.capitalize()}",
        )
        light = str(theme == "light").lower()
        self.page.wait_for_selector(f"body[data-jp-theme-light={light}]", state="attached")

    def clear(self) -> None:
        """Delete all cells."""
        self.page.evaluate(CLEAR)

    def fresh_page(self) -> None:
        """Reload with an empty notebook: the page has seen no widget, the kernel is the same.

        Every widget is closed, for JupyterLab would make those that live again on its own.
        """
        self.run("import ipywidgets as _ipywidgets; _ipywidgets.Widget.close_all()")
        self.clear()
        self.save()
        self.reload()

    def save(self) -> None:
        self.page.evaluate("() => window.jupyterapp.shell.currentWidget.context.save()")

    def reload(self) -> None:
        self.page.reload()
        self.page.wait_for_function(OPENED)

    def open(self, name: str) -> None:
        """Open another notebook in the same page, or come back to one that is open."""
        self.page.evaluate(OPEN, name)
        there = f"path => ({OPENED})() && ({PATH})() === path"
        self.page.wait_for_function(there, arg=name)

    def wait_for_widgets(self) -> None:
        """Reload until the notebook's widgets are shown, as a reader would.

        With the page's processor throttled 4 to 8 times, 5 of 30 pages needed a second try.
        """
        outputs = self.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-OutputArea-output")
        for _ in range(RELOADS):
            expect(outputs.filter(has_text="Loading widget...")).to_have_count(0)
            if outputs.filter(has_text=NOT_FOUND).count() == 0:
                break
            self.reload()
        self.watch.errors[:] = [e for e in self.watch.errors if not re.search(MODEL_LESS, e)]

    def _run(
        self, id_: str | None, code: str | None, seconds: float
    ) -> tuple[Cell, list[dict[str, Any]]]:
        done = self.page.evaluate(RUN, {"id": id_, "code": code, "seconds": seconds})
        for output in done["outputs"]:
            if output["output_type"] == "error":
                raise CellError(re.sub(r"\x1b\[[\d;]*m", "", "\n".join(output["traceback"])))
        node = self.page.locator(f'[data-test-cell="{done["id"]}"]')
        return Cell(done["id"], node.locator(".jp-Cell-outputArea")), done["outputs"]
