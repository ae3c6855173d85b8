"""The steps from a model and texts to a profile."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from os import PathLike
from typing import Any, Literal, Protocol, TypeAlias, TypeGuard, cast

import torch

from attnwidget.progress import end_asked
from attnwidget.running.texts import Shard, Texts, read_texts, shards_of
from attnwidget.tracing import CallId

from .accumulators import Estimate
from .build import Estimates, build_stacks, estimates_of
from .checkpoint import Checkpoint
from .head_profile import HeadProfile
from .measurement import Measured, Measurement
from .meter import OwnMetric
from .nulls import Null
from .position import best_offset, position_alone
from .profiler import Profiler, Repeated
from .settings import Settings, chosen_settings

Model: TypeAlias = "torch.nn.Module | Callable[[], torch.nn.Module]"
"""A model, or a function that loads one."""

EngineName: TypeAlias = Literal["ray"]

# Results that workers send have the same size for any number of texts.
_BATCHES_PER_SHARD = 64


class Engine(Protocol):
    """A way to measure shards."""

    def measured(self, shards: Iterable[Shard]) -> Iterator[tuple[Shard, Measured]]:
        """The measurements of all shards, in any order."""

    def repeated(self) -> Repeated:
        """The measurements of repeated tokens."""


def profile_texts(
    model: Model,
    tokenizer: Any,
    texts: Texts,
    *,
    metrics: Iterable[str | OwnMetric] | None,
    null: Null | Iterable[Null] | None,
    batch_size: int,
    max_tokens: int | None,
    seed: int,
    engine: EngineName | None,
    num_workers: int | None,
    gpus_per_worker: float,
    resume: str | PathLike[str] | None,
) -> HeadProfile:
    """See `attnwidget.profile`."""
    if isinstance(tokenizer, str):
        raise TypeError("tokenizer is a string: the order is profile(model, tokenizer, texts)")
    settings = chosen_settings(metrics, null, batch_size, max_tokens, seed)
    shards = shards_of(read_texts(texts), _BATCHES_PER_SHARD * batch_size)
    checkpoint = Checkpoint(resume, settings)
    load = _loader(model)
    with _opened(engine, load, tokenizer, settings, num_workers, gpus_per_worker) as opened:
        try:
            for shard, measured in opened.measured(checkpoint.missing(shards)):
                # A run that goes on later needs whole shards.
                if not end_asked() or resume is None:
                    checkpoint.add(shard, measured)
                if end_asked():
                    break
        finally:
            checkpoint.save()
        found = checkpoint.measured
        if found is None or not found.count:
            raise ValueError("there are no texts, or none with tokens but special ones")
        repeated = opened.repeated()
    return _profile(found, repeated, settings)


def is_loader(model: Model) -> TypeGuard[Callable[[], torch.nn.Module]]:
    """True for a function that loads a model, False for a model, or what should be one."""
    return inspect.isroutine(model) or isinstance(model, partial)


def _loader(model: Model) -> Callable[[], torch.nn.Module]:
    """A function that returns the model; a wrong one gives an error when it is used."""
    return model if is_loader(model) else lambda: cast(torch.nn.Module, model)


@contextmanager
def _opened(
    name: EngineName | None,
    load: Callable[[], torch.nn.Module],
    tokenizer: Any,
    settings: Settings,
    num_workers: int | None,
    gpus_per_worker: float,
) -> Iterator[Engine]:
    """The engine of a name.

    Raises:
        ValueError: there is no such engine, or its options are wrong.
    """
    if name is None:
        if num_workers is not None or gpus_per_worker:
            raise ValueError('num_workers and gpus_per_worker are those of engine="ray"')
        yield Profiler(load(), tokenizer, settings)
        return
    if name != "ray":
        raise ValueError(f"engine is {name!r}; expected 'ray' or None")
    if type(num_workers) is not int or num_workers < 1:
        raise ValueError(f"num_workers is {num_workers!r}; give the number of Ray's workers")
    if gpus_per_worker < 0:
        raise ValueError(f"gpus_per_worker is {gpus_per_worker!r}; expected a number from 0")
    # Imported here, because Ray may not be installed.
    from .ray_engine import ray_engine

    with ray_engine(load, tokenizer, settings, num_workers, gpus_per_worker) as engine:
        yield engine


def _profile(found: Measured, repeated: Repeated, settings: Settings) -> HeadProfile:
    """The profile that follows from all measurements."""
    missing = [repeated.missing] if repeated.missing else []
    missing += found.own.missing
    if found.empty:
        missing.append(f"texts: {found.empty:,} have no tokens but special ones")
    own = estimates_of(found.own, repeated.by_reading[None])
    nulls = {
        null: estimates_of(found.by_reading[null], repeated.by_reading[null])
        if null in found.by_reading
        else _of_position(null, found.own, repeated.by_reading[None], settings)
        for null in settings.nulls
    }
    return HeadProfile(
        build_stacks(found.own, own, nulls, settings.names),
        model=found.model.name,
        nulls=settings.nulls,
        num_texts=found.count,
        seed=settings.seed,
        max_tokens=settings.max_tokens,
        metrics=settings.described,
        missing=missing,
        texts=found.sources,
    )


def _of_position(
    null: Null, texts: Measurement, repeated: Measurement, settings: Settings
) -> Estimates:
    """The metrics of a null of position."""
    both = (settings.on_texts, texts), (settings.on_repeated, repeated)
    if null == "position":
        return estimates_of(
            *(position_alone(metrics, measured, texts, settings.seed) for metrics, measured in both)
        )
    found: dict[str, Mapping[CallId, Estimate]] = {}
    for metrics, measured in both:
        found |= best_offset(metrics, measured, texts, settings.seed)
    return found
