"""Shared code of browser tests: starting Chromium, and errors that no page may cause."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, WebError

# Only failing tests wait this long, even on a busy machine.
PATIENCE_SECONDS = 300
PATIENCE_MS = 1000 * PATIENCE_SECONDS

# The last five keep a machine without network from waiting for, or logging, Chromium's own lookups.
BROWSER_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class OpenPage(Protocol):
    def __call__(
        self, source: Path | str, *, width: int = 1100, height: int = 800, dark: bool = False
    ) -> Page: ...


class Shared(Protocol):
    def __call__(self, name: str, make: Callable[[Path], object]) -> Path: ...


class Watch:
    """Collects what every page of a context complains of, and the requests it may not make.

    Those requests are stopped too, so no test depends on a network.
    """

    def __init__(
        self, context: BrowserContext, allowed: Callable[[str], bool], noise: Sequence[str] = ()
    ) -> None:
        """`noise`: patterns of what the page's host logs without being asked to."""
        self.errors: list[str] = []
        self.requests: list[str] = []
        self._allowed = allowed
        self._noise = [re.compile(pattern) for pattern in noise]
        context.set_default_timeout(PATIENCE_MS)
        context.on("request", lambda request: self._on_request(request.url))
        context.on("page", lambda page: page.on("websocket", lambda ws: self._on_request(ws.url)))
        context.on("console", self._on_console)
        context.on("weberror", self._on_uncaught)
        context.route(lambda url: not allowed(url), lambda route: route.abort())

    def problems(self) -> list[str]:
        return [f"request: {url}" for url in self.requests] + self.errors

    def clear(self) -> None:
        self.errors.clear()
        self.requests.clear()

    def _on_request(self, url: str) -> None:
        if not self._allowed(url):
            self.requests.append(url)

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            # The URL that failed to load is beside the message.
            source = f" {message.location['url']}" if "load resource" in message.text else ""
            self._complain(f"console {message.type}: {message.text}{source}")

    def _on_uncaught(self, uncaught: WebError) -> None:
        self._complain(f"uncaught: {uncaught.error.stack or uncaught.error}")

    def _complain(self, complaint: str) -> None:
        if not any(pattern.search(complaint) for pattern in self._noise):
            self.errors.append(complaint)


class Tab:
    """A page for one test after the other.

    A new page takes a process of its own, in which the view's script is compiled anew: that costs
    more than most tests do.
    """

    def __init__(self, browser: Browser) -> None:
        self.context = browser.new_context()
        local = ("file:", "data:", "blob:")
        self.watch = Watch(self.context, lambda url: url.startswith(local))
        self.page = self.context.new_page()

    def open(self, url: str, width: int, height: int, dark: bool) -> None:
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.emulate_media(color_scheme="dark" if dark else "light")
        self.page.goto(url)

    def leave(self) -> list[str]:
        """Leave the page without a trace of what was done, and give what it complained of."""
        self.page.goto("about:blank")
        self.page.mouse.move(-1, -1)
        self.page.emulate_media(color_scheme="null", forced_colors="null", reduced_motion="null")
        self.context.clear_permissions()
        problems = self.watch.problems()
        self.watch.clear()
        return problems
