"""Generation, and the inputs of one pass that reads the prompt and the answer once more."""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch

from attnwidget.progress import step_done
from attnwidget.record import Replay, Tokens
from attnwidget.tracing import can_generate, undisturbed

from .inputs import Inputs, labelled
from .items import Padded
from .model import traits

_CACHES = ("cache", "past_key_values", "cache_params")

# The arguments that have an entry for each token of a text.
_PER_TOKEN = re.compile("(cross_)?attention_mask|langs|.*(type_ids|position_ids|position_mask)")

# The largest difference of logits, relative to the largest, for an answer to be recorded; and the
# largest that counts as rounding alone.
_ALLOWED, _ALLOWED_IN_HALF, _ROUNDING = 1e-4, 3e-2, 1e-5


@dataclass(frozen=True)
class Answer:
    """A text that a model has generated.

    Attributes:
        ways: inputs of one pass over the prompt and the answer, without its last token, which the
            model has not read; the first with which logits are those of the generation counts.
        logits: of the generation, for each token of the answer, [tokens, vocabulary].
    """

    ways: tuple[Inputs, ...]
    logits: torch.Tensor

    def replay(self, model: torch.nn.Module, output: Any) -> Replay:
        """The distance of the logits of that one pass from those of the generation.

        Raises:
            ValueError: they differ by more than rounding, so that the pass is no record of it.
        """
        found = getattr(output, "logits", None)
        batch, generated = self.ways[0].batch, self.logits
        if not isinstance(found, torch.Tensor) or found.ndim != 3:
            raise ValueError(f"{type(model).__name__} returns no logits to compare")
        if found.shape[0] != batch.size or found.shape[1] < len(generated):
            raise ValueError(
                f"{type(model).__name__} returns logits of shape {list(found.shape)} for an answer "
                f"of {len(generated)} tokens"
            )
        again = found[batch.index, -len(generated) :].to(generated.device, torch.float32)
        width = min(again.shape[1], generated.shape[1])
        again, own = again[:, :width], generated[:, :width].float()
        apart = (again - own).abs().masked_fill(again == own, 0).max()  # NaN if one of them is
        largest = own.masked_fill(~own.isfinite(), 0).abs().max().clamp(min=1e-30)
        difference = float(apart / largest)
        allowed = _ALLOWED_IN_HALF if _in_half_precision(model) else _ALLOWED
        reason = _reason(model) if not difference <= _ROUNDING else ""
        if not difference <= allowed:
            raise ValueError(
                f"the answer of {type(model).__name__} has no single attention: in one pass over "
                f"all of it, logits differ from those of its generation by {difference:.1e} of the "
                f"largest, because {reason}"
            )
        return Replay(difference, allowed, reason)


