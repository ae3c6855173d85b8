"""Encoding of metrics and patterns of heads: our own, and a user's."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attnwidget.analysis import (
    METRICS,
    PATTERNS,
    SIGNED_METRICS,
    HeadScores,
    HeadSummary,
    Numbers,
    Rows,
    pattern_of,
)
from attnwidget.analysis.own_numbers import (
    LONGEST_NAME,
    by_stack,
    check_name,
    is_name,
    real_numbers,
)
from attnwidget.counted import counted
from attnwidget.record import AttentionRecord, Stack

Metrics = Mapping[str, "HeadScores | ArrayLike | Sequence[ArrayLike] | Mapping[str, Any]"]
"""By name, what measures heads returns; or numbers [layers, heads], by stack, or by field."""

HeadNumbers = dict[str, list[list[float | None]]]
"""By stack, by layer, of every head; None for no value."""

# The most decimals that a view can show.
_MAX_DIGITS = 20

# A view lists all of them.
_MAX_METRICS = 256

_OTHER_CHOICES = ("model", "pair", "pattern", "layer", "similarity", "none")

# By stack and layer, the number of every head; NaN for no value.
_Rows = dict[str, list[NDArray[np.float64]]]

# The fields of a metric with more than its values.
_FIELDS = ("values", "null", "null_label", "low", "high")
_NULL_LABEL = "null"


class Null(TypedDict):
    """The same number of heads that do not do what the metric measures.

    Attributes:
        label: what they are, as "random weights".
    """

    label: str
    values: HeadNumbers


class Interval(TypedDict):
    """The ends of a confidence interval of each value."""

    low: HeadNumbers
    high: HeadNumbers


class _Values(TypedDict):
    name: str
    label: str
    unit: str
    digits: int
    signed: bool
    directions: list[str] | None
    description: str
    values: HeadNumbers


class SentMetric(_Values, total=False):
    """A metric and its values, as JSON; see `analysis.Metric` for the other fields.

    Attributes:
        digits: the number of decimals shown.
        signed: True if zero has the middle colour.
        null, interval: missing if they are not known.
    """

    null: Null
    interval: Interval


def encode_metrics(summaries: Mapping[str, Sequence[Sequence[HeadSummary]]]) -> list[SentMetric]:
    """Encode the metrics of a record, each with the stacks for which it is defined.

    Args:
        summaries: by stack, by layer, of every head.
    """
    known = {name for layers in summaries.values() for name in layers[0][0].metrics}
    signed = {name: metric for name, metric in SIGNED_METRICS.items() if name in known}
    return [
        {
            "name": name,
            "label": metric.label,
            "unit": metric.unit,
            "digits": metric.digits,
            "signed": metric.directions is not None,
            "directions": None if metric.directions is None else list(metric.directions),
            "description": metric.description,
            "values": {
                stack: [[head.metrics[name] for head in heads] for heads in layers]
                for stack, layers in summaries.items()
                if name in layers[0][0].metrics
            },
        }
        for name, metric in {**METRICS, **signed}.items()
    ]


def encode_patterns(summaries: Mapping[str, Sequence[Sequence[HeadSummary]]]) -> dict[str, Any]:
    """Encode the patterns, and the index of every head's pattern by stack and layer."""
    return {
        "kinds": list(PATTERNS),
        "values": {
            stack: [[pattern_of(head.metrics) for head in heads] for heads in layers]
            for stack, layers in summaries.items()
        },
    }


def encode_own_metrics(record: AttentionRecord, metrics: Metrics) -> list[SentMetric]:
    """Check a user's metrics against the record, and encode them.

    Args:
        metrics: by name, HeadScores, of which a record of some layers takes those; or an array
            [layers, heads], or a list with the numbers of each layer, of the record's only stack;
            or such arrays by stack. NaN stands for no value, and fills the rows of layers with
            fewer heads. A dict has such numbers as "values", and may have the same number of a null
            as "null", which "null_label" names, and the ends of an interval as "low" and "high".

    Raises:
        TypeError: `metrics` is no mapping, a name is no string, or an array is not of real numbers.
        ValueError: a name is taken, a stack does not exist, an array has another shape, a number
            is infinite, or an interval has one end or ends before it begins.
    """
    if not isinstance(metrics, Mapping):
        raise TypeError(
            f"metrics is {type(metrics).__name__}; expected a dict of names and arrays "
            "[layers, heads], as {'my score': scores}"
        )
    if len(metrics) > _MAX_METRICS:
        raise ValueError(f"metrics has {len(metrics)} metrics; at most {_MAX_METRICS} can be shown")
    return [_own_metric(record, name, values) for name, values in metrics.items()]


