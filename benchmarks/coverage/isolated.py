"""Examines each architecture in a separate process with limits."""

from __future__ import annotations

import multiprocessing
import resource
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection
from typing import TypeVar

import torch

_T = TypeVar("_T")

# The server imports torch and transformers once, and every process starts as a copy of it.
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload([__name__, "transformers.modeling_utils"])

SECONDS = 120
BYTES = 8 << 30


def apart(
    examine: Callable[[str], _T], names: Iterable[str], jobs: int
) -> Iterator[tuple[str, _T | str]]:
    """Examine architectures in the order of their names, each in a process of its own.

    Args:
        examine: a function of a module, from a name to a result.
        names: the architectures.
        jobs: the number of processes at a time.

    Returns:
        (name, result), with a string that says why in place of a result if the process failed.
    """
    names = list(names)
    with ThreadPoolExecutor(jobs) as pool:
        yield from zip(names, pool.map(partial(_examined, examine), names), strict=True)


def _examined(examine: Callable[[str], _T], name: str) -> _T | str:
    receiver, sender = _CONTEXT.Pipe(duplex=False)
    process = _CONTEXT.Process(target=_report, args=(examine, name, sender))
    process.start()
    sender.close()
    try:
        if not receiver.poll(SECONDS):
            return f"took over {SECONDS} s"
        result: _T = receiver.recv()
        return result
    except EOFError:
        process.join()
        return f"died with exit code {process.exitcode}"
    finally:
        process.kill()
        process.join()


def _report(examine: Callable[[str], object], name: str, sender: Connection) -> None:
    torch.set_num_threads(1)
    with open("/proc/self/statm") as file:
        mapped = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + BYTES, mapped + BYTES))
    with suppress(BrokenPipeError):
        sender.send(examine(name))
