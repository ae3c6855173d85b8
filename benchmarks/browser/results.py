"""The results of a benchmark run, and their file."""

from __future__ import annotations

import json
import os
import platform
import statistics
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from . import chromium
from .cases import Case
from .measure import LIMIT, Run

Row = dict[str, Any]


@dataclass
class Results:
    machine: dict[str, str]
    limit: float = LIMIT
    """Seconds that a page could take."""
    pages: list[Row] = field(default_factory=list)
    """Cost and size of each page, and the size of BertViz's data."""
    runs: list[Row] = field(default_factory=list)
    """Measurements of each page in each round."""
    capture: list[str] = field(default_factory=list)
    """Output of `benchmarks.capture`."""

    def add_run(self, case: Case, subject: str, number: int, run: Run, seconds: float) -> None:
        hover = sorted(run.hover)
        self.runs.append(
            {
                **case._asdict(),
                "subject": subject,
                "round": number,
                "load": os.getloadavg()[0],
                "seconds": seconds,
                **{name: value for name, value in vars(run).items() if name != "hover"},
                "hovers": len(hover),
                "hover_p50": statistics.median(hover) if hover else None,
                "hover_p95": hover[int(0.95 * (len(hover) - 1))] if hover else None,
            }
        )

    def of(self, case: Case, subject: str) -> list[Row]:
        """The rounds of a page."""
        wanted = {**case._asdict(), "subject": subject}
        return [run for run in self.runs if wanted.items() <= run.items()]

    def page(self, **wanted: Any) -> Row:
        """The results of the first page that matches; empty if there is none."""
        return next((page for page in self.pages if wanted.items() <= page.items()), {})

    def counted(self, model: str, tokens: int) -> Row:
        """The size of BertViz's data, and the sizes of the model."""
        where = {"model": model, "tokens": tokens}
        return next((p for p in self.pages if where.items() <= p.items() and "counted" in p), {})

    def save(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(_rounded(vars(self)), indent=1) + "\n", encoding="utf-8")


def load(path: Path) -> Results:
    return Results(**json.loads(path.read_text(encoding="utf-8")))


def machine() -> dict[str, str]:
    """The hardware and versions behind the numbers, without names or paths."""
    about = Path("/proc/cpuinfo").read_text()
    name = next((line.split(": ")[1] for line in about.splitlines() if "model name" in line), "?")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    packages = ("torch", "transformers", "numpy", "bertviz")
    return {
        "processor": f"{name}, {os.cpu_count()} cores",
        "memory": f"{memory:.0f} GB",
        "system": platform.system(),
        "browser": f"Chromium {chromium.version()}, headless, without a GPU",
        "python": ", ".join(
            [f"Python {platform.python_version()}", *(f"{p} {version(p)}" for p in packages)]
        ),
    }


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, dict):
        return {key: _rounded(inner) for key, inner in value.items()}
    return [_rounded(inner) for inner in value] if isinstance(value, list) else value