def _own_metric(record: AttentionRecord, name: str, given: Any) -> SentMetric:
    check_name("metrics", name)
    if name in METRICS or name in _OTHER_CHOICES:
        raise ValueError(f"metric {name!r}: this name is taken; choose another")
    of_scores = isinstance(given, HeadScores)
    fields = _fields_of(record, name, given) if of_scores else _fields(record, name, given)
    rows = {
        field: _by_stack(record, name if field == "values" else f"{name}: {field}", fields[field])
        for field in ("values", "null", "low", "high")
        if field in fields
    }
    values = rows["values"]
    for field, others in rows.items():
        if others.keys() != values.keys():
            raise ValueError(
                f"metric {name!r} has values of {', '.join(values)}, but {field} of "
                f"{', '.join(others)}"
            )
    numbers = np.concatenate([row for each in values.values() for row in each] or [np.zeros(0)])
    known = numbers[~np.isnan(numbers)]
    sent: SentMetric = {
        "name": name,
        "label": name,
        "unit": given.unit if of_scores else "",
        "digits": digits_of(known),
        "signed": bool((known < 0).any()) or (of_scores and given.signed),
        "directions": None,
        "description": _described(given) if of_scores else "",
        "values": _sent_rows(values),
    }
    if "null" in rows:
        label = fields.get("null_label", _NULL_LABEL)
        if not is_name(label):
            raise ValueError(
                f"metric {name!r} has the null_label {label!r:.100}; expected 1 to {LONGEST_NAME} "
                "printable characters, as 'random weights'"
            )
        sent["null"] = {"label": label, "values": _sent_rows(rows["null"])}
    if "low" in rows:
        low, high = rows["low"], rows["high"]
        if any((a > b).any() for each in low for a, b in zip(low[each], high[each], strict=True)):
            raise ValueError(f"metric {name!r} has a low that is above its high")
        sent["interval"] = {"low": _sent_rows(low), "high": _sent_rows(high)}
    return sent


def _fields(record: AttentionRecord, name: str, given: Any) -> Mapping[str, Any]:
    """The fields of a metric: an array, or arrays by stack, are its values alone."""
    if not isinstance(given, Mapping) or "values" not in given or "values" in record.stacks:
        return {"values": given}
    fields = {field: value for field, value in given.items() if value is not None}
    for field in fields:
        if field not in _FIELDS:
            raise ValueError(f"metric {name!r} has {field!r}; there are {', '.join(_FIELDS)}")
    if ("low" in fields) != ("high" in fields):
        raise ValueError(f"metric {name!r} has one end of its interval; give low and high")
    return fields


def _fields_of(record: AttentionRecord, name: str, scores: HeadScores) -> Mapping[str, Any]:
    """The same of what measures heads, for the layers of this record."""
    for stack in set(scores.rows).intersection(record.stacks):
        rows = scores.rows[stack]
        own = {layer.number: layer.num_heads for layer in record.stack(stack).layers}
        # A record may have some layers alone, and rows may be filled with NaN.
        both = ((rows[layer], count) for layer, count in own.items() if layer in rows)
        if any(len(row) < count or not np.isnan(row[count:]).all() for row, count in both):
            heads = {layer: len(row) for layer, row in rows.items()}
            raise ValueError(
                f"metric {name!r} is of another model, with {_layers_of(heads)}; the record has "
                f"{_layers_of(own)}"
            )
    parts = {"values": scores.rows, "null": scores.null, "low": scores.low, "high": scores.high}
    fields = {name: _of_layers(record, rows) for name, rows in parts.items() if rows is not None}
    return fields | ({} if scores.null_label is None else {"null_label": scores.null_label})


