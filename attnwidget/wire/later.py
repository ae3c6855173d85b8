"""Replies computed in a thread beside the kernel's other work, the latest request first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextvars import copy_context
from threading import Lock, Thread
from typing import Any, Generic, TypeVar

Reply = Callable[[dict[str, Any], list[bytes]], None]

_Wanted = TypeVar("_Wanted")


class LaterReplies(Generic[_Wanted]):
    """Requests that wait for their reply, and the thread that works on them.

    Args:
        reply: sends a message with its buffers, from any thread.
        work: called in the thread with the latest request, its id and content, which is what the
            reader looks at, again and again while any waits. It answers the request with `answer`,
            or does a step of the work.
    """

    def __init__(self, reply: Reply, work: Callable[[str, _Wanted], None]) -> None:
        self._reply = reply
        self._work = work
        self._waiting: dict[str, _Wanted] = {}
        self._lock = Lock()
        self._working = False

    @property
    def working(self) -> bool:
        """True while the thread runs."""
        return self._working

    @property
    def waiting(self) -> dict[str, _Wanted]:
        """The requests that wait, by id, in the order in which they came."""
        with self._lock:
            return dict(self._waiting)

    def add(self, id_: str, wanted: _Wanted) -> None:
        """Let a request wait, and start the thread if it does not run."""
        with self._lock:
            self._waiting[id_] = wanted
            busy, self._working = self._working, True
        if not busy:
            try:
                # The thread has the request's context: ipykernel 7.0.0 sends nothing without one.
                Thread(target=copy_context().run, args=(self._run,), daemon=True).start()
            except RuntimeError:  # Python in a browser has no threads.
                self._run()

    def answer(self, id_: str, content: dict[str, Any], buffers: Sequence[bytes] = ()) -> None:
        """Reply to a request if it still waits."""
        with self._lock:
            wanted = self._waiting.pop(id_, None)
        if wanted is not None:
            self._reply({"id": id_} | content, list(buffers))

    def abort(self, ids: Iterable[str]) -> None:
        """Drop these requests, and reply that they are aborted."""
        for id_ in ids:
            self.answer(id_, {"aborted": True})

    def clear(self) -> None:
        """Drop all requests without a reply."""
        with self._lock:
            self._waiting.clear()

    def _run(self) -> None:
        try:
            while True:
                with self._lock:
                    if not self._waiting:
                        self._working = False
                        return
                    id_, wanted = next(reversed(self._waiting.items()))
                self._work(id_, wanted)
        except BaseException:
            # Sending failed, or the thread was interrupted; the next request starts a new one.
            with self._lock:
                self._working = False
            raise
