"""A model with one text, which can be run on it again with heads off and links cut."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from attnwidget.capture import capture
from attnwidget.progress import on_step
from attnwidget.record import AttentionRecord

from .edits import Ablate, KnockOut
from .effect import Effect
from .intervene import intervene
from .links import NO_LINKS, CutLinks

if TYPE_CHECKING:
    import torch

    from .kept_pass import KeptPass

Predicts = Literal["next", "token", "class"]


class Rerun:
    """A model with the text that it was shown with.

    It refers to the model weakly, so that a widget keeps no deleted model in memory.

    Args:
        model, tokenizer, text, text_pair, target, batch_index: as for `attnwidget.ablate`.
        values: True if `record` has values, as in `attnwidget.capture`.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        tokenizer: Any,
        text: str | Mapping[str, Any],
        text_pair: str | None,
        *,
        target: str | None,
        batch_index: int,
        values: bool = False,
    ) -> None:
        own = weakref.ref(self)

        def forget(_deleted: object) -> None:
            rerun = own()
            if rerun is not None:
                rerun.forget()

        self._model = weakref.ref(model, forget)
        self._inputs = tokenizer, text, text_pair
        self._target, self._batch_index, self._values = target, batch_index, values
        self._kept: KeptPass | None = None

    def effect(
        self, stack: str, heads: Iterable[tuple[int, int]], cut: CutLinks = NO_LINKS
    ) -> tuple[Effect, Predicts]:
        """Switch heads off and cut links, and measure the difference.

        Args:
            stack: the name of their stack, as in the record.
            heads: (layer, head) of each.
            cut: the links.

        Returns:
            The effect, and what the model predicts: the "next" token of each position, the "token"
            there, or the "class" of the text.

        Raises:
            ReferenceError: the model was deleted.
            TypeError, ValueError: see `attnwidget.ablate`.
        """
        model = self._present()
        kept = self._pass(model)
        kept.check(stack, cut)
        effect = kept.effect(model, self._inputs[0], _edits(stack, heads, cut))
        return effect, _predicts(model, effect)

    def record(
        self, stack: str, heads: Iterable[tuple[int, int]], cut: CutLinks = NO_LINKS
    ) -> AttentionRecord:
        """Capture the attention without these; the arguments and errors are those above."""
        model = self._present()
        if cut.links:
            self._pass(model).check(stack, cut)
        # The steps are not those of a cell, which could show a bar.
        with on_step(lambda: None), intervene(model, *_edits(stack, heads, cut)):
            return capture(
                model,
                *self._inputs,
                target=self._target,
                batch_index=self._batch_index,
                values=self._values,
                image=False,
            )

    def forget(self) -> None:
        """Free what is kept of the model's pass; the next effect runs the whole model again."""
        self._kept = None

    def _pass(self, model: torch.nn.Module) -> KeptPass:
        """The pass of the whole model, run again if the model may have changed since."""
        # Imported here, so that records can be opened and shown without torch.
        from attnwidget.running.one_text import one_text

        from .kept_pass import KeptPass

        if self._kept is None or not self._kept.is_of(model):
            given = one_text(model, *self._inputs, self._target, self._batch_index)
            self._kept = KeptPass(model, given)
        return self._kept

    def _present(self) -> torch.nn.Module:
        model = self._model()
        if model is None:
            raise ReferenceError(
                "The model was deleted: keep it in a variable, and run the cell again."
            )
        return model


def _edits(stack: str, heads: Iterable[tuple[int, int]], cut: CutLinks) -> list[Ablate | KnockOut]:
    return [*(Ablate(layer, head, stack) for layer, head in heads), *cut.edits(stack)]


def _predicts(model: torch.nn.Module, effect: Effect) -> Predicts:
    # Imported here, so that records can be opened and shown without torch.
    from attnwidget.tracing import can_generate

    if effect.tokens == ("",):
        return "class"
    return "next" if can_generate(model) else "token"
