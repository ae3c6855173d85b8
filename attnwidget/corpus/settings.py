"""Settings of a profile: metrics, nulls, batches and the seed, checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_args

from attnwidget.analysis import ALL_METRICS, SIGNED_METRICS, Metric
from attnwidget.arguments import entries

from .build import variability
from .copying import copying, copying_weights
from .measurement import Null
from .meter import MetricSet, OwnMetric
from .stack_profile import ProfileMetric

COPYING = ("copying", "copying_weights")
"""Metrics of repeated tokens that do not follow from the rows of their weights."""

_OF_ROWS: dict[str, Metric] = {**ALL_METRICS, **SIGNED_METRICS}

# Metrics that do not follow from the rows of one text, by name.
_FURTHER: dict[str, Callable[..., Any]] = {
    "copying": copying,
    "copying_weights": copying_weights,
    "variability": variability,
}


@dataclass(frozen=True)
class Settings:
    """The settings of a profile, checked.

    Attributes:
        names: the metrics, in order.
        own: the user's functions among them, by name.
        every: True if the user chose no metrics: those that cannot be measured are left out.
        nulls, batch_size, max_tokens, seed: see `attnwidget.profile`.
    """

    names: tuple[str, ...]
    own: Mapping[str, OwnMetric]
    every: bool
    nulls: tuple[Null, ...]
    batch_size: int
    max_tokens: int | None
    seed: int

    @cached_property
    def on_texts(self) -> MetricSet:
        """The metrics of texts."""
        return MetricSet(self._of_rows(repeated=False), self.own)

    @cached_property
    def on_repeated(self) -> MetricSet:
        """The metrics of repeated tokens."""
        return MetricSet(self._of_rows(repeated=True), {})

    def _of_rows(self, *, repeated: bool) -> dict[str, Metric]:
        known = {name: _OF_ROWS[name] for name in self.names if name in _OF_ROWS}
        return {name: metric for name, metric in known.items() if metric.repeated == repeated}

    @property
    def has_repeated(self) -> bool:
        """True if any metric is of repeated tokens."""
        return bool(self.on_repeated.names) or any(name in self.names for name in COPYING)

    def described(self, *, signed: bool) -> list[ProfileMetric]:
        """The metrics as readers see them.

        Args:
            signed: False if all layers have a softmax: of all metrics, some are of other layers.
        """
        left_out = SIGNED_METRICS if self.every and not signed else ()
        return [_described(name, self.own) for name in self.names if name not in left_out]


def metrics_of_rows(names: Iterable[str]) -> MetricSet:
    """The metrics of these names."""
    return MetricSet({name: _OF_ROWS[name] for name in names}, {})


def chosen_metrics(
    metrics: Iterable[str | OwnMetric] | None,
) -> tuple[tuple[str, ...], dict[str, OwnMetric]]:
    """The names of the metrics in order, and the user's functions by name.

    Raises:
        TypeError, ValueError: an entry is neither a metric's name nor a function with a name.
    """
    known = (*_OF_ROWS, *_FURTHER)
    if metrics is None:
        return known, {}
    names: list[str] = []
    own: dict[str, OwnMetric] = {}
    for entry in entries("metrics", metrics, "names and functions, as ['entropy']"):
        if isinstance(entry, str):
            if entry not in known:
                raise ValueError(
                    f"there is no metric {entry!r}; the metrics are {', '.join(known)}"
                )
            name = entry
        elif callable(entry):
            name = getattr(entry, "__name__", "")
            if not name.isidentifier() or name in known:
                raise ValueError(
                    f"a metric of your own is a function with a name of its own, not {name!r}: "
                    "def my_metric(weights, tokens): ..."
                )
            own[name] = entry
        else:
            raise TypeError(
                f"metrics has a {type(entry).__name__}; expected names of metrics and functions "
                "(weights, tokens) -> number"
            )
        if name in names:
            raise ValueError(f"metrics has {name!r} twice")
        names.append(name)
    if not names:
        raise ValueError("metrics is empty; give names of metrics, or None for all")
    return tuple(names), own


def chosen_nulls(null: Null | Iterable[Null] | None) -> tuple[Null, ...]:
    """The nulls in order; none for None.

    Raises:
        TypeError, ValueError: an entry is no null, or there twice.
    """
    if null is None:
        return ()
    given = (null,) if isinstance(null, str) else null
    chosen = tuple(entries("null", given, "a name, several, or None"))
    for name in chosen:
        if name not in get_args(Null):
            expected = ", ".join(map(repr, get_args(Null)))
            raise ValueError(f"null is {name!r}; expected {expected}, several of them, or None")
    if len(set(chosen)) < len(chosen):
        raise ValueError(f"null has a name twice: {', '.join(chosen)}")
    return chosen


def _described(name: str, own: Mapping[str, Callable[..., Any]]) -> ProfileMetric:
    if name in _OF_ROWS:
        metric = _OF_ROWS[name]
        return ProfileMetric(name, metric.label, metric.unit, metric.description)
    function = own[name] if name in own else _FURTHER[name]
    description = " ".join((function.__doc__ or "").split("\n\n")[0].split())
    return ProfileMetric(name, name.replace("_", " "), "", description)
