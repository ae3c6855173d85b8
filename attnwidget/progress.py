"""Progress of long work: a callback for every completed step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_callback: ContextVar[Callable[[], object] | None] = ContextVar("on_step", default=None)


@contextmanager
def on_step(callback: Callable[[], object]) -> Iterator[None]:
    """Call `callback` after every step within this context.

    A step is a captured attention call (in a generation, one per layer and token), a layer whose
    heads are summarized, or an encoded layer.
    """
    token = _callback.set(callback)
    try:
        yield
    finally:
        _callback.reset(token)


def step_done() -> None:
    """Report a completed step to the callback, if there is one."""
    callback = _callback.get()
    if callback is not None:
        callback()
