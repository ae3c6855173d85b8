"""Profiles by workers of Ray: those of one process, whatever happens to a worker."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import attnwidget as aw
from attnwidget.record import Floats, Tokens
from tests.support import PATIENCE_SECONDS
from tests.unit.corpus.same import assert_same
from tests.unit.tiny import Model, gpt2, llama, token_ids

LENGTHS = [5 + n % 9 for n in range(20)]
OPTIONS: dict[str, Any] = {
    "batch_size": 1,
    "null": ["random weights", "shuffled", "position", "best offset"],
}
WORKERS: dict[str, Any] = {"engine": "ray", "num_workers": 2}


def texts() -> Iterator[dict[str, torch.Tensor]]:
    """Three shards of eight texts, of which the last one is short."""
    return ({"input_ids": token_ids(length, seed=n)} for n, length in enumerate(LENGTHS))


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """Ray on this machine, without reports and without tokens in the home folder."""
    ray = pytest.importorskip("ray")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_AUTH_MODE", "disabled")
        patch.setenv("RAY_raylet_start_wait_time_s", str(PATIENCE_SECONDS))
        # Ray's workers give way to all other processes (15), and on a busy machine take minutes for
        # their imports.
        patch.setenv("RAY_worker_niceness", "0")
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        yield
        ray.shutdown()


@pytest.mark.usefixtures("cluster")
def test_a_killed_worker_is_replaced_and_nothing_counted_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside it, the model is loaded by a function, and metrics are functions of ours."""
    monkeypatch.setattr("attnwidget.corpus.run._BATCHES_PER_SHARD", 8)
    killed = tmp_path / "killed"

    def longest(weights: Floats, tokens: Tokens) -> float:
        if os.getpid() != driver and len(tokens) == 13 and not killed.exists():
            killed.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return float(len(tokens))

    def load() -> Model:
        torch.set_num_threads(1)
        return llama()

    driver = os.getpid()
    metrics = ["previous", "entropy", "induction", "variability", longest]
    found = aw.profile(load, None, texts(), metrics=metrics, **OPTIONS, **WORKERS)
    assert killed.exists()
    assert found.num_texts == len(LENGTHS)
    assert_same(found, aw.profile(load(), None, texts(), metrics=metrics, **OPTIONS))
    assert found.values("longest").mean == pytest.approx(np.mean(LENGTHS), rel=1e-12)


@pytest.mark.usefixtures("cluster")
def test_errors_of_workers_are_those_of_the_process() -> None:
    long = [{"input_ids": token_ids(65)}]
    with pytest.raises(ValueError, match="takes at most 64: give max_tokens=64"):
        aw.profile(gpt2(), None, long, engine="ray", num_workers=1)
