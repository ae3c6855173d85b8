"""python -m benchmarks.notebook [--rounds N]: an exported notebook of five views, in two ways.

Five static cells beside the same five widgets with embedded state: bytes of the notebook and of
nbconvert's page, and the time until the first view is painted. The scripts that the widgets' page
loads from CDNs come from this machine's disk, and what else it asks for is refused.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, Error, Frame, sync_playwright

from tests.browser.test_nbconvert import NETWORK, TO_HTML
from tests.browser.texts import PAIR, TEXT
from tests.lab.server import notebook

MODULES = Path(__file__).parents[1] / "js" / "node_modules"

VIEWS = ["view='head'", "view='model'", "view='neuron'", "layer=3", "layer=5, head=2"]

# By name, what a cell adds to the call of show, and to its result.
WAYS = {"static": (", static=True", ""), "embedded": ("", ".embed()")}

PAINTED = """() => {
  const within = (root) => {
    for (const element of root.querySelectorAll("*")) {
      const found = element.shadowRoot && within(element.shadowRoot);
      if (found) return true;
    }
    const canvas = root.querySelector("canvas");
    return Boolean(canvas?.offsetWidth && root.querySelector("[role=status]")?.textContent);
  };
  return within(document);
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        for way in WAYS:
            _export(folder, way)
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("ATTNWIDGET_BROWSER"), args=["--no-sandbox"]
        )
        seconds: dict[str, list[float]] = {way: [] for way in WAYS}
        for _ in range(rounds):
            for way, times in seconds.items():
                times.append(_first_paint(browser, folder / f"{way}.html"))
        browser.close()
        for way in WAYS:
            saved, page = (
                (folder / f"{way}.{suffix}").stat().st_size for suffix in ("ipynb", "html")
            )
            print(f"{way}: notebook {saved:,} bytes, page {page:,} bytes")
        ratios = [one / other for one, other in zip(*seconds.values(), strict=True)]
        print(
            f"first paint, static / embedded: {statistics.median(ratios):.2f} "
            f"({min(ratios):.2f} to {max(ratios):.2f}, {rounds} rounds)"
        )


def _export(folder: Path, way: str) -> None:
    in_call, after = WAYS[way]
    load = (
        "import attnwidget as aw\nfrom attnwidget.default_model import default_model\n"
        f"record = aw.capture(*default_model(), {TEXT!r}, {PAIR!r})"
    )
    cells = [f"aw.show(record, {options}{in_call}){after}" for options in VIEWS]
    path = folder / f"{way}.ipynb"
    path.write_text(json.dumps(notebook(load, *cells)))
    for options in (("--to", "notebook", "--execute", "--inplace"), TO_HTML):
        command = [sys.executable, "-m", "nbconvert", *options, path.name]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)


def _first_paint(browser: Browser, path: Path) -> float:
    context = browser.new_context(viewport={"width": 1200, "height": 1000})
    context.route(lambda url: url.startswith("http"), lambda route: route.abort())
    for start, file in NETWORK.items():
        context.route(f"{start}**", lambda route, _, file=file: route.fulfill(path=MODULES / file))
    page = context.new_page()
    begin = time.perf_counter()
    page.goto(path.as_uri(), wait_until="commit")
    while not any(_is_painted(frame) for frame in page.frames):
        page.wait_for_timeout(10)
    taken = time.perf_counter() - begin
    context.close()
    return taken


def _is_painted(frame: Frame) -> bool:
    try:
        return bool(frame.evaluate(PAINTED))
    except Error:  # the frame is still loading
        return False


if __name__ == "__main__":
    main()
