"""Generation: a model writes a text, whose inputs one more pass can read."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch
from transformers import DynamicCache

from attnwidget.progress import step_done
from attnwidget.tracing import can_generate, undisturbed

from .inputs import Inputs
from .items import Batch
from .model import CACHES, own_copies, traits
from .replay import Answer
from .reread import with_a_prompt_that_sees_itself, with_answer, with_target
from .written import written


@dataclass(frozen=True)
class Generation:
    """The prompt, options and random numbers of a generated text, which repeat it.

    Attributes:
        prompt: the inputs.
        options: the arguments of `model.generate`.
        random: the states of torch's random numbers before it, of the processor and, by their
            numbers, of the GPUs that the prompt lies on.
    """

    prompt: Inputs
    options: Mapping[str, Any]
    random: tuple[torch.Tensor, Mapping[int, torch.Tensor]]

    @classmethod
    def beginning(cls, prompt: Inputs, options: Mapping[str, Any]) -> Generation:
        """A generation that begins now."""
        tensors = [each for each in prompt.tensors.values() if isinstance(each, torch.Tensor)]
        gpus = {each.device.index for each in tensors if each.device.type == "cuda"}
        states = {gpu: torch.cuda.get_rng_state(gpu) for gpu in sorted(gpus)}
        return cls(prompt, dict(options), (torch.get_rng_state(), states))


@contextmanager
def drawn_again(generation: Generation) -> Iterator[None]:
    """Draw the random numbers of a generation again, and restore those of now at the end."""
    of_processor, of_gpus = generation.random
    with torch.random.fork_rng(devices=list(of_gpus)):
        torch.set_rng_state(of_processor)
        for gpu, state in of_gpus.items():
            torch.cuda.set_rng_state(state, gpu)
        yield


def generated(model: Any, tokenizer: Any, inputs: Inputs, options: Mapping[str, Any]) -> Answer:
    """The text that `model.generate` writes, with gradients and dropout off.

    Raises:
        TypeError: the model does not generate.
        ValueError: it does not return what it has generated token by token, or it has not read all
            of the prompt in one pass.
    """
    if not can_generate(model):
        raise TypeError(
            f"{type(model).__name__} does not generate; load it with its language modelling "
            "head (AutoModelForCausalLM, AutoModelForSeq2SeqLM)"
        )
    _check_prompt(model, inputs)
    if not traits(model).has_decoder:
        # Some processors add those of a prompt, of which a loss would want all logits.
        tensors = {name: value for name, value in inputs.tensors.items() if name != "labels"}
        inputs = replace(inputs, tensors=tensors)
    wanted = {**options, "return_dict_in_generate": True, "output_logits": True}
    if (_option(model, options, "num_beams") or 1) > 1:
        # Before transformers 5, beam indices are returned with scores only.
        wanted["output_scores"] = True
    if "force_unique_generate_call" in inspect.signature(model.generate).parameters:
        wanted.setdefault("force_unique_generate_call", True)
    passes = _Passes(model, inputs.batch)
    with undisturbed(model), passes.followed():
        result = model.generate(**own_copies({**inputs.tensors, **wanted}))
    size, sequences = inputs.batch.size, getattr(result, "sequences", None)
    if sequences is None or not getattr(result, "logits", None):
        raise _without_logits(model, options)
    # The first of the sequences that were generated for each item.
    sequences = sequences[:: len(sequences) // size]
    rows, prompt = _rows(model, inputs.batch, options, result, sequences)
    if max(rows, default=0) >= len(result.logits[0]):
        raise _without_logits(model, options)
    steps = zip(result.logits, rows, strict=False)
    logits = [step[row].clone() if len(step) > 1 else step[row] for step, row in steps]
    read = sequences[:, : prompt + len(rows) - 1].contiguous()
    if traits(model).has_decoder:
        again = with_target(tokenizer, inputs, read, prompt)
    else:
        # If a part of a prompt is in a cache, no pass reads all of it.
        cached = not CACHES.isdisjoint([*inputs.tensors, *options])
        noted = (lambda _length: {}) if cached else passes.of_prompt
        again = with_answer(model, tokenizer, inputs, read, prompt, noted)
    own = sequences[inputs.batch.index, prompt : prompt + len(rows)].cpu()
    if own.ndim == 1:
        again = replace(again, answer=tuple(own.tolist()))
    return Answer(_ways(model, again, len(rows)), logits, written(tokenizer, own, logits))


def cache_name(model: torch.nn.Module) -> str:
    """The name of a model's argument for a cache, which newer versions of transformers changed."""
    return "cache" if "cache" in traits(model).parameters else "past_key_values"


def cache_of_all(model: torch.nn.Module) -> Any:
    """A cache of all tokens, for a model whose own keeps a window of them; None for others."""
    config: Any = getattr(model, "config", None)
    config = getattr(config, "get_text_config", lambda: config)()
    kinds = set(getattr(config, "layer_types", None) or ())
    windows = getattr(config, "sliding_window", None)
    if (
        traits(model).has_decoder
        or not windows
        or not kinds <= {"full_attention", "sliding_attention"}
    ):
        return None
    return DynamicCache()


