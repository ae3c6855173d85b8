"""The steps from a model and texts to a profile."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch

from attnwidget.analysis import ALL_METRICS
from attnwidget.capture.missing import no_attention
from attnwidget.capture.model import name_of, traceable
from attnwidget.capture.sequences import Sequences
from attnwidget.capture.stacks import Group, is_cross, tower
from attnwidget.progress import end_asked, on_step, step_done
from attnwidget.record import Floats, Tokens

from .batches import Batches, Text, TextBatch, first_text, shuffled
from .build import Condition, build_stacks
from .copying import copying, copying_weights
from .forward import read_attention
from .head_profile import HeadProfile
from .measurement import Measurement, MetricSet, OwnMetric, Place
from .nulls import Null, check_null, with_random_weights
from .projections import find_projections
from .repeated import repeated_tokens
from .stack_profile import ProfileMetric
from .texts import Texts
from .variability import variability

# Metrics that do not follow from the rows of one text, by name.
_FURTHER: dict[str, Callable[..., Any]] = {
    "copying": copying,
    "copying_weights": copying_weights,
    "variability": variability,
}

# Those of them that are measured on repeated tokens.
_COPYING = ("copying", "copying_weights")

# With more texts than twice those that examples need, the others are dropped.
_FEWEST_TEXTS = 256


def profile_texts(
    model: torch.nn.Module,
    tokenizer: Any,
    texts: Texts,
    *,
    metrics: Iterable[str | OwnMetric] | None,
    null: Null | None,
    batch_size: int,
    max_tokens: int | None,
    seed: int,
) -> HeadProfile:
    """See `attnwidget.profile`."""
    model = traceable(model)
    check_null(null)
    if type(seed) is not int or seed < 0:
        raise ValueError(f"seed is {seed!r}; expected a number from 0")
    names, own = chosen_metrics(metrics)
    batches = Batches(model, tokenizer, texts, batch_size, max_tokens)
    repeated, missing = None, []
    if any(name in _COPYING or _is_repeated(name) for name in names):
        try:
            repeated = repeated_tokens(model, tokenizer, seed)
        except ValueError as error:
            if metrics is not None:
                raise
            missing.append(f"repeated tokens: {error}")
    readers = [_Reader(model, None, names, own, seed)]
    if null is not None:
        other = with_random_weights(model, seed) if null == "random weights" else model
        readers.append(_Reader(other, seed if null == "shuffled" else None, names, own, seed))
    sources: dict[int, str | tuple[str, ...]] = {}
    count, most = 0, _FEWEST_TEXTS
    for batch in batches:
        for reader in readers:
            reader.read(batch)
        for text in batch.texts:
            sources[text.index] = text.source or text.tokens.labels
            count += 1
            step_done()
        if end_asked():
            break
        if len(sources) > most:
            sources = readers[0].condition.texts.needed(sources)
            most = max(_FEWEST_TEXTS, 2 * len(sources))
    if not count:
        raise ValueError("there are no texts, or none with tokens but special ones")
    if repeated is not None:
        # The steps are texts.
        with on_step(lambda: None):
            for reader in readers:
                reader.read_repeated(repeated)
    first = readers[0].condition
    if not first.texts.layers:
        raise ValueError(no_attention(model, list(first.texts.missing)))
    missing += first.texts.missing
    if batches.empty:
        missing.append(f"texts: {batches.empty:,} have no tokens but special ones")
    return HeadProfile(
        build_stacks(first, readers[1].condition if null is not None else None, names, seed),
        model=name_of(model),
        null=null,
        num_texts=count,
        seed=seed,
        max_tokens=max_tokens,
        metrics=[_described(name, own) for name in names],
        missing=missing,
        texts=first.texts.needed(sources),
    )


def _is_repeated(name: str) -> bool:
    return name in ALL_METRICS and ALL_METRICS[name].repeated


class _Reader:
    """Measures the texts of one condition.

    Args:
        model: the model, or one with random weights.
        shuffle: the seed of the order of tokens; None to leave it.
        names, own: the metrics.
        seed: of the bootstrap.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        shuffle: int | None,
        names: list[str],
        own: dict[str, OwnMetric],
        seed: int,
    ) -> None:
        rows = {name: ALL_METRICS[name] for name in names if name in ALL_METRICS}
        on_texts = {name: metric for name, metric in rows.items() if not metric.repeated}
        on_repeated = {name: metric for name, metric in rows.items() if metric.repeated}
        self.condition = Condition(
            Measurement(MetricSet(on_texts, own), seed),
            Measurement(MetricSet(on_repeated, {}), seed),
        )
        self._model = model
        self._shuffle = shuffle
        self._names = names

    def read(self, batch: TextBatch) -> None:
        self._measure(batch, self.condition.texts)

    def read_repeated(self, batch: TextBatch) -> None:
        if self.condition.repeated.metrics.names:
            self._measure(batch, self.condition.repeated)
        if not any(name in self._names for name in _COPYING):
            return
        projections = find_projections(self._model, first_text(batch))
        if "copying" in self._names:
            shares = copying(self._model, self._changed(batch), projections)
            self.condition.copying.update(shares)
        if "copying_weights" in self._names:
            found = copying_weights(self._model, projections)
            self.condition.copying_weights.update({p: {0: values} for p, values in found.items()})

    def _changed(self, batch: TextBatch) -> TextBatch:
        return batch if self._shuffle is None else shuffled(batch, self._shuffle)

    def _measure(self, batch: TextBatch, measurement: Measurement) -> None:
        batch = self._changed(batch)

        def receive(place: Place, row: int, weights: Floats) -> None:
            text = batch.texts[row]
            queries, keys = _sides(place.module, text, (weights.shape[1], weights.shape[2]))
            measurement.add(place, text.index, weights, queries, keys)

        for reason in read_attention(self._model, batch, receive):
            measurement.missing[reason] = None
        measurement.finish()


def _sides(module: str, text: Text, shape: tuple[int, int]) -> tuple[Tokens, Tokens]:
    """The tokens of the queries and of the keys; the same object if they are one sequence."""
    group = Group(tower(module), is_cross(module))
    sequences = Sequences(text.tokens, text.target)
    queries = sequences.tokens(group, "query", shape[0])
    if not group.cross and shape[0] == shape[1]:
        return queries, queries
    return queries, sequences.tokens(group, "key", shape[1])


def chosen_metrics(
    metrics: Iterable[str | OwnMetric] | None,
) -> tuple[list[str], dict[str, OwnMetric]]:
    """The names of the metrics in order, and the user's functions by name.

    Raises:
        TypeError, ValueError: an entry is neither a metric's name nor a function with a name.
    """
    known = [*ALL_METRICS, *_FURTHER]
    if metrics is None:
        return known, {}
    if isinstance(metrics, str):
        raise TypeError(f"metrics is a string; give a list, such as [{metrics!r}]")
    names: list[str] = []
    own: dict[str, OwnMetric] = {}
    for entry in metrics:
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
    return names, own


def _described(name: str, own: dict[str, Callable[..., Any]]) -> ProfileMetric:
    if name in ALL_METRICS:
        metric = ALL_METRICS[name]
        return ProfileMetric(name, metric.label, metric.unit, metric.description)
    function = own[name] if name in own else _FURTHER[name]
    description = " ".join((function.__doc__ or "").split("\n\n")[0].split())
    return ProfileMetric(name, name.replace("_", " "), "", description)
