"""Measurement of texts with a model and with its nulls, a shard of texts at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

from attnwidget.capture import read_attention
from attnwidget.progress import end_asked, on_step, step_done
from attnwidget.record import Floats, magnitude_shares
from attnwidget.running.batches import Batches, TextBatch, first_text, shuffled
from attnwidget.running.missing import no_attention
from attnwidget.running.model import before_text, name_of, traceable
from attnwidget.running.random_weights import with_random_weights
from attnwidget.running.sequences import Sequences
from attnwidget.running.stacks import Group, kind_of
from attnwidget.running.texts import Shard
from attnwidget.tracing import CallId

from .copying import copying, copying_weights, find_projections
from .measurement import Measured, Measurement, ModelIdentity, Reading
from .meter import Meter, MetricSet
from .repeated import repeated_tokens
from .settings import COPYING, Settings

# With more texts than twice those that examples need, the others are dropped.
_FEWEST_TEXTS = 256

# The numbers of each parameter by which models are told apart.
_COMPARED = 64


@dataclass(frozen=True)
class Repeated:
    """The measurements of repeated tokens by the model, and by the nulls that read texts.

    Attributes:
        missing: the reason why there are none; "" if there are.
    """

    by_reading: dict[Reading, Measurement]
    missing: str


class Profiler:
    """Measures texts with a model, and with the nulls of it that read texts.

    Raises:
        TypeError: the model is none.
        ValueError: there are no repeated tokens, which the chosen metrics need; or a null cannot
            be made.
    """

    def __init__(self, model: torch.nn.Module, tokenizer: Any, settings: Settings) -> None:
        self._model = traceable(model)
        self._settings = settings
        self._batches = Batches(self._model, tokenizer, settings.batch_size, settings.max_tokens)
        self._repeated, self._missing = None, ""
        if settings.has_repeated:
            try:
                self._repeated = repeated_tokens(self._model, tokenizer, settings.seed)
            except ValueError as error:
                if not settings.every:
                    raise
                self._missing = f"repeated tokens: {error}"
        self._identity = ModelIdentity(name_of(self._model), digest_of(self._model))
        # The models that read texts.
        self._models: dict[Reading, torch.nn.Module] = {None: self._model}
        if "random weights" in settings.nulls:
            self._models["random weights"] = with_random_weights(self._model, settings.seed)
        if "shuffled" in settings.nulls:
            self._models["shuffled"] = self._model

    def measured(self, shards: Iterable[Shard]) -> Iterator[tuple[Shard, Measured]]:
        """The measurements of each shard."""
        for shard in shards:
            yield shard, self.measure(shard)

    def measure(self, shard: Shard) -> Measured:
        """The measurements of the texts of a shard.

        Raises:
            ValueError: no attention of the model can be read; or a text is too long for it.
        """
        metrics = self._settings.on_texts
        by_reading = {reading: self._new(metrics) for reading in self._models}
        measured = Measured(self._identity, by_reading)
        own, most = measured.own, _FEWEST_TEXTS
        for batch in self._batches.of(shard):
            for reading, measurement in by_reading.items():
                self._read(batch, reading, metrics, measurement)
            for text in batch.texts:
                measured.sources[text.index] = text.source or text.tokens.labels
                measured.count += 1
                step_done()
            if len(measured.sources) > most:
                measured.sources = own.needed(measured.sources)
                most = max(_FEWEST_TEXTS, 2 * len(measured.sources))
            if end_asked():
                break
        else:
            measured.empty = shard.count - measured.count
        if measured.count and not own.layers:
            raise ValueError(no_attention(self._model, own.missing))
        measured.sources = own.needed(measured.sources)
        return measured

    def repeated(self) -> Repeated:
        """The measurements of repeated tokens."""
        # The steps are texts.
        with on_step(lambda: None):
            return Repeated(
                {reading: self._on_repeated(reading) for reading in self._models}, self._missing
            )

    def _new(self, metrics: MetricSet) -> Measurement:
        return Measurement(metrics.names, self._settings.seed)

    def _on_repeated(self, reading: Reading) -> Measurement:
        settings, model = self._settings, self._models[reading]
        found = self._new(settings.on_repeated)
        if self._repeated is None:
            return found
        if settings.on_repeated.names:
            self._read(self._repeated, reading, settings.on_repeated, found)
        if any(name in settings.names for name in COPYING):
            batch = self._changed(self._repeated, reading)
            projections = find_projections(model, first_text(self._repeated))
            if "copying" in settings.names:
                found.further["copying"] = copying(model, batch, projections)
            if "copying_weights" in settings.names:
                found.further["copying_weights"] = copying_weights(model, projections)
        return found

    def _changed(self, batch: TextBatch, reading: Reading) -> TextBatch:
        return shuffled(batch, self._settings.seed) if reading == "shuffled" else batch

    def _read(
        self, batch: TextBatch, reading: Reading, metrics: MetricSet, measurement: Measurement
    ) -> None:
        batch = self._changed(batch, reading)
        of_position = {"position", "best offset"} & set(self._settings.nulls)
        offsets = reading is None and bool(of_position) and metrics is self._settings.on_texts
        meter, model = Meter(metrics, measurement, offsets=offsets), self._models[reading]

        def receive(call: CallId, row: int, numbers: Floats, mixing: str) -> None:
            text = batch.texts[row]
            sequences = Sequences(text.tokens, text.target, before=before_text(model))
            group = Group(kind_of(model, call))
            queries, keys, _ = sequences.labels(group, (numbers.shape[1], numbers.shape[2]))
            kind = (*group.kind.key, mixing)
            coefficients = None
            if mixing != "softmax":
                numbers, coefficients = magnitude_shares(numbers), numbers
            meter.add(call, kind, text.index, numbers, queries, keys, coefficients)

        missing = read_attention(model, batch, receive)
        measurement.missing += [why for why in missing if why not in measurement.missing]
        meter.finish()


def digest_of(model: torch.nn.Module) -> str:
    """A digest of some numbers of every parameter."""
    digest = hashlib.blake2b(digest_size=16)
    for name, parameter in model.named_parameters():
        digest.update(f"{name} {tuple(parameter.shape)}".encode())
        if parameter.device.type != "meta":  # offloaded
            numbers = parameter.detach().flatten()
            some = numbers[:: max(1, len(numbers) // _COMPARED)][:_COMPARED]
            digest.update(some.to("cpu", torch.float32).numpy().tobytes())
    return digest.hexdigest()
