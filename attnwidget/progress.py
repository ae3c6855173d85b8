"""Progress of long work: a callback for every completed step, bars that count them, and an end
that is asked for."""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from threading import Timer
from typing import Any

from tqdm import tqdm

from .session import executed_without_reader, ipython

# Shorter work has no bar.
_DELAY_SECONDS = 1.0
_REFRESH_SECONDS = 0.1

_callback: ContextVar[Callable[[], object] | None] = ContextVar("on_step", default=None)
_asked: ContextVar[Callable[[], bool] | None] = ContextVar("ending_when", default=None)


@contextmanager
def on_step(callback: Callable[[], object]) -> Iterator[None]:
    """Call `callback` after every step within this context.

    A step is a captured attention call (in a generation, one per layer and token), a layer whose
    heads are summarized, an encoded layer, or a drawn row of heads.
    """
    token = _callback.set(callback)
    try:
        yield
    finally:
        _callback.reset(token)


@contextmanager
def ending_when(asked: Callable[[], bool]) -> Iterator[None]:
    """Let work within this context that can be cut short end early, as soon as `asked` is true."""
    token = _asked.set(asked)
    try:
        yield
    finally:
        _asked.reset(token)


def end_asked() -> bool:
    """True if work that can be cut short should end with what it has."""
    asked = _asked.get()
    return asked is not None and asked()


def step_done() -> None:
    """Report a completed step to the callback, if there is one."""
    callback = _callback.get()
    if callback is not None:
        callback()


@contextmanager
def progress_bar(name: str, unit: str, total: int | None = None) -> Iterator[None]:
    """Show a bar that counts the steps within this context, and goes away at the end.

    The bar appears after a second, on a terminal and in a notebook that somebody reads, unless an
    outer context counts the steps already.

    Args:
        total: the number of steps; None if unknown.
    """
    if _callback.get() is not None:
        yield
        return
    with _bar(name, unit, total) as bar, on_step(bar.update):
        if bar.disable:
            yield
            return
        # The bar of work that takes long between two steps appears as early as any.
        timer = Timer(_DELAY_SECONDS, _appear, [bar])
        timer.daemon = True
        with suppress(RuntimeError):  # Python in a browser has no threads.
            timer.start()
        try:
            yield
        finally:
            timer.cancel()


def _appear(bar: Any) -> None:
    # At its end, a bar that counts as printed is cleared.
    bar.last_print_t = time.time()
    bar.refresh()


class _CellBar(tqdm):  # type: ignore[misc]
    """A bar as text output of the running cell, which is left empty."""

    # Elsewhere a thread of tqdm looks after slow bars; in a browser it would warn of itself.
    monitor_interval = 0 if sys.platform == "emscripten" else tqdm.monitor_interval
    _handle: Any = None

    def display(self, msg: str | None = None, pos: int | None = None) -> None:
        from IPython.display import display

        data = {"text/plain": str(self)} if msg is None else {}
        if self._handle is None:
            self._handle = display(data, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self._handle.update(data, raw=True)


def _bar(name: str, unit: str, total: int | None) -> Any:
    shell = ipython()
    in_notebook = hasattr(shell, "kernel") and not executed_without_reader(shell)
    return (_CellBar if in_notebook else tqdm)(
        desc=name,
        total=total,
        unit=f" {unit}",
        # The text of a cell's bar is not written but displayed.
        file=io.StringIO() if in_notebook else sys.stderr,
        leave=False,
        mininterval=_REFRESH_SECONDS,
        delay=_DELAY_SECONDS,
        disable=not in_notebook and not (sys.stderr and sys.stderr.isatty()),
    )
