"""python -m benchmarks.interventions [NAME ...] [--json PATH] [--jobs N] [--write]"""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

# All models are built from configurations; nothing may be downloaded.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

from benchmarks import zoo
from benchmarks.coverage.__main__ import PAGE
from benchmarks.coverage.isolated import apart
from benchmarks.coverage.report import parts
from benchmarks.interventions.decoders import DECODERS
from benchmarks.interventions.examine import examine
from benchmarks.interventions.report import markdown
from benchmarks.interventions.result import Result, Verdict


def main() -> None:
    options = _options()
    results = read(options.json) if options.json and options.json.exists() else {}
    names = [name for name in options.names or zoo.names() if name not in results]
    for name, result in apart(examine, names, options.jobs):
        if isinstance(result, str):
            wrong = Verdict.WRONG
            result = Result(name, True, wrong, wrong, wrong, wrong, reasons=(result,))
        results[name] = result
        print(result, flush=True)
        if options.json:
            options.json.write_text(
                json.dumps([asdict(each) for each in results.values()], indent=1)
            )
    _print_counts(results.values())
    if options.write:
        captures, pictures, own = parts(PAGE.read_text(encoding="utf-8"))
        _, heading, lens = own.partition(DECODERS)
        written = f"{captures}{pictures}{markdown(results.values())}\n{heading}{lens}"
        PAGE.write_text(written.rstrip() + "\n", encoding="utf-8")


def read(path: Path) -> dict[str, Result]:
    """The results of an earlier run, by name."""
    found = {}
    for each in json.loads(path.read_text()):
        verdicts = {what: Verdict(each[what]) for what in ("off", "cut", "gradients", "values")}
        errors = tuple((what, error) for what, error in each["errors"])
        reasons = tuple(each["reasons"])
        found[each["name"]] = Result(
            each["name"], each["built"], **verdicts, errors=errors, reasons=reasons
        )
    return found


def _print_counts(results: Iterable[Result]) -> None:
    counts: dict[str, Counter[str]] = {}
    for result in results:
        for what, verdict in result.verdicts.items() if result.built else ():
            counts.setdefault(what, Counter())[verdict.value] += 1
    for what, verdicts in counts.items():
        print(what, ", ".join(f"{label} {count}" for label, count in verdicts.most_common()))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.interventions", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="model types; all if none")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes at a time")
    parser.add_argument(
        "--json", type=Path, metavar="PATH", help="results; those that it has are not made again"
    )
    parser.add_argument("--write", action="store_true", help=f"write its part of docs/{PAGE.name}")
    return parser.parse_args()


if __name__ == "__main__":
    main()
