"""The measured cases: a view of a model at a length."""

from __future__ import annotations

from typing import NamedTuple


class Case(NamedTuple):
    view: str
    model: str
    tokens: int


PAGES = [
    Case("head", "minilm", 32),
    Case("head", "minilm", 128),
    Case("model", "minilm", 128),
    Case("neuron", "minilm", 128),
    Case("head", "minilm", 512),
    Case("head", "smollm2", 128),
    Case("head", "smollm2", 2048),
    Case("model", "smollm2", 2048),
    Case("neuron", "smollm2", 2048),
    Case("head", "smollm2-layer", 512),
    Case("head", "smollm2-layer", 4096),
]
# Cases in which BertViz's page is not opened: 60 Hz is to hold in every view, at every length.
SMOOTH = [
    *(Case(view, "minilm", 8) for view in ("head", "model", "neuron")),
    Case("model", "minilm", 32),
    Case("neuron", "minilm", 32),
    Case("model", "minilm", 512),
    Case("neuron", "minilm", 512),
    *(Case(view, "smollm2", 32) for view in ("head", "model", "neuron")),
    Case("model", "smollm2", 128),
    Case("neuron", "smollm2", 128),
]
# What our page shows instead of attention, by the name of its subject: a weighting, or B − A of two
# records.
READINGS = {"values": "value-weighted", "scores": "scores", "difference": "B − A"}


def readings(case: Case) -> list[str]:
    """The readings in which a case is measured beside attention."""
    if case.model != "minilm" or case.tokens < 32:
        return []
    # The neuron view has no weightings.
    return ["difference"] if case.view == "neuron" else list(READINGS)


QUICK = [Case(view, "minilm", 32) for view in ("head", "model", "neuron")]

# Cases in which only the bytes are counted.
BYTES = [("smollm2", 512), ("mpnet", 128), ("mpnet", 512)]