def generate(model: Any, tokenizer: Any, inputs: Inputs, options: Mapping[str, Any]) -> Answer:
    """Call `model.generate`, with gradients and dropout off.

    Raises:
        TypeError: the model does not generate.
        ValueError: it does not return what it has generated token by token.
    """
    if not can_generate(model):
        raise TypeError(
            f"{type(model).__name__} does not generate; load it with its language modelling "
            "head (AutoModelForCausalLM, AutoModelForSeq2SeqLM)"
        )
    wanted = {**options, "return_dict_in_generate": True, "output_logits": True}
    if (_option(model, options, "num_beams") or 1) > 1:
        # Before transformers 5, beam indices are returned with scores only.
        wanted["output_scores"] = True
    if "force_unique_generate_call" in inspect.signature(model.generate).parameters:
        wanted.setdefault("force_unique_generate_call", True)
    # The reader's own cache and tokens stay as they are.
    given = {
        name: copy.deepcopy(value) if name in _CACHES or name.endswith("_ids") else value
        for name, value in inputs.tensors.items()
    }
    passes = _Passes(model, inputs.batch.size)
    with undisturbed(model), passes.followed():
        result = model.generate(**given, **wanted)
    if not getattr(result, "logits", None):
        raise _without_logits(model)
    size, index = inputs.batch.size, inputs.batch.index
    sequences, beams = result.sequences, getattr(result, "beam_indices", None)
    # The first of the sequences that were generated for each item.
    sequences = sequences[:: len(sequences) // size]
    own = [index * (len(result.logits[0]) // size)] * len(result.logits)
    if beams is not None:
        own = [int(row) for row in beams[index * (len(beams) // size)] if row >= 0]
    prompt = sequences.shape[1] - (len(own) if beams is None else beams.shape[1])
    ends = _ends(model, options)
    if beams is None:
        ended = torch.isin(sequences[index, prompt:].cpu(), ends).nonzero()
        # After the end of this text, generate goes on with others of the batch.
        own = own[: int(ended[0]) + 1] if len(ended) else own
    if max(own, default=0) >= len(result.logits[0]):
        raise _without_logits(model)
    logits = torch.stack([each[row] for each, row in zip(result.logits, own, strict=False)])
    read = sequences[:, : prompt + len(own) - 1]
    if traits(model).has_decoder:
        again = _with_target(tokenizer, inputs, read, prompt)
    else:
        again = _with_answer(model, tokenizer, inputs, read, prompt, passes)
    unneeded = {"use_cache": False, "logits_to_keep": len(own)}
    known = traits(model).parameters
    tensors = {name: value for name, value in again.tensors.items() if name not in _CACHES}
    tensors |= {name: value for name, value in unneeded.items() if name in known}
    ways = [tensors]
    if "input_ids" in tensors and not traits(model).has_decoder:
        ways.append({**tensors, "attention_mask": _prefix_mask(model, tensors, len(own) - 1)})
    return Answer(tuple(replace(again, tensors=each) for each in ways), logits)


def _without_logits(model: torch.nn.Module) -> ValueError:
    return ValueError(
        f"generate of {type(model).__name__} does not return the logits of these tokens, so it "
        "cannot be told whether one pass over all of them has the same attention"
    )


def _with_target(tokenizer: Any, inputs: Inputs, read: torch.Tensor, prompt: int) -> Inputs:
    """The inputs with all tokens that a decoder has read."""
    tensors = {**inputs.tensors, "decoder_input_ids": read}
    mask = tensors.get("decoder_attention_mask")
    if isinstance(mask, torch.Tensor):
        tensors["decoder_attention_mask"] = _longer(mask, read.shape[1], 1)
    kept = torch.arange(read.shape[1])
    if inputs.batch.target is not None:  # a prompt of the decoder, which generate may begin
        before = prompt - inputs.batch.target.length
        kept = torch.cat([kept[:before], inputs.batch.target.kept + before, kept[prompt:]])
    target = _labelled(tokenizer, read[inputs.batch.index], kept, prompt)
    batch = replace(inputs.batch, target=Padded(read.shape[1], kept))
    return replace(
        inputs, tensors=tensors, batch=batch, sequences=replace(inputs.sequences, target=target)
    )


def _with_answer(
    model: Any, tokenizer: Any, inputs: Inputs, read: torch.Tensor, prompt: int, passes: _Passes
) -> Inputs:
    """The inputs of a decoder with the tokens of its answer."""
    given, text = inputs.tensors, inputs.batch.text
    text = Padded(prompt, torch.arange(prompt)) if text is None else text
    start, index = prompt or text.length, inputs.batch.index  # some return the answer alone
    length = start + read.shape[1] - prompt
    noted = {} if any(name in given for name in _CACHES) else passes.of_prompt(start)
    tensors = {
        name: _extended(name, value, text.length, start, length)
        for name, value in {**noted, **given}.items()
    }
    kept = torch.cat([text.kept[text.kept < start], torch.arange(start, length)])
    sequences = inputs.sequences
    if "inputs_embeds" in given:
        answer = model.get_input_embeddings()(read[:, prompt:])
        tensors["inputs_embeds"] = torch.cat([given["inputs_embeds"], answer], dim=1)
    else:
        ids = read if prompt else torch.cat([given["input_ids"], read], dim=1)
        tensors["input_ids"] = ids
        begin = len(kept) - (length - start)
        sequences = replace(sequences, text=_labelled(tokenizer, ids[index], kept, begin))
    batch = replace(inputs.batch, text=Padded(length, kept), cached=None)
    return replace(inputs, tensors=tensors, batch=batch, sequences=sequences)


def _extended(name: str, value: Any, given: int, prompt: int, length: int) -> Any:
    """An argument of a prompt, for its answer as well if it has an entry for each token.

    Args:
        given: the length of the prompt as it came.
        prompt: its length as the model has read it.
        length: of both.
    """
    if not isinstance(value, torch.Tensor) or not _PER_TOKEN.fullmatch(name):
        return value
    if name == "position_ids" and value.shape[-1] == prompt:
        after = torch.arange(1, length - prompt + 1, device=value.device)
        return torch.cat([value, value[..., -1:] + after], dim=-1)
    if value.ndim < 2 or value.shape[1] not in (given, prompt):
        return value
    value = value[:, :prompt]
    if value.ndim > 2:  # the images that each token sees, for instance
        return torch.cat([value, value[:, -1:].expand(-1, length - prompt, *value.shape[2:])], 1)
    return _longer(value, length, 1 if name == "attention_mask" else 0)


def _longer(value: torch.Tensor, length: int, fill: int) -> torch.Tensor:
    return torch.nn.functional.pad(value, (0, length - value.shape[1]), value=fill)


def _prefix_mask(model: Any, tensors: Mapping[str, Any], answer: int) -> torch.Tensor:
    """A mask [items, 1, Tq, Tk] with which the tokens of a prompt see each other.

    Those of the answer see what is before them, as they do step by step.
    """
    ids = tensors["input_ids"]
    length = ids.shape[1]
    seen = torch.ones(length, length, dtype=torch.bool, device=ids.device).tril()
    seen[:, : length - answer] = True
    mask = tensors.get("attention_mask", torch.ones_like(ids)).bool()
    hidden = ~(seen & mask[:, None, None])
    added = torch.zeros(hidden.shape, device=ids.device, dtype=model.dtype)
    return added.masked_fill(hidden, torch.finfo(model.dtype).min)


def _labelled(tokenizer: Any, ids: torch.Tensor, kept: torch.Tensor, prompt: int) -> Tokens:
    """Labels of the tokens, of which those after the prompt are generated."""
    tokens = labelled(tokenizer, ids.cpu()[kept].tolist())
    return replace(tokens, generated=prompt if prompt < len(tokens) else None)


def _option(model: Any, options: Mapping[str, Any], name: str) -> Any:
    """The value of an option of `generate`: an argument, or of a generation config."""
    if name in options:
        return options[name]
    configs = (options.get("generation_config"), getattr(model, "generation_config", None))
    values = (getattr(config, name, None) for config in configs)
    return next((value for value in values if value is not None), None)


def _ends(model: Any, options: Mapping[str, Any]) -> torch.Tensor:
    """The ids of the tokens that end a text."""
    ends = _option(model, options, "eos_token_id")
    return torch.tensor(ends if ends is not None else [], dtype=torch.long).flatten()


class _Passes:
    """The arguments of a model's passes over a prompt, which `generate` makes.

    Positions and types of tokens follow from masks and images in ways that models have of their
    own.
    """

    def __init__(self, model: torch.nn.Module, size: int) -> None:
        self._model = model
        self._size = size
        self._noted: dict[str, list[torch.Tensor]] = {}

    @contextmanager
    def followed(self) -> Iterator[None]:
        """Note arguments within this context."""
        handle = self._model.register_forward_pre_hook(self._note, with_kwargs=True)
        try:
            yield
        finally:
            handle.remove()

    def _note(self, model: torch.nn.Module, args: tuple[Any, ...], given: dict[str, Any]) -> None:
        step_done()
        for name, value in given.items():
            noted = name == "attention_mask" or name.endswith(("position_ids", "type_ids"))
            if noted and isinstance(value, torch.Tensor) and value.ndim > 1:
                self._noted.setdefault(name, []).append(value)

    def of_prompt(self, length: int) -> dict[str, torch.Tensor]:
        """The arguments that have a number for each token of a prompt, for each item."""
        found = {}
        for name, values in self._noted.items():
            count, joined = 1, values[0]
            while joined.shape[-1] < length and count < len(values):
                joined, count = torch.cat([joined, values[count]], dim=-1), count + 1
            if joined.shape[-1] != length or joined.ndim > 3:
                continue
            if joined.shape[-2] > self._size:  # a row for each beam
                joined = joined[..., :: joined.shape[-2] // self._size, :]
            found[name] = joined
        return found


def _in_half_precision(model: torch.nn.Module) -> bool:
    """True if a part of a model computes in 16 bits."""
    devices = {parameter.device.type for parameter in model.parameters()}
    return any(torch.is_autocast_enabled(device) for device in devices - {"meta"}) or any(
        parameter.dtype in (torch.float16, torch.bfloat16) for parameter in model.parameters()
    )


def _reason(model: torch.nn.Module) -> str:
    """Why one pass over all tokens may compute other logits than one pass for each."""
    config = getattr(model, "config", None)
    config = getattr(config, "get_text_config", lambda: config)()
    rope = getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None) or {}
    kinds = {
        str(each.get("rope_type", "")) for each in (rope, *rope.values()) if isinstance(each, dict)
    }
    for kind in ("dynamic", "longrope"):
        if kind in kinds:
            return f"its rotary embedding ({kind}) depends on the length of what it reads"
    if any("capacity" in name for name in getattr(config, "__dict__", {})):
        return "its experts have room for a number of tokens that depends on the length"
    if _in_half_precision(model):
        return "it computes in half precision, which rounds each pass in its own way"
    return (
        "what a token sees in it depends on how much it reads at once, or it reads tokens of its "
        "own in each pass"
    )
