"""The way from a model and texts to a profile: begin here.

Settings are checked (settings.py), texts divided into shards, and each shard measured (profiler.py,
or the workers of ray_engine.py) into sums that merge (measurement.py, kept by checkpoint.py). The
profile follows from these (build.py, position.py).
"""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from os import PathLike
from typing import Any, Literal, TypeAlias, TypeGuard

import torch

from attnwidget.arguments import checked, one_of, real, whole
from attnwidget.progress import end_asked, progress_bar
from attnwidget.running.texts import Texts, read_texts, shards_of
from attnwidget.running.vllm import is_vllm

from .build import build_stacks, estimates_of
from .checkpoint import Checkpoint
from .example_texts import TextReader
from .head_profile import HeadProfile
from .measurement import Measured, Null
from .meter import OwnMetric
from .position import OF_POSITION
from .profiler import Profiler, Repeated
from .ray_engine import RayEngine
from .settings import Settings, chosen_metrics, chosen_nulls
from .vllm_engine import vllm_engine

Model: TypeAlias = "torch.nn.Module | Callable[[], torch.nn.Module]"
"""A model, or a function that loads one."""

EngineName: TypeAlias = Literal["ray"]

# Results that workers send have the same size for any number of texts.
_BATCHES_PER_SHARD = 64


@checked(
    batch_size=whole(1),
    max_tokens=whole(1, none=True),
    seed=whole(0),
    engine=one_of(EngineName, None),
    num_workers=whole(1, none=True),
    gpus_per_worker=real("a number from 0"),
)
def profile(
    model: Model,
    tokenizer: Any,
    texts: Texts,
    *,
    metrics: Iterable[str | OwnMetric] | None = None,
    null: Null | Iterable[Null] | None = ("random weights", "position"),
    batch_size: int = 16,
    max_tokens: int | None = None,
    seed: int = 0,
    engine: EngineName | None = None,
    num_workers: int | None = None,
    gpus_per_worker: float = 0,
    resume: str | PathLike[str] | None = None,
) -> HeadProfile:
    """Measure what every head of a model does over many texts, beside nulls.

    The texts are read once, in padded batches, and the weights of each layer are folded into sums
    as the model runs: memory does not depend on the number of texts. Each text counts once.
    The model runs as in `attnwidget.capture`, unchanged; weights are the model's own: those that
    follow from queries, keys and mask count only if they lead to the model's own output.

    Args:
        model: a transformers model that reads text, or another torch module, as for `capture`; or
            an engine of vLLM, loaded as for `attnwidget.interop.vllm.capture`, whose workers
            measure what they read; or a function without arguments that loads one.
        tokenizer: its tokenizer; None if the texts are encoded, or for vLLM's own.
        texts: strings, pairs of strings (of an encoder-decoder, a text and what its decoder
            reads), chats as lists of messages, or what a tokenizer returned for batches of texts,
            in any iterable, also one that can be read only once, such as a generator or a column of
            a data set; or the path (pathlib.Path) of a file with one text per line.
        metrics: names of metrics, and functions of your own: `function(weights, tokens)` gets the
            weights [Tq, Tk] of one head on one text, or without a softmax its coefficients, and the
            keys' `Tokens`, and returns a number, or NaN if the text has none. None for all metrics.
        null: a name, several, or None. "random weights" reads the same texts with a newly
            initialised model of the same architecture, which takes as much time and memory again,
            and which vLLM does not have: for an engine of vLLM, choose nulls among the others;
            "shuffled" reads them with their tokens in random order (special tokens stay in
            place); "position" has what attention by relative position alone would give, with the
            head's own mean weight at each offset from query to key, so that it says nothing about
            distance and neighbours; "best offset" what attention
            to one fixed offset would, from -5 to 5, the best of each metric. The last two are of
            self-attention, on a sample of 64 texts, and need no further pass.
        batch_size: the texts that the model reads at once; of texts with more than 512 tokens,
            fewer. Encoded batches are read as they come.
        max_tokens: longer texts are cut off, unless they come encoded; None to leave them.
        seed: of all random choices, from 0: random weights, orders, bootstrap and samples.
        engine: None for this process; "ray" for workers of Ray, on the cluster that it is
            connected to (`ray.init`), else on this machine. The result is the same.
        num_workers: the workers of Ray, each with a model of its own.
        gpus_per_worker: the GPUs of each, perhaps a part of one; the model is moved there.
        resume: a folder where what is measured is kept, every half minute and when the run ends,
            so that the same call goes on after an interruption. The texts, settings and model have
            to be the same, and the source of your own metrics, but not what it refers to.

    Returns:
        The mean of each metric with its 95% interval, by a bootstrap over texts, for every head,
        and the same of each null; mean thumbnails, examples, and sampled rows for comparisons.
        `profile.missing` lists attention that could not be read, and why.

    Raises:
        TypeError: `model` is no torch module, `texts` are no texts, a metric is no function.
        ValueError: there are no texts, or one is too long for the model; there is no such metric,
            null or engine; a number is out of range; the model has no attention that can be read;
            the folder has texts or settings that are not these, or is of another model.
        ModuleNotFoundError: Ray is not installed.
        RuntimeError: a worker ended several times while it measured the same texts.
    """
    if isinstance(tokenizer, str):
        raise TypeError("tokenizer is a string: the order is profile(model, tokenizer, texts)")
    if engine is not None and is_vllm(model):
        raise ValueError(f"vLLM has workers of its own: leave out engine={engine!r}")
    nulls = chosen_nulls(null)
    names, own = chosen_metrics(metrics)
    settings = Settings(names, own, metrics is None, nulls, batch_size, max_tokens, seed)
    shards = shards_of(read_texts(texts), _BATCHES_PER_SHARD * batch_size)
    checkpoint = Checkpoint(resume, settings)
    load: Callable[[], Any] = model if _loads(model) else lambda: model
    total = len(texts) if isinstance(texts, (list, tuple)) else None
    with (
        progress_bar("Profiling", "texts", total),
        _engine(engine, load, tokenizer, settings, num_workers, gpus_per_worker) as running,
    ):
        try:
            for shard, measured in running.measured(checkpoint.missing(shards, running.identity)):
                # A run that goes on later needs whole shards.
                if not end_asked() or resume is None:
                    checkpoint.add(shard, measured)
                if end_asked():
                    break
        except KeyboardInterrupt as error:
            count = 0 if checkpoint.measured is None else checkpoint.measured.count
            after = (
                "are lost: with resume=, a folder, the same call would go on after them"
                if resume is None
                else f"are kept in {resume}: the same call goes on after them"
            )
            error.args = (f"the {count:,} texts measured so far {after}",)
            raise
        finally:
            checkpoint.save()
        found = checkpoint.measured
        if found is None or not found.count:
            raise ValueError("there are no texts, or none with tokens but special ones")
        repeated = running.repeated()
    again: Callable[[], Any] = functools.cache(load) if load is model else weakref.ref(model)
    return _profile(found, repeated, settings, TextReader(again, tokenizer, max_tokens))


