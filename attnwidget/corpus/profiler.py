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

from .copying import CopyShares, copying, copying_weights, find_projections
from .measurement import Measured, Measurement, ModelIdentity, Reading
from .meter import Meter, MetricSet
from .position import OF_POSITION
from .repeated import repeated_tokens
from .settings import COPYING, Settings

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
        # What each has measured since it was last asked.
        self._sums: dict[Reading, Measurement] = {}

    def identity(self) -> ModelIdentity:
        """The model's name, with a digest of its weights."""
        return self._identity

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
        sources: dict[int, str | tuple[str, ...]] = {}
        empty = 0
        for batch in self._batches.of(shard):
            self._read(batch, metrics)
            for text in batch.texts:
                sources[text.index] = text.source or text.tokens.labels
                step_done()
            if end_asked():
                break
        else:
            empty = shard.count - len(sources)
        sums = {reading: self._taken(reading, metrics) for reading in self._models}
        own = sums[None]
        if sources and not own.layers:
            raise ValueError(no_attention(self._model, own.missing))
        return Measured(self._identity, sums, own.needed(sources), len(sources), empty)

    def repeated(self) -> Repeated:
        """The measurements of repeated tokens."""
        metrics = self._settings.on_repeated
        # The steps are texts.
        with on_step(lambda: None):
            if self._repeated is not None and metrics.names:
                self._read(self._repeated, metrics)
            found = {reading: self._taken(reading, metrics) for reading in self._models}
            for reading, measurement in found.items():
                if self._repeated is not None:
                    batch = self._changed(self._repeated, reading)
                    measurement.further = self._further(batch, self._models[reading])
        return Repeated(found, self._missing)

    def _read(self, batch: TextBatch, metrics: MetricSet) -> None:
        """Add texts to the sums of all readings."""
        needed = OF_POSITION.keys() & self._settings.nulls and metrics is self._settings.on_texts
        for reading in self._models:
            offsets = reading is None and bool(needed)
            self._add(self._changed(batch, reading), reading, metrics, offsets)

    def _changed(self, batch: TextBatch, reading: Reading) -> TextBatch:
        return shuffled(batch, self._settings.seed) if reading == "shuffled" else batch

    def _add(self, batch: TextBatch, reading: Reading, metrics: MetricSet, offsets: bool) -> None:
        """Add texts to the sums of a reading; see `Meter` for `offsets`."""
        model = self._models[reading]
        sums = self._sums.setdefault(reading, Measurement(metrics.names, self._settings.seed))
        meter = Meter(metrics, sums, offsets=offsets)

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
        sums.missing += [why for why in missing if why not in sums.missing]
        meter.finish()

    def _taken(self, reading: Reading, metrics: MetricSet) -> Measurement:
        """The sums of a reading, which begin anew."""
        return self._sums.pop(reading, Measurement(metrics.names, self._settings.seed))

    def _further(self, batch: TextBatch, model: torch.nn.Module) -> dict[str, CopyShares]:
        """The chosen metrics of repeated tokens that do not follow from rows."""
        if not set(COPYING) & set(self._settings.names):
            return {}
        projections = find_projections(model, first_text(batch))
        found = {}
        if "copying" in self._settings.names:
            found["copying"] = copying(model, batch, projections)
        if "copying_weights" in self._settings.names:
            found["copying_weights"] = copying_weights(model, projections)
        return found


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
