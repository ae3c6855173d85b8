"""python -m benchmarks.interventions.decoders [NAME ...] [--write]: lens and parts of a logit."""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# All models are built from configurations; nothing may be downloaded.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

import numpy as np
import torch

import attnwidget as aw
from benchmarks import zoo
from benchmarks.coverage.__main__ import PAGE
from benchmarks.coverage.judge import one_line
from benchmarks.coverage.report import table

DECODERS = "## Logit lens and parts of a logit"
_EXACT = 1e-5
_EQUAL = "equal"


@dataclass(frozen=True)
class Result:
    """The result of a decoder: "equal", or what is off or refused; the modules that write to its
    stream beside heads; and its soft cap."""

    name: str
    lens: str
    parts: str
    modules: tuple[str, ...] = ()
    cap: float | None = None


def examine(name: str) -> Result | None:
    """The last row of the lens, and the sum of parts, beside the model's own logits."""
    try:
        built = zoo.build_decoder(name)
    except zoo.CannotBuild:
        return None
    with torch.no_grad():
        own = built.model(**built.inputs).logits[0].double()
    logs = torch.log_softmax(own, dim=-1).max(dim=-1).values.numpy()
    try:
        rows = aw.logit_lens(built.model, None, built.inputs).log_probabilities
        error = float(np.abs(rows[-1] - logs).max())
        lens = _EQUAL if error <= _EXACT else f"off by {error:.1e}"
    except (ValueError, IndexError) as refused:
        lens = f"refused: {one_line(refused)}"
    try:
        found = aw.logit_attribution(built.model, None, built.inputs, token=7, total=False)
    except ValueError as refused:
        return Result(name, lens, f"refused: {one_line(refused)}")
    bent = found.sum if found.cap is None else found.cap * float(np.tanh(found.sum / found.cap))
    error = max(abs(bent - float(own[-1, 7])), abs(found.rounding))
    parts = _EQUAL if error <= _EXACT else f"off by {error:.1e}"
    return Result(name, lens, parts, tuple(found.modules), found.cap)


def markdown(results: Sequence[Result]) -> str:
    caps = ", ".join(each.name for each in results if each.cap is not None)
    counts = {what: sum(getattr(r, what) == _EQUAL for r in results) for what in ("lens", "parts")}
    return "\n".join(
        [
            DECODERS,
            "",
            f"Of {len(results)} decoders, in float32: the last row of `logit_lens` is the model's "
            f"own prediction in {counts['lens']}, and the parts of `logit_attribution` sum to the "
            f"model's own logit in {counts['parts']}, both to {_EXACT:.0e}, what rounding adds "
            "included; the others are refused by name. In a model with a soft cap, the parts are "
            f"of the logit before it ({caps}). Written by "
            "`python -m benchmarks.interventions.decoders --write`.",
            "",
            *table(("decoder", "lens", "parts", "modules that write beside heads"), _rows(results)),
        ]
    )


def _rows(results: Iterable[Result]) -> list[tuple[str, ...]]:
    return [
        (r.name, r.lens, r.parts, ", ".join(f"`{each}`" for each in r.modules)) for r in results
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="model types; all if none")
    parser.add_argument("--write", action="store_true", help=f"write its part of {PAGE.name}")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    results = []
    for name in options.names or zoo.decoders():
        result = examine(name)
        if result is not None:
            results.append(result)
            print(result, flush=True)
    if options.write:
        before = PAGE.read_text(encoding="utf-8").partition(DECODERS)[0].rstrip()
        PAGE.write_text(f"{before}\n\n{markdown(results)}", encoding="utf-8")


if __name__ == "__main__":
    main()
