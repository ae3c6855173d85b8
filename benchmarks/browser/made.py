"""The pages of one model and length, written by a process with a time limit."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]

# Seconds for loading and capturing, and for writing every page.
SECONDS = 600


def make(
    model: str,
    tokens: int,
    views: list[str],
    folder: Path,
    rivals: list[str],
    options: argparse.Namespace,
) -> Iterator[dict[str, Any]]:
    """The output of `benchmarks.browser.make` for each page, and the pages it did not reach.

    Args:
        rivals: the views of which BertViz's pages are made, too.
    """
    command = [sys.executable, "-m", "benchmarks.browser.make", model, str(tokens), str(folder),
               "--views", *views, "--models-folder", str(options.models_folder),
               "--rounds", str(options.rounds), "--rivals", *rivals]  # fmt: skip
    seen = set()
    # numpy reads it at its import, before `benchmarks.capture` could set it.
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=one_thread
    ) as process:
        timer = threading.Timer(SECONDS, process.kill)
        timer.start()
        assert process.stdout
        for line in process.stdout:
            page = json.loads(line)
            seen.add((page["subject"], page.get("view")))
            yield page
        timer.cancel()
    if ("attnwidget", views[-1]) not in seen:
        raise RuntimeError(f"no pages of {model} with {tokens} tokens: see what is printed above")
    for view in rivals:
        if ("bertviz", view) not in seen:
            yield {"subject": "bertviz", "view": view, "failed": f"not made in {SECONDS} s"}
