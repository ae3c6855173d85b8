"""Generation of tokens, with the attention of all its steps joined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from attnwidget.record import Layer, Tokens
from attnwidget.running.inputs import Inputs, labelled
from attnwidget.running.items import Item, Items, Padded
from attnwidget.running.model import device_of, is_encoder_decoder, without_autocast
from attnwidget.running.sequences import Sequences
from attnwidget.running.stacks import is_cross, tower
from attnwidget.tracing import Address, can_generate, undisturbed

from .join_functions import JoinedFunctions
from .join_layers import joined_layer
from .recorder import RecordedCall, projected
from .steps import FunctionPass, LayerPass, Pass, Steps, is_pass

# Options with which a pass reads other tokens than the latest one.
_UNSUPPORTED = (
    "assistant_model",
    "assistant_early_exit",
    "prompt_lookup_num_tokens",
    "prefill_chunk_size",
    "custom_generate",
    "guidance_scale",
    "negative_prompt_ids",
)


class Generation:
    """One call of `model.generate`.

    Raises:
        TypeError: the model does not generate.
        ValueError: it does not generate one token after the other.
    """

    def __init__(
        self, model: Any, tokenizer: Any, inputs: Inputs, options: Mapping[str, Any]
    ) -> None:
        if not can_generate(model):
            raise TypeError(
                f"{type(model).__name__} does not generate; load it with its language modelling "
                "head (AutoModelForCausalLM, AutoModelForSeq2SeqLM)"
            )
        self.model, self.tokenizer, self.inputs, self.options = model, tokenizer, inputs, options
        self.two = is_encoder_decoder(model)
        unsupported = [name for name in _UNSUPPORTED if self._option(name) not in (None, 1)]
        if unsupported or "past_key_values" in inputs.tensors:
            raise ValueError(
                f"generate with {' and '.join(unsupported) or 'past_key_values'} does not read one "
                "token after the other from the first on; its attention cannot be put together"
            )
        if inputs.batch.text is None and not self.two:
            raise ValueError("to generate, a decoder needs input_ids")
        # The number of rows that the model computes per item.
        self.beams = int(self._option("num_beams") or 1)
        if self.beams == 1:
            self.beams = int(self._option("num_return_sequences") or 1)
        self._once_items = Items(inputs.batch, two=self.two, repeats=self.beams)
        self.result: Any = None

    def run(self) -> Any:
        options = {**self.options, "return_dict_in_generate": True}
        if self.beams > 1:
            # Before transformers 5, beam indices are returned with scores only.
            options["output_scores"] = True
        self.result = self.model.generate(**self.inputs.tensors, **options)
        return self.result

    def items(self, name: str) -> list[Item]:
        """All beams of the item, with padding.

        The beam of each step is known at the end, and padding is cut off after joining the steps.
        """
        batch = self.inputs.batch
        if self._once(name):
            return self._once_items.of(name)
        first = batch.index * self.beams
        return [Item(batch.size * self.beams, first + beam) for beam in range(self.beams)]

    def steps(self) -> Steps:
        """A sink for the calls of all passes."""
        batch = self.inputs.batch
        first = batch.index * self.beams
        return Steps(self._once, batch.size * self.beams, slice(first, first + self.beams))

    def calls(self, steps: Steps, *, values: bool) -> list[RecordedCall]:
        """Join the passes of each attention into one call.

        Args:
            values: True to keep values.
        """
        passes = steps.last_step + 1
        if passes > self._sequence().shape[0] - self._prompt() and self.beams == 1:
            raise ValueError(
                f"generate has run the model {passes} times, more often than once for each token; "
                "its attention cannot be put together"
            )
        functions = JoinedFunctions(values=values)
        calls = []
        with undisturbed(self.model), without_autocast(device_of(self.model)):
            # Free the steps that were joined.
            while steps.passes:
                module, number = key = next(iter(steps.passes))
                joined = self._joined(module, number, steps.passes.pop(key), functions)
                matrix = steps.projections.get(key)
                if matrix is not None:
                    layers = tuple(projected(layer, matrix) for layer in joined.layers)
                    joined = replace(joined, layers=layers)
                calls.append(joined)
        return calls

    def sequences(self) -> Sequences:
        """Labels with all generated tokens, the last of which the model has not read."""
        ids, text = self._sequence().tolist(), self.inputs.batch.text
        sequences = self.inputs.sequences
        if self.two:
            return replace(sequences, target=self._labelled(ids, self._prompt()), generated=True)
        assert text is not None
        prompt = text.kept.tolist()
        kept = [*prompt, *range(text.length, len(ids))]
        tokens = self._labelled([ids[n] for n in kept], len(prompt))
        return replace(sequences, text=tokens, generated=True)

    def _labelled(self, ids: list[int], prompt: int) -> Tokens:
        """Labels of the tokens, of which those after the prompt are generated."""
        tokens = labelled(self.tokenizer, ids)
        return replace(tokens, generated=prompt if prompt < len(tokens) else None)

    def _joined(
        self,
        module: str,
        number: int,
        entries: Sequence[Pass | RecordedCall],
        functions: JoinedFunctions,
    ) -> RecordedCall:
        """Join the passes of a call."""
        if self._once(module) and isinstance(entries[0], RecordedCall):
            return entries[0]
        beams = self._beams()
        within = [entry for entry in entries if entry.step < len(beams)]
        failed = [entry for entry in within if isinstance(entry, RecordedCall)]
        if failed:  # or not to be recorded
            return failed[0]
        passes = [entry for entry in within if is_pass(entry)]
        address = Address(module, passes[0].step if passes else 0, number)
        if not passes:
            return RecordedCall(address, ())
        try:
            return RecordedCall(address, (self._layer(module, passes, functions),))
        except ValueError as error:
            return RecordedCall(address, (), str(error))

    def _layer(self, module: str, passes: Sequence[Pass], functions: JoinedFunctions) -> Layer:
        if passes[-1].span.start == 0:  # a pass over all tokens so far
            passes = passes[-1:]
        if any(each.span.start == 0 for each in passes[1:]):
            raise ValueError("a pass of its generation reads several tokens at once")
        beams = self._beams()
        if [each.step for each in passes] != list(range(passes[0].step, len(beams))):
            raise ValueError("its attention in some passes of the generation could not be followed")
        chosen = [beams[each.step] for each in passes]
        text, kept, cross = self.inputs.batch.text, None, is_cross(module)
        if text is not None and (not self.two or cross):
            # The last token is not read.
            length = text.length if cross else text.length + len(beams) - 1
            kept = Padded(length, torch.cat([text.kept, torch.arange(text.length, length)]))
        by_function = [each for each in passes if isinstance(each, FunctionPass)]
        by_softmax = [each for each in passes if isinstance(each, LayerPass)]
        if by_function and by_softmax:
            raise ValueError("some passes of its generation call an attention function, others not")
        if by_function:
            return functions.layer(module, by_function, chosen, cross=cross, kept=kept)
        rows = [each.beams[beam] for each, beam in zip(by_softmax, chosen, strict=True)]
        return joined_layer(rows, [each.span for each in by_softmax], cross=cross, kept=kept)

    def _option(self, name: str) -> Any:
        """The value of an option of `generate`: an argument, or of a generation config."""
        configs = (self.options.get("generation_config"), self.model.generation_config)
        if name in self.options:
            return self.options[name]
        values = (getattr(config, name, None) for config in configs)
        return next((value for value in values if value is not None), None)

    def _once(self, name: str) -> bool:
        """True if a module runs only once, before the first token is generated."""
        module_tower = tower(name)
        if module_tower in ("vision", "audio", "qformer"):
            return True
        return self.two and module_tower != "decoder"

    def _sequence(self) -> torch.Tensor:
        """The token ids of the recorded sequence, which is the item's first."""
        sequences: torch.Tensor = self.result.sequences
        return sequences[self._row(len(sequences))].cpu()

    def _row(self, rows: int) -> int:
        """The item's first row, of `rows` in all."""
        batch = self.inputs.batch
        return batch.index * (rows // batch.size)

    def _beams(self) -> list[int]:
        """The beam of the recorded sequence in each forward pass."""
        indices = getattr(self.result, "beam_indices", None)
        if indices is None:
            if int(self._option("num_beams") or 1) > 1:
                raise ValueError("generate does not say which beam each step belongs to")
            generated = self._sequence()[self._prompt() :]
            # After the end of this text, generate goes on with others of the batch.
            ends = torch.isin(generated, torch.tensor(self._ends())).nonzero()
            return [0] * (int(ends[0]) + 1 if len(ends) else len(generated))
        row, first = self._row(len(indices)), self.inputs.batch.index * self.beams
        return [int(beam) - first for beam in indices[row] if beam >= 0]

    def _ends(self) -> list[int]:
        """The ids of the tokens that end a text."""
        end = self._option("eos_token_id")
        if end is None:
            return []
        return list(end) if isinstance(end, (list, tuple)) else [int(end)]

    def _prompt(self) -> int:
        """The length of the prompt."""
        batch = self.inputs.batch
        prompt = batch.target if self.two else batch.text
        return 1 if prompt is None else prompt.length
