"""Print the path of a Chromium that starts, installing one if there is none.

Usage: python scripts/browser.py [--full]

By default, this is the one without windows if that can be had: Debian's needs half the processor
time for the same pages. With --full, it is the one that people use.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

SHELL = "chromium-headless-shell"
FULL = ("chromium", "chromium-browser", "google-chrome")


def say(message: str) -> None:
    print(message, file=sys.stderr)


def starts(path: str) -> bool:
    """True if the browser runs: a download may lack system libraries, a package may be a stub."""
    try:
        return subprocess.run([path, "--version"], capture_output=True, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def on_path(*names: str) -> str | None:
    found = (shutil.which(name) for name in names)
    return next((path for path in found if path and starts(path)), None)


def of_playwright() -> str | None:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() and starts(path) else None


def install(*command: str) -> None:
    say(" ".join(command))
    try:
        subprocess.run(command, stdout=sys.stderr, check=False)
    except OSError as error:
        say(str(error))


def install_by_playwright() -> str | None:
    say("No Chromium found")
    install(sys.executable, "-m", "playwright", "install", "chromium")
    return of_playwright()


def install_by_apt(name: str) -> str | None:
    install_packages(name)
    return on_path(name)


def install_packages(*names: str) -> None:
    """Install Debian's packages of these names if apt is available and this is root."""
    if not shutil.which("apt-get") or os.geteuid() != 0:
        return
    install("apt-get", "update", "-qq")
    install("apt-get", "install", "-y", "-qq", "--no-install-recommends", *names)


def ways(full: bool) -> Iterator[Callable[[], str | None]]:
    if not full:
        yield partial(on_path, SHELL)
        yield partial(install_by_apt, SHELL)
    yield partial(on_path, *FULL)
    yield of_playwright
    yield install_by_playwright
    yield partial(install_by_apt, FULL[0])


def find(full: bool = False) -> str:
    chosen = os.environ.get("ATTNWIDGET_BROWSER")
    if chosen:
        if not starts(chosen):
            sys.exit(f"ATTNWIDGET_BROWSER is {chosen}, which does not start.")
        return chosen
    path = next(filter(None, (way() for way in ways(full))), None)
    if path is None:
        sys.exit(
            "The tests need Chromium: install it (Debian: apt-get install chromium), "
            "or set ATTNWIDGET_BROWSER to the path of one."
        )
    return path


if __name__ == "__main__":
    print(find(full="--full" in sys.argv[1:]))
