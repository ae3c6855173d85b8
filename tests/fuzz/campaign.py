"""Campaigns of many inputs, each reproducible from a number."""

import base64
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

# Times as many inputs as usual, and where their numbers begin.
SCALE = int(os.environ.get("FUZZ", "1"))
SEED = int(os.environ.get("FUZZ_SEED", "0"))

# An input that takes more time of the processor, or more memory, counts as a hang or a bomb.
SECONDS = 20
BYTES = 1 << 30

# Inputs that once went wrong, by campaign: each is tried again before anything else.
PAST = Path(__file__).parent / "past.json"

# A line for every campaign of the running test.
done: list[str] = []


class Hang(Exception):
    """An input took too long."""


def campaign(
    name: str, count: int, make: Callable[[Random], bytes], check: Callable[[bytes], bool]
) -> None:
    """Check `count` inputs, and those that once went wrong.

    Args:
        make: an input from random numbers.
        check: raises what a bug raises; returns whether the input was accepted as sound.
    """
    count *= SCALE
    past = [base64.b64decode(text) for text in json.loads(PAST.read_text()).get(name, [])]
    accepted = 0
    with _limited_memory():
        for data in past:
            _tried(name, check, data, "past")
        for number in range(SEED, SEED + count):
            data = make(Random(f"{name} {number}"))
            accepted += _tried(name, check, data, number)
    last = SEED + count - 1
    done.append(
        f"{name}: {count} inputs (seeds {SEED} to {last}) and {len(past)} past ones, "
        f"{accepted} accepted, {count - accepted} refused, 0 crashes, 0 hangs"
    )
    # If all inputs are refused, or none, the campaign does not test damage.
    assert 0 < accepted < count


def _tried(name: str, check: Callable[[bytes], bool], data: bytes, number: int | str) -> bool:
    try:
        with _limited_time():
            return check(data)
    except Exception as error:
        raise AssertionError(
            f"{name} {number}: {type(error).__name__}: {error}\n"
            f"To be kept in {PAST.name}: {base64.b64encode(data).decode()}"
        ) from error


@contextmanager
def _limited_time() -> Iterator[None]:
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*_: object) -> None:
        raise Hang(f"more than {SECONDS} seconds")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@contextmanager
def _limited_memory() -> Iterator[None]:
    if sys.platform != "linux":
        yield
        return
    import resource

    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (taken + BYTES, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
