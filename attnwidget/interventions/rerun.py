"""A model with one text, which runs on it again with heads off and links cut."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from attnwidget.analysis import RunningText, mean_rows, place_ratios, sentence_orders
from attnwidget.capture import record_of
from attnwidget.progress import on_step
from attnwidget.record import AttentionRecord
from attnwidget.running.forward import run_inputs
from attnwidget.running.generation import (
    Generation,
    cache_name,
    cache_of_all,
    drawn_again,
    generated,
)
from attnwidget.running.inputs import Inputs, on_device
from attnwidget.running.model import CACHES, traceable
from attnwidget.running.one_text import one_item
from attnwidget.tracing import can_generate, trace, undisturbed

from .answer_cuts import AnswerCuts, sides
from .editor import editing, intervene
from .edits import KnockOut
from .effect import Doubles, Effect, Predicts
from .kept_pass import KeptPass
from .off import Cut, MeasuredCut, Off
from .sites import SiteFinder, with_those_beside

_OF_A_PASS = ("logits_to_keep", "use_cache")

# The orders of the sentences of a prompt that are read.
_ORDERS = 8

# More tokens than an answer has.
_LONGEST_ANSWER = 1 << 14


class Rerun:
    """A model with the inputs of the pass that is shown.

    It refers to the model weakly, so that a widget keeps no deleted model in memory.

    Args:
        model, tokenizer: the model, and what names its tokens.
        inputs: of the pass; of a generated text, the prompt and the answer.
        generation: how the text was generated; None if it was not.
        values: True if `record` has values, as in `attnwidget.capture`.

    Attributes:
        measured: what an answer was found to be without some of its links, by stack and cut, for
            pages, which cannot run the model.
        shuffles: likewise what `shuffled` has found, by the stack.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        tokenizer: Any,
        inputs: Inputs,
        generation: Generation | None = None,
        *,
        values: bool = False,
    ) -> None:
        model = traceable(model)
        own = weakref.ref(self)

        def forget(_deleted: object) -> None:
            rerun = own()
            if rerun is not None:
                rerun.forget()

        self._model = weakref.ref(model, forget)
        # The pass may compute the last logits alone, or without a cache, as its generation was.
        tensors = {name: x for name, x in inputs.tensors.items() if name not in _OF_A_PASS}
        self._tokenizer, self._inputs = tokenizer, replace(inputs, tensors=tensors)
        self._generation, self._values = generation, values
        self._kept: KeptPass | None = None
        self.measured: dict[tuple[str, Cut], MeasuredCut] = {}
        self.shuffles: dict[str, Doubles] = {}

    def effect(self, off: Off) -> tuple[Effect, Predicts]:
        """Switch heads off and cut links, and measure the difference.

        Returns:
            The effect, and what the model predicts: the "next" token of each position, the "token"
            there, or the "class" of the text.

        Raises:
            ReferenceError: the model was deleted.
            TypeError, ValueError: see `attnwidget.ablate`.
        """
        model = self._present()
        effect = self._pass(model).effect(model, self._tokenizer, off)
        if effect.tokens == ("",):
            return effect, "class"
        return effect, "next" if can_generate(model) else "token"

    def others(self, off: Off) -> tuple[float, ...]:
        """The mean effects of as many other heads of the same layers, drawn at random.

        Returns:
            Six, or fewer where there are no more; none beside links that are cut.

        Raises:
            ReferenceError, TypeError, ValueError: see `effect`.
        """
        model = self._present()
        return self._pass(model).others(model, off)

    def record(self, off: Off) -> AttentionRecord:
        """Capture the attention without these; raises as `effect`."""
        model = self._present()
        if off.links:
            self._pass(model).check(off)
        # The steps are not those of a cell, which could show a bar.
        with on_step(lambda: None), intervene(model, *off.edits):
            inputs = self._on_device(model)
            return record_of(model, self._tokenizer, inputs, values=self._values, image=False)

    def cut(self, stack: str, probabilities: Sequence[float], cuts: Sequence[Cut]) -> Doubles:
        """The log probabilities of the tokens of a generated answer, before and after each cut.

        Args:
            stack: the stack whose links are cut.
            probabilities: those of the tokens in the generation.

        Returns:
            Nats, [1 + cuts, tokens], the first without any cut.

        Raises:
            ValueError: nothing was generated, or the links cannot be cut.
            ReferenceError: the model was deleted.
        """
        model = self._present()
        if not self._inputs.answer:
            raise ValueError("the model generated no answer here: capture the text with generate=")
        given, answer = one_item(self._on_device(model)), self._inputs.answer
        found = AnswerCuts(given, answer, probabilities, stack).log_probabilities(model, cuts)
        for cut, numbers in zip(cuts, found[1:], strict=True):
            before = self.measured.get((stack, cut))
            text = None if before is None else before.answer
            self.measured[stack, cut] = MeasuredCut(numbers - found[0], text)
        return found

    def answer_without(self, stack: str, rows: int, keys: Sequence[int]) -> str:
        """The text that the model generates if its answer has no links to some keys.

        They are cut in all layers that mix the same tokens. Where some have no softmax, each token
        is generated by reading the whole text.

        Args:
            stack: the stack whose links are cut.
            rows: the position of the first row that writes the answer.
            keys: positions in the record.

        Raises:
            ValueError, ReferenceError: see `cut`.
        """
        model = self._present()
        if self._generation is None:
            raise ValueError("the model generated no answer here: capture the text with generate=")
        generation, inputs = self._generation, self._on_device(model)
        prompt = replace(generation.prompt, tensors=on_device(generation.prompt.tensors, model))
        finder, options = SiteFinder(), dict(generation.options)
        with undisturbed(model), trace(model, finder, inputs.batch.size):
            run_inputs(model, inputs)
        sites = finder.sites(model, inputs.batch.size).found
        # The positions of the model, which counts padding.
        cut = with_those_beside(finder, sites, stack)
        cross, stacks = cut[0].kind.cross, dict.fromkeys(site.stack for site in cut)
        of_rows, of_keys = sides(inputs.batch, cross=cross)
        first, hidden = int(of_rows.kept[rows]), of_keys.kept[list(keys)].tolist()
        later = range(first + 1, first + _LONGEST_ANSWER)
        # As in `cut`, a row keeps the link to itself.
        others = hidden if cross else [key for key in hidden if key != first]
        links = [([first], others), (later, hidden)]
        knocked = [KnockOut(*link, stack=each) for each in stacks for link in links if link[1]]
        # What is written now is no part of what a reader follows.
        options.pop("streamer", None)
        if any(site.signed for site in cut):  # a state does not say what each token wrote
            options["use_cache"] = False
        elif CACHES.isdisjoint(options) and (whole := cache_of_all(model)) is not None:
            options |= {cache_name(model): whole, "cache_implementation": None}
        # The new answer may end with its first token.
        edited = editing(model, knocked, sites, may_miss=True)
        with on_step(lambda: None), edited, drawn_again(generation):
            answer = generated(model, self._tokenizer, prompt, options)
        text = "".join(each.text for each in answer.written)
        part = stack, Cut(tuple(keys))
        if part in self.measured:
            self.measured[part] = replace(self.measured[part], answer=text)
        return text

    def shuffled(self, stack: str, text: RunningText, counted: NDArray[np.bool_]) -> Doubles:
        """The shares that places of the prompt get when its sentences stand in other orders.

        The same answer is read after eight random orders of the sentences within their messages.

        Args:
            stack: the stack whose attention is read.
            text: its running text.
            counted: True for the keys that are the prompt's text and no sinks.

        Returns:
            By row and by place, the mean over the orders of the share of another sentence that
            stands there, as a multiple of an even share, [rows, sentences]; NaN where none ever
            does.

        Raises:
            ValueError: the tokens of the prompt are not all that the model reads of it.
            ReferenceError: the model was deleted.
        """
        model = self._present()
        inputs = self._on_device(model)
        ids, padded = inputs.tensors.get("input_ids"), inputs.batch.text
        if padded is None or ids is None or len(padded.kept) != len(text.keys):
            raise ValueError("the sentences of this prompt cannot be put in another order")
        kept, rows = padded.kept.to(ids.device), np.arange(text.rows.start, text.rows.stop)
        total, count = np.zeros((len(rows), len(text.sentences))), np.zeros(len(text.sentences))
        for order in sentence_orders(text, _ORDERS, seed=0):
            moved = ids.clone()
            own = moved[inputs.batch.index]
            own[kept] = own[kept[torch.from_numpy(order.keys).to(ids.device)]]
            with on_step(lambda: None):
                changed = replace(inputs, tensors={**inputs.tensors, "input_ids": moved})
                record = record_of(model, self._tokenizer, changed, values=False, image=False)
            ratios = place_ratios(order, counted, mean_rows(record.stack(stack), rows))
            total += np.nan_to_num(ratios)
            count += ~np.isnan(ratios[0])
        found: Doubles = np.where(count > 0, total / np.maximum(count, 1), np.nan)
        self.shuffles[stack] = found
        return found

    def _on_device(self, model: torch.nn.Module) -> Inputs:
        """The inputs where the model is now."""
        return replace(self._inputs, tensors=on_device(self._inputs.tensors, model))

    def forget(self) -> None:
        """Free what is kept of the model's pass; the next effect runs the whole model again."""
        self._kept = None

    def _pass(self, model: torch.nn.Module) -> KeptPass:
        """The pass of the whole model, run again if the model may have changed since."""
        if self._kept is None or not self._kept.is_of(model):
            self._kept = KeptPass(model, one_item(self._on_device(model)))
        return self._kept

    def _present(self) -> torch.nn.Module:
        model = self._model()
        if model is None:
            raise ReferenceError(
                "The model was deleted: keep it in a variable, and run the cell again."
            )
        return model
