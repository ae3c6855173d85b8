"""Examines each architecture in a separate process with limits."""

from __future__ import annotations

import multiprocessing
import resource
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import Connection

import torch

from .examine import examine
from .result import Category, Result

# The server imports torch and transformers once, and every process starts as a copy of it.
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload([__name__, "transformers.modeling_utils"])

SECONDS = 120
BYTES = 8 << 30


def examine_all(names: Iterable[str], jobs: int) -> Iterator[Result]:
    """Examine architectures in the order of their names, even if a process fails."""
    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(_examine_apart, names)


def _examine_apart(name: str) -> Result:
    receiver, sender = _CONTEXT.Pipe(duplex=False)
    process = _CONTEXT.Process(target=_report, args=(name, sender))
    process.start()
    sender.close()
    try:
        if not receiver.poll(SECONDS):
            return Result(name, Category.MISS, reason=f"took over {SECONDS} s")
        result: Result = receiver.recv()
        return result
    except EOFError:
        process.join()
        return Result(name, Category.MISS, reason=f"died with exit code {process.exitcode}")
    finally:
        process.kill()
        process.join()


def _report(name: str, sender: Connection) -> None:
    torch.set_num_threads(1)
    with open("/proc/self/statm") as file:
        mapped = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + BYTES, mapped + BYTES))
    with suppress(BrokenPipeError):
        sender.send(examine(name))
