"""The demo: writes a page and runs a notebook with the embedded model, offline."""

import os
import subprocess
import sys
import webbrowser
from pathlib import Path

import attnwidget as aw

ROOT = Path(__file__).parents[1]
OUT = ROOT / "build" / "demo"


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    page = OUT / "attention.html"
    aw.demo().save_html(page)
    print(f"The views, in one page:  {page}")

    notebook = ROOT / "notebooks" / "quickstart.ipynb"
    command = ["nbconvert", "--to", "html", "--execute", "--log-level", "WARN", str(notebook)]
    # The kernel would warn of its loopback connection, which only this script uses.
    quiet = "--ExecutePreprocessor.extra_arguments=['--log-level=ERROR']"
    subprocess.run([sys.executable, "-m", *command, quiet, "--output-dir", str(OUT)], check=True)
    print(f"The notebook, executed:  {OUT / 'quickstart.html'}  (its widgets need the network)")

    if sys.platform != "linux" or "DISPLAY" in os.environ or "WAYLAND_DISPLAY" in os.environ:
        webbrowser.open(page.as_uri())


if __name__ == "__main__":
    main()
