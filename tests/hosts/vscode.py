"""VS Code's own widget manager, outside VS Code, with a real kernel."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Locator

from tests.lab.server import Server
from tests.support import Watch

MODULES = Path(__file__).parents[2] / "js" / "node_modules"

# The page that VS Code puts outputs on, as far as it touches them: dark, but white behind widgets.
PAGE = """<!doctype html>
<html><head><meta charset="utf-8"><style>
body { background: #1f1f1f; color: #ccc; margin: 0 }
.cell-output-ipywidget-background { background: white !important }
</style></head>
<body class="vscode-dark" data-vscode-theme-kind="vscode-dark"><main></main></body></html>"""

ANYWIDGET = "https://cdn.jsdelivr.net/npm/anywidget@"

NOISE = [
    # The format of its log.
    r"^console error: (Load|Activating|call activate in|Initializing) ipywidgets8",
]


def bundle(folder: Path) -> Path:
    """The manager, and what drives it, as one script."""
    path = folder / "vscode.js"
    command = [
        str(MODULES / ".bin" / "esbuild"),
        str(Path(__file__).with_name("vscode.js")),
        "--bundle",
        "--log-level=error",
        f"--outfile={path}",
    ]
    subprocess.run(command, env=os.environ | {"NODE_PATH": str(MODULES)}, check=True)
    return path


class VSCode:
    """A page on the server's own address, since another could not talk to its kernels."""

    def __init__(self, browser: Browser, server: Server, script: Path) -> None:
        self.context = browser.new_context(viewport={"width": 1200, "height": 1000})
        self._server, self._script, self._shown = server, script, 0
        address = server.url.split("//")[1]
        allowed = (server.url, f"ws://{address}", "data:", "blob:", ANYWIDGET)
        self.watch = Watch(self.context, lambda url: url.startswith(allowed), NOISE)
        self.context.route(
            f"{server.url}vscode", lambda route: route.fulfill(content_type="text/html", body=PAGE)
        )
        self.context.route(
            f"{ANYWIDGET}**",
            lambda route: route.fulfill(path=MODULES / "anywidget" / "dist" / "index.js"),
        )
        # The page comes from no address that Chromium would let talk to this machine unasked.
        self.context.grant_permissions(["local-network-access"])
        self.page = self.context.new_page()

    def open(self) -> None:
        """A fresh page with a fresh kernel."""
        self.page.goto(f"{self._server.url}vscode")
        self.page.add_script_tag(path=MODULES / "requirejs-2.3.4" / "require.js")
        self.page.add_script_tag(path=self._script)
        self.page.evaluate(
            "([url, token]) => window.start(url, token)", [self._server.url, self._server.token]
        )

    def run(self, code: str) -> Locator:
        """Run code, and return where its widget is."""
        self._shown += 1
        name = f"output-{self._shown}"
        self.page.evaluate("([code, id]) => window.run(code, id)", [code, name])
        return self.page.locator(f"#{name}")

    def evaluate(self, expression: str) -> Any:
        code = f"import json as _json; print(_json.dumps({expression}))"
        return json.loads(self.page.evaluate("code => window.run(code)", code))
