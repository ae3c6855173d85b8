"""Who hears of every step that is done, where many take long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_told: ContextVar[Callable[[], object] | None] = ContextVar("steps_told", default=None)


@contextmanager
def steps_told(tell: Callable[[], object]) -> Iterator[None]:
    """Within it, `tell` is called after every step.

    That is an attention call captured (of a layer one for each token generated), a layer whose
    heads are summarized, or a layer encoded.
    """
    token = _told.set(tell)
    try:
        yield
    finally:
        _told.reset(token)


def step_done() -> None:
    """Tell whoever wants to know."""
    tell = _told.get()
    if tell is not None:
        tell()
