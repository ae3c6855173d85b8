"""Measurement on a cluster: workers of Ray, each with the model, measure shards of the texts.

A worker that ends is started again, and measures its shard anew. A shard is merged once, when its
measurement has arrived.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch

from attnwidget.extras import extra
from attnwidget.progress import step_done
from attnwidget.running.texts import Shard

from .measurement import Measured, ModelIdentity
from .profiler import Profiler, Repeated
from .settings import Settings

# The times that a shard is measured anew after its worker has ended.
_RETRIES = 3

# The shards that a worker has at once: the next one is there when one is done.
_AT_ONCE = 2


class _Worker:
    """An actor with a model, which it loads when it is first needed."""

    def __init__(
        self, load: Callable[[], torch.nn.Module], tokenizer: Any, settings: Settings
    ) -> None:
        self._load = load
        self._tokenizer = tokenizer
        self._settings = settings
        self._profiler: Profiler | None = None

    def identity(self) -> ModelIdentity:
        return self._ready().identity()

    def measure(self, shard: Shard) -> Measured:
        return self._ready().measure(shard)

    def repeated(self) -> Repeated:
        return self._ready().repeated()

    def _ready(self) -> Profiler:
        # An error here is that of a task, which says its cause, not that of an actor.
        if self._profiler is None:
            model = _on_gpu(self._load())
            self._profiler = Profiler(model, self._tokenizer, self._settings)
        return self._profiler


def _on_gpu(model: torch.nn.Module) -> torch.nn.Module:
    """The model on the worker's GPU, if there is one, and the model is not placed already."""
    import ray

    placed = getattr(model, "hf_device_map", None) is not None
    return model.to("cuda") if ray.get_gpu_ids() and not placed else model


class RayEngine:
    """Measures shards with workers on the cluster that Ray is connected to, or on this machine.

    Args:
        load: returns the model; is called by each worker.
        gpus_per_worker: the GPUs that Ray reserves for each worker, perhaps a part of one.

    Raises:
        ModuleNotFoundError: Ray is not installed.
    """

    def __init__(
        self,
        load: Callable[[], torch.nn.Module],
        tokenizer: Any,
        settings: Settings,
        num_workers: int,
        gpus_per_worker: float,
    ) -> None:
        # Ray on this machine reports to nobody.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        with extra("ray", "engine='ray' needs Ray"):
            import ray
        self._ray = ray
        self._workers: list[Any] = []
        self._begun = not ray.is_initialized()
        if self._begun:
            ray.init(include_dashboard=False, log_to_driver=False)
        try:
            options = {"max_restarts": -1, "max_task_retries": _RETRIES}
            actor = ray.remote(num_gpus=gpus_per_worker, **options)(_Worker)
            # The model is stored once, not for each worker, and kept for those that start again.
            self._load = ray.put(load)
            for _ in range(num_workers):
                self._workers.append(actor.remote(self._load, tokenizer, settings))
        except BaseException:
            self.close()
            raise

    def identity(self) -> ModelIdentity:
        """The name and digest of the model that one of the workers has."""
        found: ModelIdentity = self._get(self._workers[0].identity.remote())
        return found

    def measured(self, shards: Iterable[Shard]) -> Iterator[tuple[Shard, Measured]]:
        """The measurements of all shards, as they are done."""
        coming = iter(shards)
        running: dict[Any, tuple[Shard, Any]] = {}
        free = self._workers * _AT_ONCE
        while True:
            while free and (shard := next(coming, None)) is not None:
                worker = free.pop()
                running[worker.measure.remote(shard)] = shard, worker
            if not running:
                return
            [done], _ = self._ray.wait(list(running))
            shard, worker = running.pop(done)
            # Ray's own arrays lie in shared memory, read-only.
            measured: Measured = copy.deepcopy(self._get(done))
            for _ in range(measured.count):
                step_done()
            yield shard, measured
            free.insert(0, worker)

    def repeated(self) -> Repeated:
        """The measurements of repeated tokens, by one worker."""
        found: Repeated = copy.deepcopy(self._get(self._workers[0].repeated.remote()))
        return found

    def close(self) -> None:
        """End the workers, and Ray if it was started for them."""
        for worker in self._workers:
            self._ray.kill(worker)
        if self._begun:
            self._ray.shutdown()

    def _get(self, result: Any) -> Any:
        try:
            return self._ray.get(result)
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause from error
        except self._ray.exceptions.RayActorError as error:
            raise RuntimeError(
                f"a worker ended {_RETRIES + 1} times while it measured the same texts; it may "
                "have had too little memory: try fewer workers, or a smaller batch_size"
            ) from error
