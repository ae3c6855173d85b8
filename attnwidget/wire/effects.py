"""Effects of heads that a view switches off, measured in a thread beside the kernel's work."""

from __future__ import annotations

from collections.abc import Iterable
from contextvars import copy_context
from dataclasses import dataclass
from threading import Lock, Thread
from typing import Any

import numpy as np

from attnwidget.interventions import Effect, Predicts, Rerun

from .columns import Reply
from .text import sendable

# As many predictions before, and after, are sent.
_PREDICTIONS = 8
# As many tokens, those whose states turned most.
_TOKENS = 24

NO_MODEL = (
    "This widget has a record, but not its model. To switch heads off, show the model itself: "
    "aw.show(model, tokenizer, text)."
)


@dataclass(frozen=True)
class EffectRequest:
    """The heads that a view has switched off, and the position that it looks at.

    Attributes:
        stack: the name of their stack.
        heads: (layer, head) of each.
        query: the locked query of the stack, of which the predictions are shown; None for any.
        labels: the labels of the stack's queries.
    """

    stack: str
    heads: tuple[tuple[int, int], ...]
    query: int | None
    labels: tuple[str, ...]


class Effects:
    """Replies to requests for effects. The newest drops the others, which are out of date.

    Args:
        reply: sends a message, from any thread.
    """

    def __init__(self, reply: Reply) -> None:
        self.rerun: Rerun | None = None
        self._reply = reply
        self._waiting: dict[str, EffectRequest] = {}
        self._lock = Lock()
        self._working = False

    def request(self, id_: str, request: EffectRequest) -> None:
        """Reply to a request later, or now if there is no model."""
        if self.rerun is None:
            self._reply({"id": id_, "error": NO_MODEL, "absent": True}, [])
            return
        with self._lock:
            # Several views of a widget ask the same.
            outdated = [each for each, other in self._waiting.items() if other != request]
        self.abort(outdated)
        with self._lock:
            self._waiting[id_] = request
            busy, self._working = self._working, True
        if not busy:
            try:
                # The thread has the request's context: ipykernel 7.0.0 sends nothing without one.
                Thread(target=copy_context().run, args=(self._work,), daemon=True).start()
            except RuntimeError:  # Python in a browser has no threads.
                self._work()

    def abort(self, ids: Iterable[str]) -> None:
        """Drop these requests, and reply that they are aborted."""
        for id_ in ids:
            self._answer(id_, {"aborted": True})

    def close(self) -> None:
        """Drop all requests, and the model."""
        with self._lock:
            self._waiting.clear()
        self.rerun = None

    def _work(self) -> None:
        try:
            self._reply_to_all()
        except BaseException:
            # Sending failed, or the thread was interrupted; the next request starts a new one.
            with self._lock:
                self._working = False
            raise

    def _reply_to_all(self) -> None:
        while True:
            with self._lock:
                if not self._waiting or self.rerun is None:
                    self._working = False
                    return
                request = next(reversed(self._waiting.values()))
                rerun = self.rerun
            answer = _measured(rerun, request)
            with self._lock:
                ids = [each for each, other in self._waiting.items() if other == request]
            for id_ in ids:
                self._answer(id_, answer)

    def _answer(self, id_: str, content: dict[str, Any]) -> None:
        with self._lock:
            wanted = self._waiting.pop(id_, None)
        if wanted:
            self._reply({"id": id_} | content, [])


def _measured(rerun: Rerun, request: EffectRequest) -> dict[str, Any]:
    """The effect, or the error that the view shows."""
    try:
        effect, predicts = rerun.effect(request.stack, request.heads)
        return {"effect": encode_effect(effect, predicts, request)}
    except ReferenceError as error:
        return {"error": str(error), "absent": True}
    except (TypeError, ValueError) as error:
        return {"error": sendable(str(error))}
    except Exception as error:
        return {"error": sendable(f"{type(error).__name__}: {error}")}


def encode_effect(effect: Effect, predicts: Predicts, request: EffectRequest) -> dict[str, Any]:
    """An effect as JSON: of predictions, or of hidden states. See docs/protocol.md.

    Raises:
        ValueError: the model's output has NaN or infinity.
    """
    outputs = effect.logits or effect.states
    # Masked classes have -inf.
    if outputs is None or not all(np.isfinite(each.max()) for each in outputs):
        raise ValueError("The model's output has no finite numbers without these heads.")
    if effect.logits is None:
        return _encode_states(effect)
    divergence = effect.divergence
    position = len(effect.tokens) - 1
    if request.query is not None and effect.tokens == request.labels:
        position = request.query
    elif predicts == "token":
        position = int(divergence.argmax())
    return {
        "predicts": predicts,
        "position": position,
        "label": sendable(effect.tokens[position]),
        "positions": len(effect.tokens),
        "divergence": float(divergence[position]),
        "mean": float(divergence.mean()),
        "changes": [
            {**change._asdict(), "label": sendable(change.label)}
            for change in effect.changes(position, _PREDICTIONS)
        ],
    }


def _encode_states(effect: Effect) -> dict[str, Any]:
    moved = effect.moved
    most = np.argsort(-moved, kind="stable")[:_TOKENS]
    return {
        "predicts": None,
        "positions": len(moved),
        "mean": float(moved.mean()),
        "moved": [
            {
                "position": int(position),
                "label": sendable(effect.tokens[position]),
                "moved": float(moved[position]),
            }
            for position in np.sort(most)
        ],
    }