def _loads(model: Model) -> TypeGuard[Callable[[], torch.nn.Module]]:
    """True for a function that loads a model, False for a model, or what should be one."""
    return inspect.isroutine(model) or isinstance(model, functools.partial)


@contextmanager
def _engine(
    name: EngineName | None,
    load: Callable[[], Any],
    tokenizer: Any,
    settings: Settings,
    num_workers: int | None,
    gpus_per_worker: float,
) -> Iterator[Profiler | RayEngine]:
    """The engine of a name.

    Raises:
        ValueError: its options are wrong.
    """
    if name is None:
        if num_workers is not None or gpus_per_worker:
            raise ValueError('num_workers and gpus_per_worker are those of engine="ray"')
        model = load()
        if is_vllm(model):
            with vllm_engine(model, tokenizer, settings) as engine:
                yield engine
        else:
            yield Profiler(model, tokenizer, settings)
        return
    if num_workers is None:
        raise ValueError("num_workers is None; give the number of Ray's workers")
    with closing(RayEngine(load, tokenizer, settings, num_workers, gpus_per_worker)) as engine:
        yield engine


def _profile(
    found: Measured, repeated: Repeated, settings: Settings, reader: TextReader
) -> HeadProfile:
    """The profile that follows from all measurements."""
    missing = [repeated.missing] if repeated.missing else []
    missing += found.own.missing
    if found.empty:
        missing.append(f"texts: {found.empty:,} have no tokens but special ones")
    own = found.own, repeated.by_reading[None]
    nulls = {}
    for null in settings.nulls:
        if null in OF_POSITION:
            of_metrics = zip((settings.on_texts, settings.on_repeated), own, strict=True)
            both = [OF_POSITION[null](*each, found.own) for each in of_metrics]
        else:
            both = [found.by_reading[null], repeated.by_reading[null]]
        nulls[null] = estimates_of(*both)
    signed = not all(layer.of_softmax for layer in found.own.layers.values())
    metrics = settings.described(signed=signed)
    return HeadProfile(
        build_stacks(found.own, estimates_of(*own), nulls, [metric.name for metric in metrics]),
        model=found.model.name,
        nulls=settings.nulls,
        num_texts=found.count,
        seed=settings.seed,
        max_tokens=settings.max_tokens,
        metrics=metrics,
        missing=missing,
        texts=found.sources,
        reader=reader,
    )
