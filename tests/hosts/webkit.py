"""WebKit as GTK has it, driven over WebDriver, on a screen that nobody sees."""

import base64
import hashlib
import json
import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from tests.hosts.remote import HEIGHT, PATIENCE_SECONDS, WIDTH, PageError, Remote
from tests.lab.server import running

CALL = """const [given, done] = arguments;
new Promise((resolve) => resolve((%s)(...JSON.parse(given)))).then(
  (value) => done(JSON.stringify({ value: value ?? null })),
  (error) => done(JSON.stringify({ error: `${error}` })),
);"""

# WebDriver does not tell what a page complains of, so the page itself keeps it. It says it as well,
# for browsers that tell.
WATCH = """window.problems = [];
for (const level of ["error", "warn"]) {
  const say = console[level].bind(console);
  console[level] = (...said) => {
    window.problems.push(`console ${level}: ${said.join(" ")}`);
    say(...said);
  };
}
addEventListener("error", ({ message }) => window.problems.push(`uncaught: ${message}`));
addEventListener("unhandledrejection", ({ reason }) => window.problems.push(`uncaught: ${reason}`));
addEventListener("securitypolicyviolation", ({ blockedURI, effectiveDirective }) =>
  window.problems.push(`refused by ${effectiveDirective}: ${blockedURI}`));"""

PROBLEMS = """() => {
  const local = /^(file|data|blob|about):/;
  const asked = performance.getEntriesByType("resource").map(({ name }) => name);
  const requests = asked.filter((url) => !local.test(url)).map((url) => `request: ${url}`);
  performance.clearResourceTimings();
  return [...requests, ...window.problems.splice(0)];
}"""


class WebKit(Remote):
    def __init__(self, port: int, browser: str) -> None:
        self._port = port
        self._session = ""
        proxy = {"proxyType": "manual"} | dict.fromkeys(("httpProxy", "sslProxy"), "127.0.0.1:9")
        asked = {
            # A port without a listener, so that no request leaves the machine.
            "proxy": proxy,
            "webkitgtk:browserOptions": {"binary": browser, "args": ["--automation"]},
        }
        made = self._send("POST", "/session", {"capabilities": {"alwaysMatch": asked}})
        self._session = f"/session/{made['sessionId']}"
        self._send("POST", "/window/rect", {"width": WIDTH, "height": HEIGHT})

    def go(self, url: str) -> None:
        self._send("POST", "/url", {"url": url})

    def call(self, function: str, *arguments: Any) -> Any:
        script = {"script": CALL % function, "args": [json.dumps(arguments)]}
        result = json.loads(self._send("POST", "/execute/async", script))
        if "error" in result:
            raise PageError(result["error"])
        return result["value"]

    def act(self, device: dict[str, Any]) -> None:
        self._send("POST", "/actions", {"actions": [device]})

    def screenshot(self) -> bytes:
        return base64.b64decode(self._send("GET", "/screenshot"))

    def problems(self) -> list[str]:
        return list(self.call(PROBLEMS))

    def close(self) -> None:
        self._send("DELETE", "")

    def _send(self, method: str, path: str, content: Any = None) -> Any:
        connection = HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE_SECONDS)
        body = None if content is None else json.dumps(content)
        connection.request(method, self._session + path, body)
        value = json.loads(connection.getresponse().read())["value"]
        connection.close()
        if isinstance(value, dict) and "error" in value:
            raise RuntimeError(f"{path}: {value['error']}: {value['message']}")
        return value


def watched(page: str) -> str:
    """The page with a script that keeps what it complains of, which its policy lets run."""
    digest = base64.b64encode(hashlib.sha256(WATCH.encode()).digest()).decode()
    assert page.count("; script-src ") == page.count("</head>") == 1
    page = page.replace("; script-src ", f"; script-src 'sha256-{digest}' ")
    return page.replace("</head>", f"<script>{WATCH}</script></head>")


@contextmanager
def webkit(driver: str, browser: str, folder: Path) -> Iterator[WebKit]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    def address() -> str | None:
        with socket.socket() as probe:
            return None if probe.connect_ex(("127.0.0.1", port)) else "ready"

    with _screen() as display:
        command = ["env", f"DISPLAY={display}", driver, f"--port={port}"]
        with running(command, folder, address):
            opened = WebKit(port, browser)
            yield opened
            opened.close()


@contextmanager
def _screen() -> Iterator[str]:
    ours, its = os.pipe()
    size = f"{WIDTH}x{HEIGHT}x24"
    command = ["Xvfb", "-displayfd", str(its), "-screen", "0", size, "-nolisten", "tcp"]
    server = subprocess.Popen(command, pass_fds=[its], stderr=subprocess.DEVNULL)
    os.close(its)
    try:
        # It takes the first number that is free, and writes which.
        yield f":{os.read(ours, 16).decode().strip()}"
    finally:
        os.close(ours)
        server.terminate()
        server.wait()
