"""Generation of tokens, with the attention of all its steps put together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from attnwidget.tracing import can_generate

from .assemble import assembled
from .inputs import Inputs, labelled
from .items import Item, Items
from .model import is_encoder_decoder
from .recorder import RecordedCall
from .sequences import Sequences
from .stacks import is_cross, tower

# With these, a pass does not read one token more than the pass before.
_OTHER_WAYS = (
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
        others = [name for name in _OTHER_WAYS if self._option(name) not in (None, 1)]
        if others or "past_key_values" in inputs.tensors:
            raise ValueError(
                f"generate with {' and '.join(others) or 'past_key_values'} does not read one "
                "token after the other from the first on; its attention cannot be put together"
            )
        if inputs.batch.text is None and not self.two:
            raise ValueError("to generate, a decoder needs input_ids")
        # The number of rows that the model computes for each item.
        self.beams = int(self._option("num_beams") or 1)
        if self.beams == 1:
            self.beams = int(self._option("num_return_sequences") or 1)
        self._once_items = Items(inputs.batch, two=self.two, repeats=self.beams)
        self.result: Any = None

    def run(self) -> Any:
        options = {**self.options, "return_dict_in_generate": True}
        if self.beams > 1:
            # Before transformers 5, the scores alone say which beam is which.
            options["output_scores"] = True
        self.result = self.model.generate(**self.inputs.tensors, **options)
        return self.result

    def items(self, name: str) -> list[Item]:
        """All beams of the item: which of them a step belongs to is known at the end.

        Padding is cut off at the end, when all steps have been put together.
        """
        batch = self.inputs.batch
        if self._once(name):
            return self._once_items.of(name)
        first = batch.index * self.beams
        return [Item(batch.size * self.beams, first + beam) for beam in range(self.beams)]

    def calls(self, recorded: Sequence[RecordedCall]) -> list[RecordedCall]:
        """Each attention as one call, put together from all steps."""
        steps: dict[tuple[str, int], list[RecordedCall]] = defaultdict(list)
        for call in recorded:
            steps[call.address.module, call.address.call].append(call)
        passes = max((call.address.step for call in recorded), default=-1) + 1
        if passes > self._sequence().shape[0] - self._prompt() and self.beams == 1:
            raise ValueError(
                f"generate has run the model {passes} times, more often than once for each token; "
                "its attention cannot be put together"
            )
        return [self._joined(calls) for calls in steps.values()]

    def sequences(self) -> Sequences:
        """With the generated tokens; the last of them, which the model has not read, has no row."""
        ids, text = self._sequence().tolist(), self.inputs.batch.text
        known = self.inputs.sequences
        if self.two:
            return replace(known, target=labelled(self.tokenizer, ids), generated=True)
        assert text is not None
        kept = [*text.kept.tolist(), *range(text.length, len(ids))]
        written = labelled(self.tokenizer, [ids[n] for n in kept])
        return replace(known, text=written, generated=True)

    def _joined(self, steps: list[RecordedCall]) -> RecordedCall:
        """One call, of which the model makes one in every step."""
        first, beams = steps[0], self._beams()
        module = first.address.module
        if self._once(module):
            return first
        steps = [call for call in steps if call.address.step < len(beams)]
        failed = [call for call in steps if not call.layers]
        if failed or not steps:  # or not wanted
            return failed[0] if failed else replace(first, layers=())
        pieces = [
            call.layers[beams[call.address.step] if len(call.layers) > 1 else 0] for call in steps
        ]
        text, kept, cross = self.inputs.batch.text, None, is_cross(module)
        if text is not None and (not self.two or cross):
            grown = torch.arange(text.length, text.length + len(beams))
            kept = torch.cat([text.kept, grown]).numpy()
        try:
            return replace(first, layers=(assembled(pieces, cross=cross, kept=kept),))
        except ValueError as error:
            return replace(first, layers=(), reason=str(error))

    def _option(self, name: str) -> Any:
        """An option as `generate` finds it: an argument, or of its configuration or the model's."""
        configs = (self.options.get("generation_config"), self.model.generation_config)
        if name in self.options:
            return self.options[name]
        found = (getattr(config, name, None) for config in configs)
        return next((value for value in found if value is not None), None)

    def _once(self, name: str) -> bool:
        """True if a module runs before the first token is generated, and not again."""
        part = tower(name)
        return part in ("vision", "audio", "qformer") or (self.two and part != "decoder")

    def _sequence(self) -> torch.Tensor:
        """The token ids of the sequence recorded: the first of its item's."""
        sequences: torch.Tensor = self.result.sequences
        return sequences[self._row(len(sequences))].cpu()

    def _row(self, rows: int) -> int:
        """The first row of the item, of which there may be several for each item."""
        batch = self.inputs.batch
        return batch.index * (rows // batch.size)

    def _beams(self) -> list[int]:
        """The row of each forward pass in which the recorded sequence was."""
        indices = getattr(self.result, "beam_indices", None)
        if indices is None:
            if int(self._option("num_beams") or 1) > 1:
                raise ValueError("generate does not say which beam each step belongs to")
            written = self._sequence()[self._prompt() :]
            # Beyond the end of a text, the others of the batch go on.
            ends = torch.isin(written, torch.tensor(self._ends())).nonzero()
            return [0] * (int(ends[0]) + 1 if len(ends) else len(written))
        row, first = self._row(len(indices)), self.inputs.batch.index * self.beams
        return [int(beam) - first for beam in indices[row] if beam >= 0]

    def _ends(self) -> list[int]:
        end = self._option("eos_token_id")
        return [] if end is None else list(end) if isinstance(end, (list, tuple)) else [int(end)]

    def _prompt(self) -> int:
        batch = self.inputs.batch
        prompt = batch.target if self.two else batch.text
        return 1 if prompt is None else prompt.length
