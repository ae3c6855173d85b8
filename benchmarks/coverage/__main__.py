"""python -m benchmarks.coverage [NAME ...] [--jobs N] [--json PATH] [--images] [--write]"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path

# All models are built from configurations; nothing may be downloaded.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

from benchmarks import zoo
from benchmarks.coverage import images
from benchmarks.coverage.examine import examine
from benchmarks.coverage.isolated import apart
from benchmarks.coverage.report import markdown, parts
from benchmarks.coverage.result import Category, Labels, Result

PAGE = Path(__file__).parents[2] / "docs" / "coverage.md"


def main() -> int:
    options = _options()
    if options.images:
        return _images(options)
    results: list[Result] = []
    for name, result in apart(examine, options.names or zoo.names(), options.jobs):
        if isinstance(result, str):
            result = Result(name, Category.MISS, reason=result)
        print(result, flush=True)
        results.append(result)
    counts = Counter(result.category for result in results)
    print(", ".join(f"{counts[category]} {category.value}" for category in Category))
    of_labels = Counter(result.labels for result in results)
    print("labels:", ", ".join(f"{of_labels[each]} {each.value}" for each in Labels))
    if options.json:
        options.json.write_text(json.dumps([asdict(result) for result in results], indent=1))
    if options.write:
        _, *others = parts(PAGE.read_text(encoding="utf-8"))
        PAGE.write_text("".join([f"{markdown(results)}\n", *others]), encoding="utf-8")
    return 1 if counts[Category.SILENT] or of_labels[Labels.WRONG] else 0


def _images(options: argparse.Namespace) -> int:
    """Examine the places of tokens on images, in place of all else."""
    found: list[images.Images] = []
    for name, result in apart(images.examine, options.names or zoo.names(), options.jobs):
        if isinstance(result, str):
            result = images.Images(name, images.Status.NONE, result)
        if result is not None:
            print(result, flush=True)
            found.append(result)
    counts = Counter(result.status for result in found)
    print(", ".join(f"{counts[each]} {each.value}" for each in images.Status))
    if options.json:
        options.json.write_text(json.dumps([asdict(result) for result in found], indent=1))
    if options.write:
        captures, _, interventions = parts(PAGE.read_text(encoding="utf-8"))
        page = f"{captures}{images.markdown(found)}\n{interventions}"
        PAGE.write_text(page, encoding="utf-8")
    return 1 if counts[images.Status.WRONG] else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.coverage", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="model types; all if none is given"
    )
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes at a time")
    parser.add_argument("--json", type=Path, metavar="PATH", help="where to write all results")
    parser.add_argument("--images", action="store_true", help="the part about images instead")
    parser.add_argument("--write", action="store_true", help=f"write docs/{PAGE.name}")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
