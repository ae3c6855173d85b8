"""The demo: writes a page and runs a notebook with the embedded model, offline."""

import os
import shutil
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

    # A copy, because the notebook writes a page beside itself.
    notebook = OUT / "quickstart" / "quickstart.ipynb"
    notebook.parent.mkdir(exist_ok=True)
    shutil.copy(ROOT / "notebooks" / "quickstart.ipynb", notebook)
    command = ["nbconvert", "--to", "html", "--execute", "--log-level", "WARN", str(notebook)]
    # The kernel would warn of its loopback connection, which only this script uses.
    quiet = "--ExecutePreprocessor.extra_arguments=['--log-level=ERROR']"
    static = {**os.environ, "ATTNWIDGET_STATIC": "1"}
    subprocess.run([sys.executable, "-m", *command, quiet], check=True, env=static)
    print(f"The notebook, executed:  {notebook.with_suffix('.html')}  (its views need no network)")

    if sys.platform != "linux" or "DISPLAY" in os.environ or "WAYLAND_DISPLAY" in os.environ:
        webbrowser.open(page.as_uri())


if __name__ == "__main__":
    main()
