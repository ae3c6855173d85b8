"""python -m benchmarks.browser [--quick] [--rounds N] [--models NAME ...] [--continue] [--write]

Needs Linux, a Chromium (ATTNWIDGET_BROWSER), BertViz, and `npm ci` in this folder: `make bench`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

# All files are local; nothing may be downloaded.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
os.environ.setdefault("TQDM_DISABLE", "1")

from . import floors, results
from .cases import BYTES, PAGES, QUICK, READINGS, SMOOTH, Case, readings
from .made import make
from .measure import LIMIT, SLOW, measure
from .report import markdown, summary
from .results import Results
from .subjects import BertViz, Floor, Ours, Subject

ROOT = Path(__file__).parents[2]
JSON = ROOT / "build" / "benchmarks.json"
DOCS = ROOT / "docs"

SUBJECTS: Sequence[Subject] = (
    BertViz(), Ours(), *map(Ours, READINGS), Floor("bare", True), Floor("same", False),
)  # fmt: skip


def main() -> None:
    options = _options()
    found = (
        results.load(options.json) if options.go_on else Results(results.machine(), options.limit)
    )
    wanted = [
        case
        for case in (QUICK if options.quick else _grouped([*PAGES, *SMOOTH]))
        if (not options.models or case.model in options.models)
        and (not options.tokens or case.tokens in options.tokens)
    ]
    left = [
        case
        for case in wanted
        if any(
            len(found.of(case, name)) < options.rounds for name in ("attnwidget", *readings(case))
        )
    ]
    for (model, tokens), cases in groupby(left, lambda case: (case.model, case.tokens)):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            _pages(found, model, tokens, [case.view for case in cases], folder, options)
    if not options.quick:
        _bytes(found, options)
        if not found.capture:
            found.capture = _capture(options.models_folder)
    found.save(options.json)
    print(summary(found))
    if options.write:
        (DOCS / "benchmarks.md").write_text(markdown(found), encoding="utf-8")
        found.save(DOCS / "benchmarks.json")


def _grouped(cases: list[Case]) -> list[Case]:
    """The cases with those of one model and length behind each other."""
    order = list(dict.fromkeys((case.model, case.tokens) for case in cases))
    return sorted(cases, key=lambda case: order.index((case.model, case.tokens)))


def _pages(
    found: Results, model: str, tokens: int, views: list[str], folder: Path,
    options: argparse.Namespace,
) -> None:  # fmt: skip
    """Make the pages of one model and length, and open them in turns."""
    known = {"model": model, "tokens": tokens}
    found.pages = [page for page in found.pages if not known.items() <= page.items()]
    alone = {case.view for case in SMOOTH if case[1:] == (model, tokens)}
    rivals = [] if model.endswith("-layer") else [view for view in views if view not in alone]
    files: dict[tuple[str, str], Path] = {}
    for page in make(model, tokens, views, folder, rivals, options):
        if file := page.pop("file", None):
            files[page["view"], page["subject"]] = Path(file)
        found.pages.append({**known, **page})
    for view in views:
        case = Case(view, model, tokens)
        found.runs = [run for run in found.runs if not case._asdict().items() <= run.items()]
        (bare := folder / "bare.html").write_text(floors.BARE)
        files[view, "bare"] = bare
        if view not in alone:
            (same := folder / "same.html").write_text(
                floors.as_long_as(files[view, "attnwidget"].stat().st_size)
            )
            files[view, "same"] = same
        for number in range(options.rounds):
            # Forwards and backwards, so that no page always follows the same other page.
            for subject in SUBJECTS[:: -1 if number % 2 else 1]:
                file = files.get((view, subject.name))
                before = found.of(case, subject.name)
                if file and not any(not run["drew"] or run["seconds"] > SLOW for run in before):
                    _open(found, case, subject, number, file, options.limit)
        found.save(options.json)


def _open(
    found: Results, case: Case, subject: Subject, number: int, file: Path, limit: float
) -> None:
    start = time.monotonic()
    run = measure(file, subject, case, limit)
    seconds = time.monotonic() - start
    found.add_run(case, subject.name, number, run, seconds)
    said = f"paint {run.paint:.0f} ms" if run.paint else "did not draw"
    said += f": {run.why}" if run.why else ""
    print(f"{case.view} {case.model} T={case.tokens} round {number} {subject.name}: {said} "
          f"({seconds:.0f} s, load {os.getloadavg()[0]:.1f})", flush=True)  # fmt: skip


def _bytes(found: Results, options: argparse.Namespace) -> None:
    for model, tokens in BYTES:
        if found.page(model=model, tokens=tokens):
            continue
        if model == "mpnet" and not (options.models_folder / model).exists():
            continue
        with tempfile.TemporaryDirectory() as name:
            for page in make(model, tokens, ["head"], Path(name), [], options):
                page.pop("file", None)
                found.pages.append({"model": model, "tokens": tokens, **page})
        found.save(options.json)


def _capture(folder: Path) -> list[str]:
    command = [sys.executable, "-m", "benchmarks.capture", "--tokens", "128", "512"]
    options = ["--rounds", "3", "--models-folder", str(folder.resolve())]
    done = subprocess.run(
        [*command, *options], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return done.stdout.splitlines()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.browser", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="32 tokens of one model")
    parser.add_argument("--models", nargs="+", help="of the default ones")
    parser.add_argument("--tokens", nargs="+", type=int, help="of the default ones")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds that a page may take")
    parser.add_argument("--models-folder", type=Path, default=ROOT / "models",
                        help="where mpnet and vit lie, if they do")  # fmt: skip
    parser.add_argument("--json", type=Path, default=JSON, help="where to keep the results")
    parser.add_argument("--continue", dest="go_on", action="store_true",
                        help="keep what --json has of finished cases")  # fmt: skip
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks.md")
    return parser.parse_args()


if __name__ == "__main__":
    main()
