"""The page about coverage."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import torch
import transformers

from .result import EXACT, Category, Result

# The heading of the part that `benchmarks.interventions` writes, the last one.
INTERVENTIONS = "## Interventions"

_MEANING = {
    Category.EXACT: f"every layer equals the model's own eager attention to {EXACT:g}",
    Category.PARTIAL: "likewise, beside modules that capture names as having no softmax attention "
    "(linear, deformable, sampled)",
    Category.NO_REFERENCE: "the model returns no attention; every captured layer passes its check",
    Category.WRONG_REFERENCE: "what the model returns is not its attention; likewise",
    Category.NO_ATTENTION: "the model has no softmax attention",
    Category.MISS: "some attention is missing, off or not checked, and capture says so",
    Category.SILENT: "capture is wrong or changes the model, and does not say so",
    Category.NOT_BUILT: "no tiny model of it can be built here",
}


# Of the misses.
_BANDS = """\
Longformer, LED and the encoder of Pegasus-X attend within bands or blocks, and to global tokens
beside them. A [record](format.md) has one query and one key per token and a rule for what is
hidden, so that its size grows with the text and not with its square. Bands without global tokens
would fit that (the mask "window"), but these models compute them in overlapping chunks, whose
columns are distances, and capture does not follow them. Global tokens do not fit: those of
Longformer and LED have queries, keys and values of their own projections, so that one matrix
would need two of each, and those of Pegasus-X stand beside every block, where a record has blocks
alone. Only all T × T weights would hold them."""


def markdown(results: Sequence[Result]) -> str:
    counts = Counter(result.category for result in results)
    by_category = defaultdict(list)
    for result in results:
        by_category[result.category].append(result)
    return "\n".join(
        [
            "# Coverage",
            "",
            f"Every architecture of transformers {transformers.__version__}, as a tiny random "
            f"model in its default form, captured with torch {torch.__version__} on the CPU. "
            "Written by `python -m benchmarks.coverage --write`.",
            "",
            *table(
                ("", "architectures", "meaning"),
                [(c.value, str(counts[c]), _MEANING[c]) for c in Category],
            ),
            *_section("Misses", by_category[Category.SILENT] + by_category[Category.MISS]),
            "",
            _BANDS,
            "",
            *_section("Partial", by_category[Category.PARTIAL]),
            *_section("Remarks", [r for r in by_category[Category.EXACT] if r.reason]),
            *_wrong(results),
            *_captured(results),
            *_section("Not built", by_category[Category.NOT_BUILT]),
            *_section("No attention", by_category[Category.NO_ATTENTION]),
        ]
    )


def _section(title: str, results: Iterable[Result]) -> list[str]:
    rows = [(r.name, r.reason) for r in results]
    return [f"## {title}", "", *table(("architecture", "cause"), rows)] if rows else []


def _wrong(results: Iterable[Result]) -> list[str]:
    rows = [(r.name, field, why) for r in results for field, why in r.wrong]
    return [
        "## Where transformers' own answer is not the attention",
        "",
        *table(("architecture", "field", "because"), rows),
    ]


def _captured(results: Iterable[Result]) -> list[str]:
    rows = [
        (
            r.name,
            r.category.value,
            ", ".join(r.stacks),
            ", ".join(r.routes),
            f"{r.matched}/{r.references}" if r.references else "",
            "" if r.error is None else f"{r.error:.1e}",
        )
        for r in results
        if r.stacks
    ]
    head = ("architecture", "", "stacks (layers)", "routes", "equal", "largest error")
    return ["## All architectures", "", *table(head, rows)]


def parts(page: str) -> tuple[str, str]:
    """The part of a page about captures, and that about interventions."""
    captures, heading, rest = page.partition(INTERVENTIONS)
    return captures, heading + rest


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    escaped = ([cell.replace("|", "\\|") for cell in line] for line in lines)
    return [*(f"| {' | '.join(line)} |" for line in escaped), ""]
