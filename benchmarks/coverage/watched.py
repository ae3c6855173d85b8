"""Capture of a model, with a check that its output does not change."""

from __future__ import annotations

from typing import Any

import torch

from attnwidget import AttentionRecord, capture
from benchmarks import zoo

from . import outputs


def capture_watched(built: zoo.Built) -> tuple[AttentionRecord, str]:
    """The record, and what the capture changed in the model's outputs, if anything."""
    during: list[Any] = []
    before = run(built)
    handle = built.model.register_forward_hook(lambda module, args, out: during.append(out))
    try:
        torch.manual_seed(0)
        record = capture(built.model, None, built.inputs)
    finally:
        handle.remove()
    if not during:
        return record, "the model was not called during capture"
    # Earlier passes, if any, read the model's structure from changed inputs.
    for when, output in ("during", during[-1]), ("after", run(built)):
        if what := outputs.changed(before, output):
            return record, f"outputs change {when} capture: {what}"
    return record, ""


def run(built: zoo.Built) -> Any:
    """The model's output. Some models draw random numbers: always the same ones here."""
    torch.manual_seed(0)
    with torch.no_grad():
        return built.model(**built.inputs)
