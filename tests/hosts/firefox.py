"""Firefox, driven over WebDriver BiDi."""

import base64
import itertools
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import websocket

from tests.hosts.remote import HEIGHT, PATIENCE_SECONDS, WIDTH, PageError, Remote
from tests.lab.server import running

PREFERENCES = {
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.homepage": "about:blank",
    "browser.startup.page": 0,
    "datareporting.policy.dataSubmissionEnabled": False,
    # The page's colours are the light ones, whatever the machine's are.
    "layout.css.prefers-color-scheme.content-override": 1,
    # A port without a listener, so that no request leaves the machine.
    "network.proxy.type": 1,
    "network.proxy.http": "127.0.0.1",
    "network.proxy.http_port": 9,
    "network.proxy.ssl": "127.0.0.1",
    "network.proxy.ssl_port": 9,
}

STARTED = re.compile(r"WebDriver BiDi listening on (ws://\S+)")


class Firefox(Remote):
    def __init__(self, address: str) -> None:
        # It refuses those who say that they are a web page.
        self._socket = websocket.create_connection(
            f"{address}/session", timeout=PATIENCE_SECONDS, suppress_origin=True
        )
        self._numbers = itertools.count()
        self._problems: list[str] = []
        self._send("session.new", capabilities={})
        self._page = self._send("browsingContext.getTree")["contexts"][0]["context"]
        self._send("session.subscribe", events=["log.entryAdded", "network.beforeRequestSent"])
        viewport = {"width": WIDTH, "height": HEIGHT}
        self._send("browsingContext.setViewport", context=self._page, viewport=viewport)

    def go(self, url: str) -> None:
        self._send("browsingContext.navigate", context=self._page, url=url, wait="complete")

    def call(self, function: str, *arguments: Any) -> Any:
        called = f"({function})(...JSON.parse(given))"
        result = self._send(
            "script.callFunction",
            functionDeclaration=f"async (given) => JSON.stringify((await {called}) ?? null)",
            arguments=[{"type": "string", "value": json.dumps(arguments)}],
            target={"context": self._page},
            awaitPromise=True,
        )
        if result["type"] == "exception":
            raise PageError(result["exceptionDetails"]["text"])
        return json.loads(result["result"]["value"])

    def act(self, device: dict[str, Any]) -> None:
        self._send("input.performActions", context=self._page, actions=[device])

    def screenshot(self) -> bytes:
        shot = self._send("browsingContext.captureScreenshot", context=self._page)
        return base64.b64decode(shot["data"])

    def problems(self) -> list[str]:
        # Answered after everything that happened before.
        self.call("() => null")
        found, self._problems = self._problems, []
        return found

    def close(self) -> None:
        self._socket.close()

    def _send(self, method: str, **parameters: Any) -> Any:
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv())
            if message["type"] == "event":
                self._hear(message["method"], message["params"])
            elif message["type"] == "error":
                raise RuntimeError(f"{method}: {message['error']}: {message['message']}")
            elif message["id"] == number:
                return message["result"]

    def _hear(self, event: str, about: dict[str, Any]) -> None:
        if event == "network.beforeRequestSent":
            url = about["request"]["url"]
            if not url.startswith(("file:", "data:", "blob:", "about:")):
                self._problems.append(f"request: {url}")
        elif about["level"] in ("error", "warn"):
            self._problems.append(f"{about['type']} {about['level']}: {about['text']}")


@contextmanager
def firefox(program: str, folder: Path) -> Iterator[Firefox]:
    profile = folder / "profile"
    profile.mkdir()
    lines = [
        f"user_pref({json.dumps(name)}, {json.dumps(to)});" for name, to in PREFERENCES.items()
    ]
    (profile / "user.js").write_text("\n".join(lines))

    def address() -> str | None:
        found = STARTED.search((folder / "server.log").read_text())
        return found and found[1]

    # For root, it does not start in the home of somebody else.
    start = ["env", f"HOME={folder}", program, "--headless", "--no-remote"]
    command = [*start, "--profile", str(profile), "--remote-debugging-port", "0"]
    with running(command, folder, address) as url:
        browser = Firefox(url)
        yield browser
        browser.close()
