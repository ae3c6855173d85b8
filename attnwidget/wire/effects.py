"""Effects of heads off and links cut in a view, measured in a thread beside the kernel's work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from attnwidget.analysis import LENSES, Lens, RunningText, counted_keys, text_shares
from attnwidget.interventions.effect import Effect, Predicts
from attnwidget.interventions.off import Cut, Off
from attnwidget.record import AttentionRecord

from .later import LaterReplies, Reply
from .manifest import encode_overview
from .running_text import encode_ratios
from .text import sendable

if TYPE_CHECKING:
    from attnwidget.interventions.rerun import Rerun

# Number of predictions sent before and after.
_PREDICTIONS = 8
# Number of tokens sent, those whose states turned most.
_TOKENS = 24

NO_MODEL = (
    "This widget has a record, but not its model. To switch parts of it off, show the model: "
    "aw.show(model, tokenizer, text)."
)


Op = Literal["effect", "others", "changed"]


@dataclass(frozen=True)
class EffectRequest:
    """A request about what a view has switched off.

    Attributes:
        op: "effect" for the change of the model's output, "others" for that of other heads,
            "changed" for its attention without it.
        off: the heads and links.
        query: the locked query of the stack, of which the predictions are shown; None for any.
        labels: the labels of the stack's queries.
    """

    op: Op
    off: Off
    query: int | None
    labels: tuple[str, ...]

    def outdates(self, other: EffectRequest) -> bool:
        """True if nobody needs the reply to another request that came before this one."""
        if self.off == other.off:
            return self.op == other.op and self != other
        return True


@dataclass(frozen=True)
class CutRequest:
    """A request about an answer without some of its links: each about a part of its own.

    Attributes:
        op: "cut" for its probabilities, "answer" for what the model then writes, "shuffled" for
            what places of its prompt get in other orders.
        record: the record of the answer.
        stack: the stack whose links are cut, or whose attention is read.
        text: its running text.
        cuts: in turn; one for "answer", none for "shuffled".
    """

    op: Literal["cut", "answer", "shuffled"]
    record: AttentionRecord
    stack: str
    text: RunningText
    cuts: tuple[Cut, ...] = ()


class Effects:
    """Replies to requests for effects. The newest drops the others, which are out of date.

    Args:
        reply: sends a message, from any thread.
        lenses: those of the package, and the user's own.
    """

    def __init__(self, reply: Reply, lenses: Sequence[Lens] = LENSES) -> None:
        self.rerun: Rerun | None = None
        self.replies = LaterReplies(reply, self._work)
        self._reply = reply
        self._lenses = lenses
        # The attention without some heads, of which the view asks for layers.
        self._changed: tuple[Off, AttentionRecord] | None = None

    def changed(self, off: Off) -> AttentionRecord:
        """The attention without these heads and links, after a request for it.

        Raises:
            ValueError: others have been switched off since.
        """
        if self._changed is None or self._changed[0] != off:
            raise ValueError("Something else has been switched off since.")
        return self._changed[1]

    def request(self, id_: str, request: EffectRequest | CutRequest) -> None:
        """Reply to a request later, or now if there is no model."""
        if self.rerun is None:
            self._reply({"id": id_, "error": NO_MODEL, "absent": True}, [])
            return
        if isinstance(request, EffectRequest):
            self.replies.abort(
                each
                for each, other in self.replies.waiting.items()
                if isinstance(other, EffectRequest) and request.outdates(other)
            )
        self.replies.add(id_, request)

    def close(self) -> None:
        """Drop all requests, and the model."""
        self.replies.clear()
        if self.rerun is not None:
            self.rerun.forget()
        self.rerun = None
        self._changed = None

    def _work(self, id_: str, request: EffectRequest | CutRequest) -> None:
        rerun = self.rerun
        if rerun is None:  # closed meanwhile
            self.replies.abort([id_])
            return
        answer, buffers = self._measured(rerun, request)
        # Several views of a widget ask the same.
        for each, other in self.replies.waiting.items():
            if other == request:
                self.replies.answer(each, answer, buffers)

    def _measured(
        self, rerun: Rerun, request: EffectRequest | CutRequest
    ) -> tuple[dict[str, Any], list[bytes]]:
        """The reply and its buffers, or the error that the view shows."""
        try:
            if isinstance(request, CutRequest):
                return self._of_answer(rerun, request), []
            if request.op == "effect":
                effect, predicts = rerun.effect(request.off)
                return {"effect": encode_effect(effect, predicts, request)}, []
            if request.op == "others":
                return {"others": list(rerun.others(request.off))}, []
            record = rerun.record(request.off)
            manifest, overview = encode_overview(record, lenses=self._lenses)
            self._changed = request.off, record
            return {"manifest": manifest}, [overview]
        except ReferenceError as error:
            return {"error": str(error), "absent": True}, []
        except (TypeError, ValueError) as error:
            return {"error": sendable(str(error))}, []
        except Exception as error:
            return {"error": sendable(f"{type(error).__name__}: {error}")}, []

    @staticmethod
    def _of_answer(rerun: Rerun, request: CutRequest) -> dict[str, Any]:
        record, stack, text = request.record, request.stack, request.text
        if request.op == "answer":
            return {
                "text": sendable(rerun.answer_without(stack, text.rows.start, request.cuts[0].keys))
            }
        if request.op == "shuffled":
            counted = counted_keys(text, text_shares(record.stack(stack), text).sinks)
            return {"ratios": encode_ratios(rerun.shuffled(stack, text, counted))}
        assert record.replay is not None
        written = [each.probability for each in record.replay.written]
        found = rerun.cut(stack, written, request.cuts)
        return {"changes": (found[1:] - found[0]).tolist()}


def encode_effect(effect: Effect, predicts: Predicts, request: EffectRequest) -> dict[str, Any]:
    """An effect as JSON: of predictions, or of hidden states. See docs/protocol.md.

    Raises:
        ValueError: the model's output has NaN or infinity.
    """
    outputs = effect.logits or effect.states
    # Masked classes have -inf.
    if outputs is None or not all(np.isfinite(each.max()) for each in outputs):
        raise ValueError("The model's output has no finite numbers with this change.")
    if effect.logits is None:
        return _encode_states(effect)
    divergence = effect.divergence
    position = int(divergence.argmax())
    if request.query is not None and effect.tokens == request.labels:
        position = request.query
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