def _check_prompt(model: Any, inputs: Inputs) -> None:
    """Raise for prompts that generate reads in more passes than one."""
    if inputs.batch.cached is not None and not CACHES.isdisjoint(inputs.tensors):
        raise ValueError(
            "the first tokens of this prompt are in a cache alone: give all of input_ids, along "
            "with the cache"
        )
    config: Any = getattr(model, "config", None)
    sound = inputs.tensors.get("input_features")
    if getattr(config, "model_type", "") == "whisper" and isinstance(sound, torch.Tensor):
        window = 2 * config.max_source_positions  # its convolutions halve the length
        if sound.shape[-1] > window:
            raise ValueError(
                f"the sound has {sound.shape[-1]} frames, which {type(model).__name__} reads in "
                f"windows of {window}, each in a pass of its own: capture one window at a time"
            )


def _rows(
    model: Any, batch: Batch, options: Mapping[str, Any], result: Any, sequences: torch.Tensor
) -> tuple[list[int], int]:
    """The row of each step's logits that belongs to the item, and the length of the prompt."""
    size, index, count = batch.size, batch.index, len(result.logits)
    if (beams := getattr(result, "beam_indices", None)) is not None:
        rows = [int(row) for row in beams[index * (len(beams) // size)] if row >= 0]
        # Before transformers 5, indices are filled up to the length of prompt and answer.
        return rows, sequences.shape[1] - int((beams >= 0).sum(dim=1).max())
    prompt = sequences.shape[1] - count
    answer = sequences[index, prompt:].cpu()
    # After the end of this text, generate goes on with others of the batch.
    ends = _option(model, options, "eos_token_id")
    ends = torch.tensor([] if ends is None else ends, dtype=torch.long).flatten()
    if len(ended := torch.isin(answer, ends).nonzero()):
        count = int(ended[0]) + 1
    elif len(ends) and (
        options.get("stopping_criteria") or _option(model, options, "stop_strings")
    ):
        # It fills up what has ended by a criterion.
        written = (answer != _option(model, options, "pad_token_id")).nonzero()
        count = int(written[-1]) + 1 if len(written) else 1
    return [index * (len(result.logits[0]) // size)] * count, prompt


def _ways(model: Any, again: Inputs, answer: int) -> tuple[Callable[[], Inputs], ...]:
    """The inputs without a cache, and those with a prompt whose tokens see each other."""
    unneeded = {"use_cache": False, "logits_to_keep": answer}
    kind = traits(model)
    tensors = {name: value for name, value in again.tensors.items() if name not in CACHES}
    tensors |= {name: value for name, value in unneeded.items() if name in kind.parameters}
    again = replace(again, tensors=tensors)
    if kind.has_decoder or "input_ids" not in tensors:
        return (lambda: again,)
    return (lambda: again, lambda: with_a_prompt_that_sees_itself(model, again, answer - 1))


def _without_logits(model: torch.nn.Module, options: Mapping[str, Any]) -> ValueError:
    given = f" with {', '.join(options)}" if options else ""
    return ValueError(
        f"generate of {type(model).__name__}{given} does not return the logits of these tokens, so "
        "it cannot be told whether one pass over all of them has the same attention"
    )


def _option(model: Any, options: Mapping[str, Any], name: str) -> Any:
    """The value of an option of `generate`: an argument, or of a generation config."""
    if name in options:
        return options[name]
    configs = (options.get("generation_config"), getattr(model, "generation_config", None))
    values = (getattr(config, name, None) for config in configs)
    return next((value for value in values if value is not None), None)


class _Passes:
    """The arguments of a model's passes over a prompt, which `generate` makes.

    Positions and types of tokens follow from masks and images in ways that models have of their
    own. A wrapper's `generate` may be that of a model inside of it.
    """

    def __init__(self, model: torch.nn.Module, batch: Batch) -> None:
        self._model = model
        self._size = batch.size
        self._length = 1 if batch.text is None else batch.text.length
        self._generating: torch.nn.Module | None = None
        self._noted: dict[str, torch.Tensor] = {}

    @contextmanager
    def followed(self) -> Iterator[None]:
        """Note arguments within this context."""
        with ExitStack() as undo:
            for module in filter(can_generate, self._model.modules()):
                handle = module.register_forward_pre_hook(self._note, with_kwargs=True)
                undo.callback(handle.remove)
            yield

    def _note(self, module: torch.nn.Module, args: tuple[Any, ...], given: dict[str, Any]) -> None:
        self._generating = module if self._generating is None else self._generating
        if module is not self._generating:
            return
        step_done()
        for name, value in given.items():
            noted = name == "attention_mask" or name.endswith(("position_ids", "type_ids"))
            if not noted or not isinstance(value, torch.Tensor) or value.ndim < 2:
                continue
            before = self._noted.get(name)
            if before is None:
                self._noted[name] = value
            elif before.shape[-1] < self._length and before.shape[:-1] == value.shape[:-1]:
                self._noted[name] = torch.cat([before, value], dim=-1)

    def of_prompt(self, length: int) -> dict[str, torch.Tensor]:
        """The arguments that have a number for each token of a prompt, for each item."""
        found, kind = {}, traits(self._model)
        for name, value in self._noted.items():
            known = name in kind.parameters or kind.takes_any
            if value.shape[-1] == length and value.ndim <= 3 and known:
                beams = max(1, value.shape[-2] // self._size)  # a row for each
                found[name] = value[..., ::beams, :]
        return found
