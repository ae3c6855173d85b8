"""The inputs of one pass that reads a prompt and its answer once more."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Any

import torch

from attnwidget.record import Piece, Tokens

from .inputs import Inputs, labelled
from .labels import text_tokenizer
from .padding import Padded
from .words import Offsets, spans_of_ids
from .written import texts

# The arguments that have an entry for each token of a text.
_PER_TOKEN = re.compile(
    "(cross_|image_)?attention_mask|langs|.*(type_ids|position_ids|position_mask)"
)


def with_target(tokenizer: Any, inputs: Inputs, read: torch.Tensor, prompt: int) -> Inputs:
    """The inputs of an encoder-decoder with all tokens that its decoder has read.

    Args:
        prompt: the number of tokens that were not generated.
    """
    tensors = {**inputs.tensors, "decoder_input_ids": read}
    mask, target = tensors.get("decoder_attention_mask"), inputs.batch.target
    length, kept, begin = read.shape[1], torch.arange(read.shape[1]), prompt
    if target is not None:  # a prompt of the decoder, before which generate may put a token
        before = prompt - target.length
        kept = torch.cat([kept[:before], target.kept + before, kept[prompt:]])
        begin = before + len(target.kept)
        if isinstance(mask, torch.Tensor):
            mask = torch.nn.functional.pad(mask, (before, 0), value=1)
            tensors["decoder_attention_mask"] = _longer(mask, length, 1)
    tokens = answer_tokens(tokenizer, read[inputs.batch.index], kept, begin)
    batch = replace(inputs.batch, target=Padded(length, kept))
    return replace(
        inputs, tensors=tensors, batch=batch, sequences=replace(inputs.sequences, target=tokens)
    )


def with_answer(
    model: Any,
    tokenizer: Any,
    inputs: Inputs,
    read: torch.Tensor,
    prompt: int,
    noted: Callable[[int], Mapping[str, torch.Tensor]],
) -> Inputs:
    """The inputs of a decoder with the tokens of its answer.

    Args:
        read: the tokens that it has read; some models return those of the answer alone.
        prompt: the number of them that were not generated.
        noted: returns what the model was given for each token of a prompt of this length.
    """
    given, text = inputs.tensors, inputs.batch.text
    text = Padded(prompt, torch.arange(prompt)) if text is None else text
    start, index = prompt or text.length, inputs.batch.index
    length = start + read.shape[1] - prompt
    tensors = {
        name: _extended(name, value, text.length, start, length)
        for name, value in {**noted(start), **given}.items()
    }
    kept = text.kept[text.kept < start]
    begin, kept = len(kept), torch.cat([kept, torch.arange(start, length)])
    ids = read
    if not prompt and "input_ids" in given:
        ids = torch.cat([given["input_ids"], read], dim=1)
    if ids.shape[1] == length:
        tensors["input_ids"] = ids
        tokens = answer_tokens(tokenizer, ids[index], kept, begin, inputs.sequences.text)
    else:  # a prompt of vectors
        tokens = answer_tokens(tokenizer, ids[index], torch.arange(length - start), 0)
        positions = tuple(str(position) for position in range(begin))
        special = tuple(begin + position for position in tokens.special)
        tokens = Tokens((*positions, *tokens.labels), special=special, generated=begin)
    if "inputs_embeds" in given:
        tensors.pop("input_ids", None)
        answer = model.get_input_embeddings()(read[:, prompt:])
        tensors["inputs_embeds"] = torch.cat([given["inputs_embeds"], answer], dim=1)
    batch = replace(inputs.batch, text=Padded(length, kept), cached=None)
    sequences = replace(inputs.sequences, text=tokens)
    return replace(inputs, tensors=tensors, batch=batch, sequences=sequences)


def with_a_prompt_that_sees_itself(model: Any, inputs: Inputs, answer: int) -> Inputs:
    """The inputs with a mask [items, 1, Tq, Tk] with which a prompt's tokens see each other.

    Those of the answer see what is before them, as they do step by step.
    """
    ids = inputs.tensors["input_ids"]
    length = ids.shape[1]
    seen = torch.ones(length, length, dtype=torch.bool, device=ids.device).tril()
    seen[:, : length - answer] = True
    mask = inputs.tensors.get("attention_mask", torch.ones_like(ids)).bool()
    hidden = ~(seen & mask[:, None, None])
    added = torch.zeros(hidden.shape, device=ids.device, dtype=model.dtype)
    added = added.masked_fill(hidden, torch.finfo(model.dtype).min)
    return replace(inputs, tensors={**inputs.tensors, "attention_mask": added})


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


def is_per_token(name: str, value: Any, length: int) -> bool:
    """True for an argument with an entry for each of so many tokens, along its last axis."""
    known = name == "input_ids" or _PER_TOKEN.fullmatch(name)
    return bool(known) and isinstance(value, torch.Tensor) and value.shape[-1] == length


def _longer(value: torch.Tensor, length: int, fill: int) -> torch.Tensor:
    return torch.nn.functional.pad(value, (0, length - value.shape[1]), value=fill)


def answer_tokens(
    tokenizer: Any, ids: torch.Tensor, kept: torch.Tensor, begin: int, asked: Tokens | None = None
) -> Tokens:
    """Labels of the tokens that are kept, of which those from `begin` on are generated.

    Tokens of several numbers each, such as those of a codec, have positions.

    Args:
        asked: the tokens of the prompt, in whose text offsets count.
    """
    if ids.ndim > 1:
        tokens = Tokens(tuple(map(str, kept.tolist())))
    else:
        own = ids.cpu()[kept].tolist()
        tokens = labelled(tokenizer, own)
        words, offsets = spans_of_ids(text_tokenizer(tokenizer), own, tokens.special)
        tokens = replace(tokens, words=words, offsets=_following(offsets, asked))
        if asked is None or asked.text is not None:
            tokens = _in_text(
                tokenizer, own, tokens, begin, asked or Tokens(("",) * begin, text="")
            )
    return replace(tokens, generated=begin)


def _in_text(tokenizer: Any, ids: list[int], tokens: Tokens, begin: int, asked: Tokens) -> Tokens:
    """Tokens with the text of a prompt and its answer, and the places of all of them in it."""
    before = asked.text or ""
    added = texts(tokenizer, ids[begin:])
    ends = list(accumulate(map(len, added), initial=len(before)))
    places = [(start, end) if end > start else None for start, end in pairwise(ends)]
    own = asked.offsets or (None,) * begin
    pieces = asked.pieces
    if pieces and len(tokens) > begin:
        last = pieces[-1]
        message = last.message
        if last.role != "assistant":  # a template may write nothing before an answer
            message = 1 + max(piece.message or 0 for piece in pieces)
        pieces += (Piece(begin, len(tokens), "assistant", message, False),)
    return replace(tokens, offsets=(*own, *places), text=before + "".join(added), pieces=pieces)


def _following(offsets: Offsets, asked: Tokens | None) -> Offsets:
    """Offsets in the text of a prompt and what follows it; None if the prompt's own are others."""
    if offsets is None or asked is None or asked.offsets is None:
        return offsets
    shifts = {
        there[side] - here[side]
        for there, here in zip(asked.offsets, offsets, strict=False)
        if there and here
        for side in (0, 1)
    }
    if len(shifts) > 1:
        return None
    shift = min(shifts, default=0)
    return tuple(each and (each[0] + shift, each[1] + shift) for each in offsets)
