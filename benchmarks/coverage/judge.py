"""The verdict on a comparison of a record with the model's own attention."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from attnwidget import AttentionRecord
from attnwidget.capture.explain_softmax import OF_MAPS
from benchmarks import zoo
from benchmarks.reference import not_a_softmax

from .match import Captured, Match
from .result import Category

# The reason in a record for a module without softmax attention.
NO_SOFTMAX = "no softmax"


def judge(
    record: AttentionRecord, matches: Sequence[Match], *, returned: bool, sinks: bool
) -> tuple[Category, str]:
    """The category and its reason.

    Args:
        record: what was captured.
        matches: every trusted reference with its layer.
        returned: whether the model returns any attention at all.
        sinks: whether a part of each row may go to no position.
    """
    lost = [m for m in matches if not m.exact]
    silent = [
        f"{m.captured.name} differs from {m.reference} by {m.error:.1e}"
        for m in lost
        if m.captured is not None and m.captured.exact
    ]
    silent.extend(
        f"{layer.name} counts as exact, but is not whole: {why}"
        for layer in Captured.all_of(record)
        if layer.exact
        # Points that lie outside of feature maps have no key.
        and (why := not_a_softmax(layer.weights, sinks or layer.route == OF_MAPS))
    )
    if silent:
        return Category.SILENT, "; ".join(silent)
    reasons = [
        f"{m.reference} " + ("has no layer" if m.captured is None else f"is off by {m.error:.1e}")
        for m in lost
    ]
    compared = {m.captured.name for m in matches if m.captured is not None}
    reasons.extend(_unsure(record, compared))
    reasons.extend(_grouped(missing for missing in record.missing if NO_SOFTMAX not in missing))
    other = _grouped(missing for missing in record.missing if NO_SOFTMAX in missing)
    if reasons:
        return Category.MISS, "; ".join([*reasons, *other])
    if other:
        return Category.PARTIAL, "; ".join(other)
    if matches:
        return Category.EXACT, ""
    return (Category.WRONG_REFERENCE if returned else Category.NO_REFERENCE), ""


def _grouped(missing: Iterable[str]) -> list[str]:
    """Modules with the same reason as one."""
    modules: dict[str, list[str]] = {}
    for module, _, reason in (one.partition(": ") for one in missing):
        modules.setdefault(reason, []).append(module)
    return [
        f"{first}{f' and {len(rest)} more' if rest else ''}: {reason}"
        for reason, (first, *rest) in modules.items()
    ]


def _unsure(record: AttentionRecord, compared: set[str]) -> list[str]:
    """Layers without a reference that do not pass their own check, or have none."""
    return [
        f"{layer.name} "
        + ("fails its own check" if layer.exact is False else "could not be checked")
        for layer in Captured.all_of(record)
        if not layer.exact and layer.name not in compared
    ] + [
        f"{stack} {layer.number}, without a softmax, fails its own check"
        for stack in record.stacks
        for layer in record.stack(stack).layers
        if layer.signed and not layer.fidelity.exact
    ]


def one_line(error: object) -> str:
    text = " ".join(str(error).split())
    # Paths of packages differ between machines.
    text = re.sub(r"'[^']*site-packages/", "'", text)
    plain = isinstance(error, (zoo.CannotBuild, Warning)) or not isinstance(error, Exception)
    return (text if plain else f"{type(error).__name__}: {text}")[:300]
