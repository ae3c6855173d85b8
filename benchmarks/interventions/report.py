"""The part about interventions on the page about coverage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import median

import torch
import transformers

from benchmarks import zoo
from benchmarks.coverage.report import INTERVENTIONS, table

from .result import Result, Verdict

_WHAT = {
    "off": "a head is off",
    "cut": "an edge is cut",
    "gradients": "gradients",
    "values": "values",
}

_MEANING = {
    "off": "equal, bit by bit, to zeros in the head's columns of the output projection, "
    "at the head and at the projection",
    "cut": "equal to eager attention with that score at -inf, to 1e-5 of the largest output, "
    "beyond ten times what the two are apart without a change",
    "gradients": "by the head's output: equal to the sum of weights times gradients, to 1e-4, and "
    "to the gradient by the projection's own columns or to differences of the loss, to 1e-3",
    "values": "of every layer: their outputs equal those of the model's own projections",
}


def markdown(results: Iterable[Result]) -> str:
    everything = sorted(results, key=lambda result: result.name)
    built = [result for result in everything if result.built]
    total, run = len(zoo.names()), len(everything)
    left = f" Of {total} architectures, {run} were run." if run < total else ""
    return "\n".join(
        [
            INTERVENTIONS,
            "",
            f"The first layer of every stack of {len(built)} architectures with softmax attention, "
            f"with transformers {transformers.__version__} and torch {torch.__version__} on the "
            "CPU, beside the same by other ways; afterwards, parameters, buffers, hooks, modes "
            f"and outputs are as before.{left} Written by "
            "`python -m benchmarks.interventions --write`.",
            "",
            *_counts(built),
            *_errors(built),
            *_causes(built),
            "### All architectures, changed",
            "",
            *table(
                ("architecture", *_WHAT.values()),
                [(r.name, *(r.verdicts[what].value for what in _WHAT)) for r in built],
            ),
        ]
    )


def _counts(built: Sequence[Result]) -> list[str]:
    rows = []
    for what, title in _WHAT.items():
        counts = Counter(result.verdicts[what] for result in built)
        compared = len(built) - counts[Verdict.NO_REFERENCE]
        equal = counts[Verdict.EQUAL]
        others = [str(counts[each]) for each in list(Verdict)[1:]]
        share = f"{equal} of {compared} ({100 * equal / max(compared, 1):.1f}%)"
        rows.append((title, share, *others, _MEANING[what]))
    head = ("", "equal", *(each.value for each in list(Verdict)[1:]), "meaning")
    return table(head, rows)


def _errors(built: Sequence[Result]) -> list[str]:
    """The sizes of the errors, and what has no slope."""
    rows = []
    for what, label in (
        ("cut", "cut edge, of the largest output"),
        ("sums", "sum of weights times gradients"),
        ("projection", "gradient by the projection's columns"),
        ("differences", "difference of the loss"),
    ):
        errors = [dict(result.errors)[what] for result in built if what in dict(result.errors)]
        if errors:
            cells = (f"{median(errors):.0e}", f"{max(errors):.0e}", str(len(errors)))
            rows.append((label, *cells))
    jumps = [
        result.name
        for result in built
        if result.gradients is Verdict.EQUAL and dict(result.errors).get("differences", 0) > 1e-3
    ]
    note = [
        "Gradients of these equal those of the model's own code by the columns of the projection, "
        "but not differences of the loss, which jumps or bends there, as where experts are chosen: "
        f"{', '.join(jumps)}.",
        "",
    ]
    head = ("largest error of an architecture, relative", "median", "largest", "architectures")
    return [*table(head, rows), *(note if jumps else [])]


def _causes(built: Sequence[Result]) -> list[str]:
    """The architectures of each reason."""
    reasons: dict[str, list[str]] = {}
    for result in built:
        for reason in result.reasons:
            reasons.setdefault(reason, []).append(result.name)
    rows = [(reason, ", ".join(names)) for reason, names in reasons.items()]
    ordered = sorted(rows, key=lambda row: (row[0].startswith("no reference"), row[0]))
    return [
        "### What is not compared or not equal",
        "",
        *table(("cause", "architectures"), ordered),
    ]
