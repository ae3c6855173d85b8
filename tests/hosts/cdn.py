"""Answers to hosts' network requests, from the same packages on disk."""

from collections.abc import Mapping
from pathlib import Path

from playwright.sync_api import BrowserContext

MODULES = Path(__file__).parents[2] / "js" / "node_modules"
HTML_MANAGER = MODULES / "@jupyter-widgets" / "html-manager" / "dist" / "embed-amd.js"
ANYWIDGET = MODULES / "anywidget" / "dist" / "index.js"
REQUIRE = MODULES / "requirejs-2.3.4" / "require.js"

# A frame of no origin of its own may read these too.
_HEADERS = {"access-control-allow-origin": "*"}


def answer(context: BrowserContext, files: Mapping[str, Path]) -> None:
    """Answer requests for an address that begins so with a file, or with those in a folder."""
    for start, path in files.items():
        context.route(
            f"{start}**",
            lambda route, request, start=start, path=path: route.fulfill(
                path=path / request.url.removeprefix(start) if path.is_dir() else path,
                headers=_HEADERS,
            ),
        )