def _layers_of(heads: Mapping[int, int]) -> str:
    """Describe the heads of layers: "30 layers of 9 heads", or "of 4 to 12"."""
    least, most = min(heads.values()), max(heads.values())
    of = f"{least} to {most} heads" if least < most else counted(most, "head")
    return f"{counted(len(heads), 'layer')} of {of}"


def _of_layers(record: AttentionRecord, rows: Rows) -> dict[str, list[Numbers]]:
    """The rows of the record's layers; NaN for layers that were not measured."""
    found = {stack: list(layers.values()) for stack, layers in rows.items()}
    for stack in record.stacks:
        if stack in rows:
            found[stack] = [
                rows[stack].get(layer.number, np.full(layer.num_heads, np.nan))
                for layer in record.stack(stack).layers
            ]
    return found


def _described(scores: HeadScores) -> str:
    return (
        f"{scores.description}; of {scores.measured_on}"
        if scores.measured_on
        else scores.description
    )


def _by_stack(record: AttentionRecord, name: str, values: Any) -> _Rows:
    """The numbers of every head, by stack and layer."""
    values = by_stack(record, f"metric {name!r}", values)
    return {
        stack: _rows(name, stack, record.stack(stack), values[stack])
        for stack in record.stacks
        if stack in values
    }


def _sent_rows(by_stack: _Rows) -> HeadNumbers:
    return {
        stack: [[sent_number(value) for value in row] for row in rows]
        for stack, rows in by_stack.items()
    }


def _rows(name: str, stack_name: str, stack: Stack, values: Any) -> list[NDArray[np.float64]]:
    """The numbers of every head, layer by layer."""
    what = f"metric {name!r} has a row of"
    rows = [real_numbers(what, row).astype(np.float64) for row in _listed(name, values)]
    heads = [layer.num_heads for layer in stack.layers]
    fits = len(rows) == len(heads) and all(
        row.ndim == 1 and len(row) >= count and np.isnan(row[count:]).all()
        for row, count in zip(rows, heads, strict=True)
    )
    if not fits:
        raise ValueError(
            f"metric {name!r} has {_shape([row.shape for row in rows])}; expected "
            f"{_shape([(count,) for count in heads])}: a number for every head of every layer of "
            f"{stack_name!r}"
        )
    rows = [row[:count] for row, count in zip(rows, heads, strict=True)]
    if any(np.isinf(row).any() for row in rows):
        raise ValueError(f"metric {name!r} has an infinite number; NaN stands for no value")
    return rows


def _listed(name: str, values: Any) -> list[Any]:
    # Iterating over a pandas DataFrame would give the names of its columns.
    values = values.to_numpy() if hasattr(values, "to_numpy") else values
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(
            f"metric {name!r} is {type(values).__name__}; expected an array [layers, heads]"
        )
    return [values] if getattr(values, "ndim", 2) == 0 else list(values)


def _shape(shapes: Sequence[tuple[int, ...]]) -> str:
    """Describe the shapes of rows: "the shape [6, 12]", or "rows of 4, 2, 3 numbers"."""
    if len(set(shapes)) == 1:
        return f"the shape {[len(shapes), *shapes[0]]}"
    counts = ", ".join("×".join(map(str, shape)) or "no" for shape in shapes)
    return f"rows of {counts} numbers" if shapes else "the shape [0]"


def digits_of(numbers: NDArray[np.float64]) -> int:
    """The decimals with which the largest has three significant digits; 0 for whole numbers."""
    if (numbers == np.round(numbers)).all():
        return 0
    exponent = math.floor(math.log10(np.abs(numbers).max()))
    return min(max(0, 2 - exponent), _MAX_DIGITS)


def sent_number(value: float) -> float | None:
    """A number as JSON: rounded, and None for NaN."""
    if math.isnan(value):
        return None
    return float(value) if value.is_integer() else float(f"{value:.9g}")
