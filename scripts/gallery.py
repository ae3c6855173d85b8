"""Builds the gallery of trained models into build/gallery: python -m scripts.gallery [NAME ...]

Models come from ATTNWIDGET_MODELS, the folder of trained models, or from the hub. What needs a
model that is not there is left out, with a line that says so. Each page is opened in Chromium
without a network.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import tempfile
import traceback
from html import escape
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, sync_playwright
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from benchmarks.browser.models import smollm2
from scripts.gallery_entries import FOLDER, SECTIONS, Entry, entries
from scripts.notebooks import lay

OUT = Path(__file__).parents[1] / "build" / "gallery"
SPOKEN = "A good map shows what it leaves out."
RATE = 16_000
# The window of a card's picture, in CSS pixels: so narrow that the picture is hardly made smaller.
WINDOW = {"width": 900, "height": 700}
# In place of the page's margin above and below, so that the view still fits in the window.
HEADING = """\
<style>
body { padding-top: 0; padding-bottom: 0 }
.finding { display: flex; gap: 16px; align-items: center; min-height: 32px; padding: 0 16px; \
color: CanvasText; font: 14px/16px system-ui, sans-serif }
.finding a { color: inherit }
.finding h1 { margin: 0; font: inherit; font-weight: 600 }
</style>
<header class="finding"><a href="index.html">Gallery</a><h1>%s</h1></header>
"""


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts.gallery", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="all if none is given")
    names = parser.parse_args().names
    OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        models = os.environ.get("ATTNWIDGET_MODELS")
        lay(Path(place), None if models is None else Path(models), smollm2())
        speak(Path(place) / "speech.wav")
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("ATTNWIDGET_BROWSER"), args=["--no-sandbox"]
        )
        untrue = [
            entry.name
            for entry in entries()
            if (not names or entry.name in names) and not build(entry, Path(place), browser)
        ]
    (OUT / "index.html").write_text(index(), encoding="utf-8")
    pages = list(OUT.glob("*.html"))
    size = sum(path.stat().st_size for path in OUT.iterdir()) / 2**20
    if untrue:
        raise SystemExit(f"not true here, and so left out: {', '.join(untrue)}")
    print(f"The gallery:  {OUT / 'index.html'}  ({len(pages) - 1} pages, {size:.0f} MB)")


def speak(path: Path) -> None:
    """Write the sound that the entry on speech reads, where eSpeak NG is installed."""
    espeak = shutil.which("espeak-ng")
    if espeak is None:
        return
    import numpy as np
    from scipy.io import wavfile
    from scipy.signal import resample_poly

    subprocess.run([espeak, "-v", "en-us", "-s", "130", "-w", path, SPOKEN], check=True)
    rate, sound = wavfile.read(path)
    sound = resample_poly(sound.astype(float), RATE, rate)
    wavfile.write(path, RATE, sound.clip(-(2**15), 2**15 - 1).astype(np.int16))


def build(entry: Entry, folder: Path, browser: Browser) -> bool:
    """Write an entry's page and its pictures, or say why they are left out.

    False if what the entry says is not true of the model that is there.
    """
    page = OUT / f"{entry.name}.html"
    page.unlink(missing_ok=True)
    try:
        widget = entry.run(folder)
    except OSError as error:
        reason = str(error).strip().partition("\n")[0]
        print(f"{entry.name} is left out: {reason}")
        return True
    except AssertionError:
        traceback.print_exc()
        return False
    page.write_text(headed(widget.to_html(), entry), encoding="utf-8")
    widget.close()
    for theme in ("light", "dark"):
        draw(browser, page, theme).save(OUT / f"{entry.name}-{theme}.webp", quality=88, method=6)
    print(f"{entry.name}: {page.stat().st_size / 1024:,.0f} KB")
    return True


def headed(html: str, entry: Entry) -> str:
    """The page of an entry's view, with what it shows as its title and above the view."""
    title = escape(entry.title)
    before, _, after = html.partition("<title>")
    body = after.partition("</title>")[2]
    body = body.replace("<main ", f"{HEADING % title}<main ", 1)
    return f"{before}<title>{title}</title>{body}"


def draw(browser: Browser, path: Path, theme: Any) -> Image.Image:
    """A picture of a page's view, which must open without a network and without an error."""
    context = browser.new_context(
        viewport=WINDOW, device_scale_factor=1.5, color_scheme=theme, offline=True
    )
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("requestfailed", lambda request: errors.append(f"asked for {request.url}"))
    page.goto(path.as_uri())
    page.get_by_role("tabpanel").get_by_role("listbox").or_(
        page.get_by_role("grid")
    ).first.wait_for()
    # Drawing goes on in slices.
    page.wait_for_timeout(1500)
    box = page.locator("main > *").first.bounding_box()
    assert box is not None
    box["height"] = min(box["height"], WINDOW["height"])
    picture = Image.open(BytesIO(page.screenshot(clip=box, full_page=True)))
    context.close()
    if errors:
        raise RuntimeError(f"{path.name}: {errors}")
    return picture.convert("RGB")


def index() -> str:
    """The page of cards, of those entries that are built."""
    built = {entry.name: entry for entry in entries() if (OUT / f"{entry.name}.html").exists()}
    missing = [entry for entry in entries() if entry.name not in built]
    sections = "".join(
        f"<section><h2>{escape(title)}</h2><div>{cards}</div></section>"
        for title, names in SECTIONS.items()
        if (cards := "".join(card(built[name]) for name in names if name in built))
    )
    left_out = "".join(
        f"<li>{escape(entry.title)} <code>{entry.name}</code></li>" for entry in missing
    )
    if left_out:
        sections += f"<section><h2>Not built</h2><ul>{left_out}</ul></section>"
    template = (FOLDER / "index.html").read_text(encoding="utf-8")
    light = HtmlFormatter(style="default").get_style_defs("pre")
    dark = HtmlFormatter(style="github-dark").get_style_defs("pre")
    style = f"{light} @media (prefers-color-scheme: dark) {{ {dark} }}"
    return template.replace("/* code */", style).replace("<!-- cards -->", sections)


def card(entry: Entry) -> str:
    size = (OUT / f"{entry.name}.html").stat().st_size
    with Image.open(OUT / f"{entry.name}-light.webp") as picture:
        width, height = picture.size
    code = highlight(entry.code, PythonLexer(), HtmlFormatter(nowrap=True))
    return f"""<article>
<a href="{entry.name}.html"><picture>
<source srcset="{entry.name}-dark.webp" media="(prefers-color-scheme: dark)">
<img src="{entry.name}-light.webp" alt="" width="{width}" height="{height}" loading="lazy">
</picture><h3>{escape(entry.title)}</h3></a>
<p>{emphasized(entry.text)}</p>
<details><summary>Python<small>{size / 2**20:.1f} MB</small></summary>
<button>Copy</button><pre tabindex="0">{code}</pre></details>
</article>"""


def emphasized(text: str) -> str:
    """The text as HTML, with *words* of the views in italics."""
    parts = escape(text).split("*")
    return "".join(f"<em>{part}</em>" if at % 2 else part for at, part in enumerate(parts))


if __name__ == "__main__":
    main()
