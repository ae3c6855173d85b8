"""The page about coverage."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import torch
import transformers

from .result import EXACT, Category, Labels, Result

# The headings of the parts that `--images` and `benchmarks.interventions` write, the last ones.
IMAGES = "## Images"
INTERVENTIONS = "## Interventions"

_MEANING = {
    Category.EXACT: f"every layer equals the model's own eager attention to {EXACT:g}",
    Category.PARTIAL: "likewise, beside modules that capture names as having no softmax attention "
    "(hashed, Fourier, long convolutions)",
    Category.NO_REFERENCE: "the model returns no attention; every captured layer passes its check",
    Category.WRONG_REFERENCE: "what the model returns is not its attention; likewise",
    Category.NO_ATTENTION: "the model has no softmax attention",
    Category.MISS: "some attention is missing, off or not checked, and capture says so",
    Category.SILENT: "capture is wrong or changes the model, and does not say so",
    Category.NOT_BUILT: "no tiny model of it can be built here",
}

_HARD = """\
The same models with eager attention, where lengths do not tell what is what: two items of other
words at once, of which the first is padded; source and target equally long, and as long as there
are heads, where the model runs on so few tokens. Of each item, the layer that equals what the model
returns as its attention must be labelled with the item's own tokens of the right side."""

_LABELS = {
    Labels.RIGHT: "every layer equals that of its item, and has the words of its side",
    Labels.NOT_RUN: "the model does not run on such inputs, or returns no attention of items",
    Labels.POSITIONS: "likewise, with positions in place of some words",
    Labels.ASSUMED: 'other words, and the record says that its labels are "assumed"',
    Labels.REFUSED: "refused, or named as missing or not exact",
    Labels.WRONG: "the layer of another stack, axis or item, or other words, without a word",
}

# How bands are recorded, and why the rest is not.
_REFUSED = """\
Longformer, LED, the encoder of Pegasus-X and Reformer's local layers attend within bands, blocks or
chunks. Their weights are put into whole matrices, with a column for every token. Without global
tokens, these layers have queries and keys like any other; so have those of Pegasus-X, whose own
global tokens come first. Where some tokens of a text are global in Longformer or LED, these have
queries, keys and values of other projections, and one matrix would need two of each: such layers
are weights alone. BigBird ran on a short text here, where it attends to all keys; over long texts,
its blocks are weights alone, too.

Deformable attention averages values at points between the cells of feature maps. Its layers are
weights alone, with a column for every cell, whose rows sum to less than 1 where points are outside;
weights times values are compared with the model's own outputs.

Linear attention, recurrences (the delta rule, Mamba) and gated convolutions give every value a
signed coefficient, which is no weight: these layers are in a stack of their own, without a softmax
([what is captured](guide/linear.md)), and are compared with what their functions return.

What is left is refused for what it computes. Reformer's other layers (LSH) take a softmax over the
keys that random hashes sort into the chunk of a query, in rounds that are added up: other random
numbers give other keys."""


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
            f"Of the modules of these models that mix tokens, {sum(map(_layers, results)):,} are "
            f"captured, and {sum(r.others for r in results):,}, which are no softmax, are named "
            "as missing.",
            "",
            *_of_labels(results),
            *_section("Misses", by_category[Category.SILENT] + by_category[Category.MISS]),
            *_section("Partial", by_category[Category.PARTIAL]),
            _REFUSED,
            "",
            *_section("Remarks", [r for r in by_category[Category.EXACT] if r.reason]),
            *_wrong(results),
            *_captured(results),
            *_section("Not built", by_category[Category.NOT_BUILT]),
            *_section("No attention", by_category[Category.NO_ATTENTION]),
        ]
    )


def _of_labels(results: Sequence[Result]) -> list[str]:
    compared = [result for result in results if result.category is not Category.NOT_BUILT]
    counts = Counter(result.labels for result in compared)
    rows = [
        (result.name, result.labels.value, result.labels_reason)
        for kind in (Labels.WRONG, Labels.REFUSED, Labels.ASSUMED, Labels.POSITIONS)
        for result in compared
        if result.labels is kind
    ]
    return [
        "## Stacks, axes and labels",
        "",
        _HARD,
        "",
        *table(
            ("", "architectures", "meaning"),
            [(each.value, str(counts[each]), _LABELS[each]) for each in Labels],
        ),
        *table(("architecture", "", "first cause"), rows),
    ]


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
            f"{_layers(r)}/{_layers(r) + r.others}",
            ", ".join(r.routes),
            f"{r.matched}/{r.references}" if r.references else "",
            "" if r.error is None else f"{r.error:.1e}",
        )
        for r in results
        if r.stacks
    ]
    head = (
        "architecture",
        "",
        "stacks (layers)",
        "of all that mix",
        "routes",
        "equal",
        "largest error",
    )
    return ["## All architectures", "", *table(head, rows)]


def _layers(result: Result) -> int:
    """The number of captured layers."""
    return sum(int(stack.rpartition("(")[2].rstrip(")")) for stack in result.stacks)


def parts(page: str) -> tuple[str, str, str]:
    """The parts of a page about captures, about images, and about interventions."""
    rest, heading, interventions = page.partition(INTERVENTIONS)
    captures, images_heading, images = rest.partition(IMAGES)
    return captures, images_heading + images, heading + interventions


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    escaped = ([cell.replace("|", "\\|") for cell in line] for line in lines)
    return [*(f"| {' | '.join(line)} |" for line in escaped), ""]
