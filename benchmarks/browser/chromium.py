"""A separate browser for every page, with a time limit and local copies of the CDN's files."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, CDPSession, Page, Route, sync_playwright

from tests.support import BROWSER_FLAGS

from .rival import SERVED

WIDTH, HEIGHT = 1100, 800

# Draw frames as soon as possible, so that a delay is work, not waiting.
UNLIMITED = ("--disable-frame-rate-limit", "--disable-gpu-vsync")

# Quiet is when the renderers use less than this share of a processor for this many looks in a row.
QUIET_SHARE, QUIET_LOOKS, LOOK_SECONDS = 0.1, 3, 0.2


@dataclass
class Window:
    """One page alone in a browser."""

    browser: Browser
    page: Page
    cdp: CDPSession
    system: CDPSession
    requests: list[str]

    def wait_until_quiet(self) -> None:
        """Wait until the page responds and all renderer threads are almost idle."""
        looks, before = 0, self.renderer_seconds()
        while looks < QUIET_LOOKS:
            self.page.wait_for_timeout(LOOK_SECONDS * 1000)
            after = self.renderer_seconds()
            looks = looks + 1 if after - before < QUIET_SHARE * LOOK_SECONDS else 0
            before = after
        self.page.evaluate("0")

    def renderer_seconds(self) -> float:
        """The processor time of every renderer thread."""
        return sum(
            process["cpuTime"] for process in self._processes() if process["type"] == "renderer"
        )

    def _processes(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.system.send("SystemInfo.getProcessInfo")["processInfo"]
        return found

    @contextmanager
    def at_most(self, seconds: float) -> Iterator[None]:
        """Ends the browser at its time limit; nothing else stops a page that hangs."""
        [browser] = [process["id"] for process in self._processes() if process["type"] == "browser"]
        timer = threading.Timer(seconds, os.kill, (browser, signal.SIGKILL))
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


@contextmanager
def window(*flags: str) -> Iterator[Window]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("ATTNWIDGET_BROWSER"), args=[*BROWSER_FLAGS, *flags]
        )
        context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT})
        page = context.new_page()
        page.set_default_timeout(0)  # `at_most` is the limit
        requests: list[str] = []
        page.on("request", lambda request: requests.append(request.url))
        page.route("https://**/*", _serve)
        try:
            yield Window(
                browser,
                page,
                context.new_cdp_session(page),
                browser.new_browser_cdp_session(),
                requests,
            )
        finally:
            if browser.is_connected():
                browser.close()


def version() -> str:
    with window() as opened:
        return opened.browser.version


def _serve(route: Route) -> None:
    file = SERVED.get(route.request.url)
    if file is None:
        route.abort()
    else:
        route.fulfill(path=file, content_type="text/javascript")


def private_mb(process: int) -> float:
    """The memory that a process shares with no other process."""
    rollup = Path(f"/proc/{process}/smaps_rollup").read_text()
    return (
        sum(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Private_"))
        / 1024
    )
